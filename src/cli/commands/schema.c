/*
 * schema: the JSON Schema of what a command prints with -o json.
 *
 * What a command prints is a message of the API, so its schema is made of the
 * same description as its output.
 */
#include "armada/binoculars.pb-c.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "wire/json/json.h"

/* How a command prints its messages. */
enum shape { SHAPE_ONE, SHAPE_LIST, SHAPE_KEY /* a list under a key */ };

struct row {
    const char *command;
    enum shape shape;
    const char *key;
    const ProtobufCMessageDescriptor *type;
    const char *text; /* the schema itself, of what is no message */
};

#define ONE(command, type)                                  \
    {                                                       \
        command, SHAPE_ONE, NULL, &type##__descriptor, NULL \
    }
#define LIST(command, type)                                  \
    {                                                        \
        command, SHAPE_LIST, NULL, &type##__descriptor, NULL \
    }
#define KEY(command, key, type)                            \
    {                                                      \
        command, SHAPE_KEY, key, &type##__descriptor, NULL \
    }

static const char wait_text[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"succeeded\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
    "\"failed\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
    "\"waiting\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}},"
    "\"required\": [\"succeeded\", \"failed\", \"waiting\"]}";

static const char version_text[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"version\": {\"type\": \"string\"}}, \"required\": [\"version\"]}";

static const struct row rows[] = {
    LIST("get apps", berth__api__application),
    ONE("get executors", berth__api__list_executors_response),
    ONE("get files", berth__api__list_job_files_response),
    ONE("get job-report", schedulerobjects__job_report),
    LIST("get jobs", berth__api__job_summary),
    LIST("get jobsets", berth__api__job_set_status),
    ONE("get maintenance-windows",
        berth__api__list_maintenance_windows_response),
    LIST("get nodes", berth__api__node_status),
    ONE("get periodic-jobs", berth__api__list_periodic_jobs_response),
    ONE("get permissions", berth__api__get_permissions_response),
    ONE("get objects", berth__api__list_job_objects_response),
    KEY("get podgroups", "podGroups", berth__api__pod_group_status),
    ONE("get pools", berth__api__list_pools_response),
    ONE("get queue", api__queue),
    ONE("get queue-report", schedulerobjects__queue_report),
    LIST("get queues", api__queue),
    ONE("get retry-policies", api__retry_policy_list),
    ONE("get retry-policy", api__retry_policy),
    ONE("get scheduling-report", schedulerobjects__scheduling_report),
    ONE("get shares", berth__api__get_queue_shares_response),
    KEY("get trainingjobs", "trainingJobs", berth__api__training_job_status),
    ONE("logs", binoculars__log_response),
    LIST("report jobs", berth__api__job_summary),
    LIST("report usage", berth__api__usage),
    ONE("submit", api__job_submit_response),
    {"version", SHAPE_ONE, NULL, NULL, version_text},
    {"wait", SHAPE_ONE, NULL, NULL, wait_text},
    ONE("what-if", berth__api__what_if_response),
    ONE("whoami", berth__api__get_permissions_response),
};

static json_t *make_schema(const struct row *row)
{
    if (row->text) {
        return json_loads(row->text, 0, NULL);
    }
    json_t *defs = json_object();
    json_t *schema = wire_json_schema(row->type, defs);
    if (row->shape != SHAPE_ONE) {
        schema = json_pack("{s:s, s:o}", "type", "array", "items", schema);
    }
    if (row->shape == SHAPE_KEY) {
        schema =
            json_pack("{s:s, s:{s:o}, s:[s]}", "type", "object", "properties",
                      row->key, schema, "required", row->key);
    }
    json_object_set_new(schema, "$defs", defs);
    return schema;
}

/* The words of a command as one text. */
static const char *join(struct cli *cli)
{
    const char *name = cli_argument(cli, 0);

    for (int i = 1; i < cli->argument_count; i++) {
        name = cli_format(cli, "%s %s", name, cli_argument(cli, i));
    }
    return name;
}

static void list_commands(const struct cli *cli)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        cli_say(cli, "%s", rows[i].command);
    }
}

enum cli_exit cmd_schema(struct cli *cli)
{
    if (cli->argument_count == 0) {
        list_commands(cli);
        return CLI_OK;
    }
    const char *name = join(cli);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (strcmp(rows[i].command, name) == 0) {
            json_t *schema = make_schema(&rows[i]);
            ASSERT(schema);
            json_object_set_new(
                schema, "$schema",
                json_string("https://json-schema.org/draft/2020-12/schema"));
            json_object_set_new(schema, "title",
                                json_sprintf("berthctl %s -o json", name));
            if (cli->output == CLI_OUTPUT_TEXT) {
                cli->output = CLI_OUTPUT_JSON;
            }
            cli_print_json(cli, schema);
            return CLI_OK;
        }
    }
    return cli_fail(cli, CLI_NOT_FOUND,
                    "no schema of \"%s\"; berthctl schema lists the commands "
                    "that have one",
                    name);
}
