/* get objects: what belongs to a job in its cluster. */
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"

static const char *state_text(Berth__Api__JobObject__State state)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
        &berth__api__job_object__state__descriptor, (int)state);

    return value ? value->name : "UNKNOWN";
}

static const char *changed_text(struct cli *cli, int64_t changed_ms)
{
    Google__Protobuf__Timestamp stamp = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    stamp.seconds = changed_ms / 1000;
    return changed_ms > 0 ? cli_when(cli, &stamp) : "-";
}

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__JobObject *object)
{
    bool is_refused = *object->message != '\0';

    table_add(table, object->kind);
    table_add(table, object->name);
    table_add(table, state_text(object->state));
    table_add(table, *object->executor ? object->executor : "-");
    table_add(table, changed_text(cli, object->changed_ms));
    table_add(table, is_refused ? object->message : "-");
}

enum cli_exit cmd_get_objects(struct cli *cli)
{
    static const char *const headings[] = {"KIND",     "NAME",    "STATE",
                                           "EXECUTOR", "CHANGED", "MESSAGE"};
    Berth__Api__ListJobObjectsRequest request =
        BERTH__API__LIST_JOB_OBJECTS_REQUEST__INIT;
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};
    ProtobufCMessage *reply;

    request.job_id = cli_argument(cli, 0);
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListJobObjects", &request.base,
                 &berth__api__list_job_objects_response__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    const Berth__Api__ListJobObjectsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_objects; i++) {
        add_row(cli, &table, response->objects[i]);
    }
    cli_print_table(cli, &table);
    return CLI_OK;
}
