/*
 * create, update, delete, get and cordon of queues.
 */
#include <inttypes.h>

#include "cli/check.h"
#include "cli/queues.h"
#include "wire/settings.h"

/* The labels of --labels, each key=value, in place of those it had. */
static enum cli_exit take_labels(struct cli *cli, Api__Queue *queue)
{
    struct cli_names labels = cli_list(cli, "labels");

    queue->n_labels = 0;
    queue->labels =
        arena_alloc_array(&cli->arena, labels.count, sizeof(*queue->labels));
    for (size_t i = 0; i < labels.count; i++) {
        Api__Queue__LabelsEntry *entry =
            arena_alloc(&cli->arena, sizeof(*entry));
        char *equals = strchr(labels.items[i], '=');
        if (!equals) {
            return cli_fail(cli, CLI_USAGE, "\"%s\" is not key=value",
                            labels.items[i]);
        }
        *equals = '\0';
        api__queue__labels_entry__init(entry);
        entry->key = labels.items[i];
        entry->value = equals + 1;
        queue->labels[queue->n_labels++] = entry;
    }
    return CLI_OK;
}

/* A limit of an option, NULL without it. */
static enum cli_exit take_limit(struct cli *cli, const char *option,
                                Google__Protobuf__DoubleValue **ret_limit)
{
    const char *text = cli_text(cli, option, "");
    int64_t ppm;

    *ret_limit = NULL;
    if (!*text) {
        return CLI_OK;
    }
    if (setting_parse_ppm(str_of(text), &ppm) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "--%s must be a decimal number such as 0.5, not \"%s\"",
                        option, text);
    }
    *ret_limit = arena_alloc(&cli->arena, sizeof(**ret_limit));
    google__protobuf__double_value__init(*ret_limit);
    (*ret_limit)->value = (double)ppm / 1e6;
    return CLI_OK;
}

/* The limits that options name; those not named stay. */
static enum cli_exit take_limits(struct cli *cli, Api__QueueScheduling *ret)
{
    enum cli_exit rc = CLI_OK;

    if (cli_has(cli, "over-share-factor")) {
        rc = take_limit(cli, "over-share-factor", &ret->over_share_factor);
    }
    if (rc == CLI_OK && cli_has(cli, "excess-budget")) {
        rc = take_limit(cli, "excess-budget", &ret->excess_budget);
    }
    return rc;
}

/* The quota of --quota, each resource=amount, in place of what there was. */
static enum cli_exit take_quota(struct cli *cli, Api__QueueScheduling *ret)
{
    struct cli_names items = cli_list(cli, "quota");

    ret->n_quota = 0;
    ret->quota =
        arena_alloc_array(&cli->arena, items.count, sizeof(*ret->quota));
    for (size_t i = 0; i < items.count; i++) {
        Api__QueueScheduling__QuotaEntry *entry =
            arena_alloc(&cli->arena, sizeof(*entry));
        char *equals = strchr(items.items[i], '=');
        if (!equals) {
            return cli_fail(cli, CLI_USAGE, "\"%s\" is not resource=amount",
                            items.items[i]);
        }
        *equals = '\0';
        for (size_t j = 0; j < ret->n_quota; j++) {
            if (strcmp(ret->quota[j]->key, items.items[i]) == 0) {
                return cli_fail(cli, CLI_USAGE, "--quota names %s twice",
                                items.items[i]);
            }
        }
        api__queue_scheduling__quota_entry__init(entry);
        entry->key = items.items[i];
        entry->value = equals + 1;
        ret->quota[ret->n_quota++] = entry;
    }
    return CLI_OK;
}

static bool is_default(const Api__QueueScheduling *scheduling)
{
    return !*scheduling->ordering && !*scheduling->default_pool &&
           !scheduling->class_priority_ignored &&
           !scheduling->allow_stateaware_disable &&
           scheduling->max_running_apps == 0 &&
           !scheduling->over_share_factor && !scheduling->excess_budget &&
           scheduling->n_quota == 0;
}

static enum cli_exit take_scheduling(struct cli *cli, Api__Queue *queue)
{
    Api__QueueScheduling *scheduling = queue->scheduling;
    const char *apps = cli_text(cli, "max-running-apps", "0");
    char *end;

