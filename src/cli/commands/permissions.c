/* Who may call what, as the server's table has it. */
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

enum cli_exit cmd_get_permissions(struct cli *cli)
{
    static const char *const headings[] = {"METHOD", "PERMISSION", "VERB",
                                           "SCOPE",  "GROUPS",     "ALLOWED"};
    Berth__Api__GetPermissionsRequest request =
        BERTH__API__GET_PERMISSIONS_REQUEST__INIT;
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL};
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/GetPermissions", &request.base,
                 &berth__api__get_permissions_response__descriptor, &reply);
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
