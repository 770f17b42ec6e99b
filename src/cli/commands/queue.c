/* Creates, updates, deletes, gets and cordons queues. */
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/queue_options.h"
#include "cli/shared/queues.h"

/* A home that is none is taken, and told of. */
static void check_home(struct cli *cli, const Api__Queue *queue)
{
    if (queue->scheduling && *queue->scheduling->default_pool) {
        check_pools(cli, &queue->scheduling->default_pool, 1,
                    "its jobs are at home in the default pool");
    }
}

enum cli_exit queue_create(struct cli *cli, const Api__Queue *queue)
{
    enum cli_exit checked = queue_check_name(cli, queue->name);
    if (checked != CLI_OK) {
        return checked;
    }
    bool is_replaced = check_has_queue(cli, queue->name);
    enum cli_exit rc =
        cli_call_empty(cli, "/api.Submit/CreateQueue", &queue->base);

    if (rc == CLI_OK) {
        cli_note(cli, "%s queue %s", is_replaced ? "Replaced" : "Created",
                 queue->name);
        check_home(cli, queue);
    }
    return rc;
}

enum cli_exit cmd_create_queue(struct cli *cli)
{
    Api__Queue queue;

    enum cli_exit rc = queue_options_read(cli, &queue);
    return rc == CLI_OK ? queue_create(cli, &queue) : rc;
}

/* Get the queue to change, which must be there. */
static enum cli_exit read_queue(struct cli *cli, Api__Queue **ret_queue)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    Api__QueueGetRequest request = API__QUEUE_GET_REQUEST__INIT;
    ProtobufCMessage *reply;

    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    request.name = cli_argument(cli, 0);
    enum rpc_code code = cli_try(cli, "/api.Submit/GetQueue", &request.base,
                                 &api__queue__descriptor, &reply, status);
    if (code == RPC_NOT_FOUND) {
        return cli_fail(
            cli, CLI_NOT_FOUND,
            "there is no queue %s to update; create queue creates one",
            request.name);
    }
    if (code != RPC_OK) {
        return cli_fail_call(cli, status);
    }
    *ret_queue = (void *)reply;
    return CLI_OK;
}

enum cli_exit cmd_update_queue(struct cli *cli)
{
    Api__Queue scratch, *queue = NULL;
    auto_strbuf before = {0}, after = {0};

    /* Options that make no sense are told before the server is asked. */
    enum cli_exit rc = queue_options_read(cli, &scratch);
    if (rc == CLI_OK) {
        rc = read_queue(cli, &queue);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    /* UpdateQueue replaces all that a queue is.  Somebody else's change
     * between the two calls is lost: the API has no versions. */
    wire_encode(&queue->base, &before);
    rc = queue_options_apply(cli, queue);
    if (rc != CLI_OK) {
        return rc;
    }
    wire_encode(&queue->base, &after);
    if (str_equal(strbuf_str(&before), strbuf_str(&after))) {
        cli_note(cli, "Unchanged queue %s", queue->name);
        return CLI_OK;
    }
    rc = cli_call_empty(cli, "/api.Submit/UpdateQueue", &queue->base);
    if (rc == CLI_OK) {
        cli_note(cli, "Updated queue %s", queue->name);
    }
    if (rc == CLI_OK && cli_is_given(cli, "default-pool")) {
        check_home(cli, queue);
    }
    return rc;
}

enum cli_exit cmd_delete_queue(struct cli *cli)
{
    Api__QueueDeleteRequest request = API__QUEUE_DELETE_REQUEST__INIT;

    request.name = cli_argument(cli, 0);
    enum cli_exit is_there = check_queue(cli, request.name);
    enum cli_exit rc =
        cli_call_empty(cli, "/api.Submit/DeleteQueue", &request.base);
    if (rc == CLI_OK && is_there == CLI_OK) {
        cli_note(cli, "Deleted queue %s (or it did not exist)", request.name);
        check_left_jobs(cli, request.name);
    }
    return rc == CLI_OK ? is_there : rc;
}

/* The two lines that make the output a file for `create -f`. */
static void print_kind(struct cli *cli, const char *kind)
{
    if (cli->output == CLI_OUTPUT_TEXT) {
        cli_say(cli, "apiVersion: armadaproject.io/v1beta1");
        cli_say(cli, "kind: %s", kind);
    }
}

enum cli_exit cmd_get_queue(struct cli *cli)
{
    Api__QueueGetRequest request = API__QUEUE_GET_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = cli_argument(cli, 0);
    enum cli_exit rc = cli_call(cli, "/api.Submit/GetQueue", &request.base,
                                &api__queue__descriptor, &reply);
    if (rc == CLI_OK) {
        print_kind(cli, "Queue");
        cli_print_json(cli, wire_json_write(reply, 0));
    }
    return rc;
}

enum cli_exit cmd_get_queues(struct cli *cli)
{
    struct queue_filter filter;
    struct queue_list list;

    enum cli_exit rc = queues_filter(cli, "match-labels", &filter);
    if (rc != CLI_OK) {
        return rc;
    }
    filter.is_only_cordoned = cli_has(cli, "only-cordoned");
    rc = queues_get(cli, &filter, &list);
    if (rc != CLI_OK) {
        return rc;
    }
    json_t *queues = json_array();
    for (size_t i = 0; i < list.count; i++) {
        (void)json_array_append_new(queues,
                                    wire_json_write(&list.items[i]->base, 0));
    }
    print_kind(cli, "Queue");
    cli_print_json(cli, queues);
    return CLI_OK;
}

static enum cli_exit set_cordon(struct cli *cli, bool is_cordoned)
{
    struct queue_filter filter;
    struct queue_list list;

    enum cli_exit rc = queues_filter(cli, "match-labels", &filter);
    if (rc == CLI_OK) {
        rc = queues_get(cli, &filter, &list);
    }
    for (size_t i = 0; rc == CLI_OK && i < list.count; i++) {
        /* Both requests are one name at number 1. */
        Api__QueueCordonRequest request = API__QUEUE_CORDON_REQUEST__INIT;
        request.name = list.items[i]->name;
        if (!cli_has(cli, "dry-run")) {
            rc = cli_call_empty(cli,
                                is_cordoned ? "/api.QueueService/CordonQueue"
                                            : "/api.QueueService/UncordonQueue",
                                &request.base);
        }
        if (rc == CLI_OK) {
            cli_note(cli, "%s queue %s",
                     is_cordoned ? "Cordoned" : "Uncordoned", request.name);
        }
    }
    return rc;
}

enum cli_exit cmd_cordon_queues(struct cli *cli)
{
    return set_cordon(cli, true);
}

enum cli_exit cmd_uncordon_queues(struct cli *cli)
{
    return set_cordon(cli, false);
}