    if (!scheduling) {
        scheduling = arena_alloc(&cli->arena, sizeof(*scheduling));
        api__queue_scheduling__init(scheduling);
    }
    unsigned long apps_max = strtoul(apps, &end, 10);
    if (*apps < '0' || *apps > '9' || *end || apps_max > UINT32_MAX) {
        return cli_fail(cli, CLI_USAGE,
                        "--max-running-apps must be a whole number from 0 to "
                        "%" PRIu32 ", not \"%s\"",
                        UINT32_MAX, apps);
    }
    if (cli_has(cli, "max-running-apps")) {
        scheduling->max_running_apps = (uint32_t)apps_max;
    }
    if (cli_is_given(cli, "default-pool")) {
        scheduling->default_pool =
            cli_format(cli, "%s", cli_text(cli, "default-pool", ""));
    }
    if (cli_has(cli, "ordering")) {
        scheduling->ordering =
            cli_format(cli, "%s", cli_text(cli, "ordering", ""));
    }
    enum cli_exit rc = cli_switch(cli, "ignore-class-priority",
                                  &scheduling->class_priority_ignored);
    if (rc == CLI_OK) {
        rc = cli_switch(cli, "allow-stateaware-disable",
                        &scheduling->allow_stateaware_disable);
    }
    if (rc == CLI_OK) {
        rc = take_limits(cli, scheduling);
    }
    if (rc == CLI_OK && cli_is_given(cli, "quota")) {
        rc = take_quota(cli, scheduling);
    }
    queue->scheduling = is_default(scheduling) ? NULL : scheduling;
    return rc;
}

static void take_owners(struct cli *cli, Api__Queue *queue)
{
    if (!cli_is_given(cli, "owners") && !cli_is_given(cli, "group-owners")) {
        return;
    }
    queues_restore_owners(cli, queue);
    if (cli_is_given(cli, "owners")) {
        struct cli_names owners = cli_list(cli, "owners");
        queue->user_owners = owners.items;
        queue->n_user_owners = owners.count;
    }
    if (cli_is_given(cli, "group-owners")) {
        struct cli_names groups = cli_list(cli, "group-owners");
        queue->group_owners = groups.items;
        queue->n_group_owners = groups.count;
    }
}

/* Change of the queue what options name, and nothing else. */
static enum cli_exit apply_options(struct cli *cli, Api__Queue *queue)
{
    const char *factor = cli_text(cli, "priority-factor", "1");
    int64_t ppm;

    if (setting_parse_ppm(str_of(factor), &ppm) < 0) {
        return cli_fail(cli, CLI_USAGE, "\"%s\" is not a priority factor",
                        factor);
    }
    if (cli_has(cli, "priority-factor")) {
        queue->priority_factor = (double)ppm / 1e6;
    }
    take_owners(cli, queue);
    if (cli_is_given(cli, "retry-policies")) {
        struct cli_names policies = cli_list(cli, "retry-policies");
        queue->retry_policies = policies.items;
        queue->n_retry_policies = policies.count;
    }
    enum cli_exit rc = cli_switch(cli, "cordon", &queue->cordoned);
    if (rc == CLI_OK && cli_is_given(cli, "labels")) {
        rc = take_labels(cli, queue);
    }
    return rc == CLI_OK ? take_scheduling(cli, queue) : rc;
}

/* The queue that arguments and options describe. */
static enum cli_exit queue_of_options(struct cli *cli, Api__Queue *ret_queue)
{
    api__queue__init(ret_queue);
    ret_queue->name = cli_argument(cli, 0);
    ret_queue->priority_factor = 1;
    return apply_options(cli, ret_queue);
}

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

    enum cli_exit rc = queue_of_options(cli, &queue);
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
        return cli_fail(cli, CLI_NOT_FOUND,
                        "there is no queue %s to update; create queue makes "
                        "one",
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
    enum cli_exit rc = queue_of_options(cli, &scratch);
    if (rc == CLI_OK) {
        rc = read_queue(cli, &queue);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    /* UpdateQueue replaces all that a queue is.  Somebody else's change
     * between the two calls is lost: the API has no versions. */
    wire_encode(&queue->base, &before);
    rc = apply_options(cli, queue);
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
        cli_say(cli, "apiVersion: armadaproject.io/v1beta1\nkind: %s", kind);
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
