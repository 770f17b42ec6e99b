/* Creates, updates, deletes and gets retry policies. */
#include "armada/services.pb-c.h"
#include "cli/commands/commands.h"

static enum cli_exit put_policy(struct cli *cli, const char *method,
                                const char *done)
{
    auto_json_t *document = NULL;
    ProtobufCMessage *message;
    struct err err;

    if (!cli_has(cli, "file")) {
        return cli_fail(cli, CLI_USAGE, "%s needs -f FILE", cli->command->path);
    }
    enum cli_exit rc =
        cli_read_document(cli, cli_text(cli, "file", NULL), &document);
    if (rc != CLI_OK) {
        return rc;
    }
    if (wire_json_read(&api__retry_policy__descriptor, document, 0, &cli->arena,
                       &message, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    rc = cli_call_empty(cli, method, message);
    if (rc == CLI_OK) {
        cli_note(cli, "%s retry policy %s", done,
                 ((Api__RetryPolicy *)(void *)message)->name);
    }
    return rc;
}

enum cli_exit cmd_create_retry_policy(struct cli *cli)
{
    return put_policy(cli, "/api.RetryPolicyService/CreateRetryPolicy",
                      "Created");
}

enum cli_exit cmd_update_retry_policy(struct cli *cli)
{
    return put_policy(cli, "/api.RetryPolicyService/UpdateRetryPolicy",
                      "Updated");
}

enum cli_exit cmd_delete_retry_policy(struct cli *cli)
{
    Api__RetryPolicyDeleteRequest request =
        API__RETRY_POLICY_DELETE_REQUEST__INIT;
    Api__RetryPolicyGetRequest question = API__RETRY_POLICY_GET_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = question.name = cli_argument(cli, 0);
    /* Deleting is blind: this one says when there is none. */
    enum cli_exit rc =
        cli_call(cli, "/api.RetryPolicyService/GetRetryPolicy", &question.base,
                 &api__retry_policy__descriptor, &reply);
    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, "/api.RetryPolicyService/DeleteRetryPolicy",
                            &request.base);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Deleted retry policy %s", request.name);
    }
    return rc;
}

static enum cli_exit get_policies(struct cli *cli, const char *method,
                                  const ProtobufCMessage *request,
                                  const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *reply;

    enum cli_exit rc = cli_call(cli, method, request, type, &reply);
    if (rc == CLI_OK) {
        if (cli->output == CLI_OUTPUT_TEXT) {
            cli_say(cli, "apiVersion: armadaproject.io/v1beta1");
            cli_say(cli, "kind: RetryPolicy");
        }
        cli_print_json(cli, wire_json_write(reply, 0));
    }
    return rc;
}

enum cli_exit cmd_get_retry_policy(struct cli *cli)
{
    Api__RetryPolicyGetRequest request = API__RETRY_POLICY_GET_REQUEST__INIT;

    request.name = cli_argument(cli, 0);
    return get_policies(cli, "/api.RetryPolicyService/GetRetryPolicy",
                        &request.base, &api__retry_policy__descriptor);
}

enum cli_exit cmd_get_retry_policies(struct cli *cli)
{
    Api__RetryPolicyListRequest request = API__RETRY_POLICY_LIST_REQUEST__INIT;

    return get_policies(cli, "/api.RetryPolicyService/GetRetryPolicies",
                        &request.base, &api__retry_policy_list__descriptor);
}
