/* create -f: creates queues, retry policies and pools from a file. */
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/pool_table.h"
#include "cli/shared/queues.h"

/* `create -f` passes over keys that it does not know, as armadactl does: say
 * so of the first, since most are mistakes. */
static void remark_key(struct cli *cli, const ProtobufCMessageDescriptor *type,
                       const json_t *document)
{
    static const char what[] = ": unknown key";
    auto_json_t *said = json_copy((json_t *)(uintptr_t)document);
    ProtobufCMessage *message;
    struct err err;

    (void)json_object_del(said, "apiVersion");
    (void)json_object_del(said, "kind");
    if (wire_json_read(type, said, WIRE_JSON_STRICT, &cli->arena, &message,
                       &err) < 0 &&
        strstr(err.text, what)) {
        cli_remark(cli, "%s, ignored", err.text);
    }
}

/* Make a queue from a document that says kind: Queue. */
static enum cli_exit create_queue_of(struct cli *cli, const json_t *document)
{
    ProtobufCMessage *message;
    struct err err;

    if (wire_json_read(&api__queue__descriptor, document, 0, &cli->arena,
                       &message, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    remark_key(cli, &api__queue__descriptor, document);
    Api__Queue *queue = (void *)message;
    if (!json_object_get(document, "priorityFactor")) {
        queue->priority_factor = 1;
    }
    if (!cli_has(cli, "dry-run")) {
        return queue_create(cli, queue);
    }
    if (queue_check_name(cli, queue->name) != CLI_OK) {
        return CLI_INVALID;
    }
    cli_note(cli, "Created queue %s", queue->name);
    return CLI_OK;
}

static enum cli_exit create_policy_of(struct cli *cli, const json_t *document)
{
    ProtobufCMessage *message;
    struct err err;

    if (wire_json_read(&api__retry_policy__descriptor, document, 0, &cli->arena,
                       &message, &err) < 0) {
        return cli_fail(cli, CLI_INVALID, "%s", err.text);
    }
    remark_key(cli, &api__retry_policy__descriptor, document);
    enum cli_exit rc = CLI_OK;
    if (!cli_has(cli, "dry-run")) {
        rc = cli_call_empty(cli, "/api.RetryPolicyService/CreateRetryPolicy",
                            message);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Created retry policy %s",
                 ((Api__RetryPolicy *)(void *)message)->name);
    }
    return rc;
}

static enum cli_exit create_of(struct cli *cli, const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "kind"));

    if (kind && strcmp(kind, "Pool") == 0) {
        return pool_create_of(cli, document, cli_has(cli, "dry-run"));
    }
    enum cli_exit rc = check_version(cli, document);
    if (rc != CLI_OK) {
        return rc;
    }
    if (kind && strcmp(kind, "Queue") == 0) {
        return create_queue_of(cli, document);
    }
    if (kind && strcmp(kind, "RetryPolicy") == 0) {
        return create_policy_of(cli, document);
    }
    return cli_fail(cli, CLI_INVALID,
                    "kind must be Queue, RetryPolicy or Pool");
}

enum cli_exit cmd_create(struct cli *cli)
{
    return cli_has(cli, "file")
               ? cli_each_document(cli, cli_text(cli, "file", NULL), create_of)
               : cli_fail(cli, CLI_USAGE, "create needs -f FILE");
}
