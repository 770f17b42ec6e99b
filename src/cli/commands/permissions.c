/* get permissions, whoami and auth can-i, by the server's table. */
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"

/* What the caller may do of it. */
static const char *allowed_text(const Berth__Api__MethodPermission *method)
{
    if (method->allowed) {
        return "yes";
    }
    return *method->verb ? "by queue" : "no";
}

static void add_method(struct table *table,
                       const Berth__Api__MethodPermission *method)
{
    auto_strbuf groups = {0};

    for (size_t i = 0; i < method->n_groups; i++) {
        strbuf_addf(&groups, "%s%s", i ? "," : "", method->groups[i]);
    }
    table_add(table, method->method);
    table_add(table, *method->permission ? method->permission : "-");
    table_add(table, *method->verb ? method->verb : "-");
    table_add(table, method->scope);
    table_addf(table, "%.*s",
               STR_ARG(groups.byte_count ? strbuf_str(&groups) : STR("-")));
    table_add(table, allowed_text(method));
}

/* Ask who the caller is and what it may do, on `queue` ("": on none). */
static enum cli_exit ask(struct cli *cli, char *queue, ProtobufCMessage **reply)
{
    Berth__Api__GetPermissionsRequest request =
        BERTH__API__GET_PERMISSIONS_REQUEST__INIT;

    request.queue = queue;
    return cli_call(cli, "/berth.api.Berth/GetPermissions", &request.base,
                    &berth__api__get_permissions_response__descriptor, reply);
}

enum cli_exit cmd_get_permissions(struct cli *cli)
{
    static const char *const headings[] = {"METHOD", "PERMISSION", "VERB",
                                           "SCOPE",  "GROUPS",     "ALLOWED"};
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};
    ProtobufCMessage *reply;

    enum cli_exit rc = ask(cli, cli_format(cli, "%s", ""), &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    const Berth__Api__GetPermissionsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_methods; i++) {
        add_method(&table, response->methods[i]);
    }
    cli_print_table(cli, &table);
    return CLI_OK;
}

/* Whether an earlier row named the same permission. */
static bool was_named(const Berth__Api__GetPermissionsResponse *response,
                      size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (strcmp(response->methods[i]->permission,
                   response->methods[row]->permission) == 0) {
            return true;
        }
    }
    return false;
}

static void put_list(struct cli *cli, const char *name, char **texts,
                     size_t count)
{
    cli_put(cli->ports->out, "%s: ", name);
    for (size_t i = 0; i < count; i++) {
        cli_put(cli->ports->out, "%s%s", i ? ", " : "", texts[i]);
    }
    cli_put(cli->ports->out, "%s\n", count ? "" : "none");
}

enum cli_exit cmd_whoami(struct cli *cli)
{
    ProtobufCMessage *reply;

    enum cli_exit rc = ask(cli, cli_format(cli, "%s", ""), &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    Berth__Api__GetPermissionsResponse *response = (void *)reply;
    char **held =
        arena_alloc_array(&cli->arena, response->n_methods + 1, sizeof(*held));
    size_t count = 0;
    for (size_t i = 0; i < response->n_methods; i++) {
        const Berth__Api__MethodPermission *method = response->methods[i];
        if (*method->permission && method->allowed && !was_named(response, i)) {
            held[count++] = method->permission;
        }
    }
    size_t method_count = response->n_methods;
    response->n_methods = 0; /* they are get permissions' */
    bool is_printed = cli_print_message(cli, reply);
    response->n_methods = method_count;
    if (is_printed) {
        return CLI_OK;
    }
    cli_put(cli->ports->out, "User: %s%s\n", response->user,
            response->administrator ? " (administrator)" : "");
    put_list(cli, "Groups", response->groups, response->n_groups);
    put_list(cli, "Permissions", held, count);
    return CLI_OK;
}

/* What a verb, a permission or a method comes to. */
struct answer {
    bool is_known, is_allowed;
    const char *permission, *verb; /* that would do, or "" */
};

static struct answer find(const Berth__Api__GetPermissionsResponse *response,
                          const char *asked)
{
    struct answer answer = {.permission = "", .verb = ""};

    for (size_t i = 0; i < response->n_methods && !answer.is_known; i++) {
        const Berth__Api__MethodPermission *method = response->methods[i];
        bool is_verb = *asked && strcmp(method->verb, asked) == 0;
        bool is_permission = *asked && strcmp(method->permission, asked) == 0;
        if (is_verb || is_permission || strcmp(method->method, asked) == 0) {
            answer = (struct answer){true, method->allowed, method->permission,
                                     is_permission ? "" : method->verb};
        }
    }
    return answer;
}

static bool has_verb(const Berth__Api__GetPermissionsResponse *response,
                     const char *verb)
{
    for (size_t i = 0; i < response->n_queue_verbs; i++) {
        if (strcmp(response->queue_verbs[i], verb) == 0) {
            return true;
        }
    }
    return false;
}

/* Say what is missing, and who can grant it. */
static enum cli_exit say_no(struct cli *cli,
                            const Berth__Api__GetPermissionsResponse *response,
                            const struct answer *answer)
{
    FILE *out = cli->ports->out;

    cli_put(out, "no: %s lacks permission %s", response->user,
            answer->permission);
    if (*answer->verb) {
        cli_put(out, " or the verb %s on %s%s", answer->verb,
                cli->argument_count > 1 ? "queue " : "a queue",
                cli->argument_count > 1 ? cli_argument(cli, 1) : "");
    }
    cli_put(out, "\n");
    if (*answer->verb) {
        put_list(cli, "Groups that can grant the verb", response->granters,
                 response->n_granters);
    }
    cli_put(out,
            "The operator of the server can grant the permission: "
            "auth.permissionGroupMapping.%s\n",
            answer->permission);
    return CLI_DENIED;
}

enum cli_exit cmd_can_i(struct cli *cli)
{
    const char *asked = cli_argument(cli, 0);
    char *queue = cli->argument_count > 1 ? cli_argument(cli, 1)
                                          : cli_format(cli, "%s", "");
    ProtobufCMessage *reply;

    enum cli_exit rc = ask(cli, queue, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__GetPermissionsResponse *response = (void *)reply;
    struct answer answer = find(response, asked);
    if (!answer.is_known) {
        return cli_fail(cli, CLI_USAGE,
                        "%s: neither a verb (submit, cancel, preempt, "
                        "reprioritize, watch) nor a permission nor a method; "
                        "berthctl get permissions lists them",
                        asked);
    }
    if (answer.is_allowed || has_verb(response, answer.verb)) {
        cli_put(cli->ports->out, "yes\n");
        return CLI_OK;
    }
    return say_no(cli, response, &answer);
}
