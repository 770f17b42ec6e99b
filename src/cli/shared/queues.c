#include "cli/shared/queues.h"

#include "wire/kube/kube_name.h"

enum cli_exit queues_filter(struct cli *cli, const char *label_option,
                            struct queue_filter *ret_filter)
{
    struct queue_filter filter = {
        .names = cli->arguments,
        .name_count = (size_t)cli->argument_count,
        .labels = cli_list(cli, label_option),
    };

    for (size_t i = 0; i < filter.labels.count; i++) {
        if (!strchr(filter.labels.items[i], '=')) {
            return cli_fail(cli, CLI_USAGE,
                            "--%s takes KEY=VALUE,..., not \"%s\"",
                            label_option, filter.labels.items[i]);
        }
    }
    filter.is_inverse = cli_has(cli, "inverse");
    *ret_filter = filter;
    return CLI_OK;
}

static bool has_label(const Api__Queue *queue, const char *label)
{
    size_t key_bytes = strcspn(label, "=");

    for (size_t i = 0; i < queue->n_labels; i++) {
        const Api__Queue__LabelsEntry *entry = queue->labels[i];
        if (strlen(entry->key) == key_bytes &&
            memcmp(entry->key, label, key_bytes) == 0 &&
            strcmp(entry->value, label + key_bytes + 1) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_named(const struct queue_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->name_count; i++) {
        if (strcmp(filter->names[i], name) == 0) {
            return true;
        }
    }
    return filter->name_count == 0;
}

static bool matches(const struct queue_filter *filter, const Api__Queue *queue)
{
    bool is_match = is_named(filter, queue->name);

    for (size_t i = 0; i < filter->labels.count; i++) {
        is_match = is_match && has_label(queue, filter->labels.items[i]);
    }
    if (filter->is_inverse) {
        is_match = !is_match;
    }
    return is_match && (queue->cordoned || !filter->is_only_cordoned);
}

static enum cli_exit stream_failed(struct cli *cli, struct rpc_stream *stream)
{
    const struct rpc_status *status = rpc_stream_status(stream);

    if (status->code == RPC_OK) {
        return cli_fail(cli, CLI_FAILED,
                        "the server ended the list of queues too early");
    }
    return cli_fail_call(cli, status);
}

/* Read the stream up to its end message. */
static enum cli_exit read_queues(struct cli *cli, struct rpc_stream *stream,
                                 const struct queue_filter *filter,
                                 struct queue_list *list)
{
    VEC(Api__Queue *) queues = {0};
    auto_strbuf bytes = {0};
    bool is_ended = false;
    struct err err;

    while (!is_ended && rpc_stream_next(stream, -1, &bytes) == RPC_WAIT_READY) {
        ProtobufCMessage *message;
        struct str copy = arena_str(&cli->arena, strbuf_str(&bytes));
        if (wire_decode(&api__streaming_queue_message__descriptor, copy,
                        &wire_request_limits, &cli->arena, &message,
                        &err) < 0) {
            VEC_FREE(&queues);
            return cli_fail(cli, CLI_FAILED, "%s", err.text);
        }
        Api__StreamingQueueMessage *item = (void *)message;
        is_ended = item->event_case == API__STREAMING_QUEUE_MESSAGE__EVENT_END;
        if (item->event_case == API__STREAMING_QUEUE_MESSAGE__EVENT_QUEUE &&
            matches(filter, item->queue)) {
            VEC_PUSH(&queues, item->queue);
        }
    }
    list->count = queues.count;
    list->items =
        arena_alloc_array(&cli->arena, queues.count, sizeof(*list->items));
    memcpy(list->items, queues.items ? queues.items : list->items,
           queues.count * sizeof(*list->items));
    VEC_FREE(&queues);
    return is_ended ? CLI_OK : stream_failed(cli, stream);
}

static enum cli_exit check_named(struct cli *cli,
                                 const struct queue_filter *filter,
                                 const struct queue_list *list)
{
    for (size_t n = 0; !filter->is_inverse && n < filter->name_count; n++) {
        bool is_there = filter->is_only_cordoned || filter->labels.count > 0;
        for (size_t i = 0; i < list->count; i++) {
            is_there |= strcmp(list->items[i]->name, filter->names[n]) == 0;
        }
        if (!is_there) {
            return cli_fail(cli, CLI_NOT_FOUND, "there is no queue %s",
                            filter->names[n]);
        }
    }
    return CLI_OK;
}

enum cli_exit queues_get(struct cli *cli, const struct queue_filter *filter,
                         struct queue_list *ret_list)
{
    Api__StreamingQueueGetRequest request =
        API__STREAMING_QUEUE_GET_REQUEST__INIT;
    auto_strbuf bytes = {0};

    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    struct rpc_call_options options = cli_call_options(cli);
    auto_ptr(rpc_stream) stream =
        rpc_stream_open(cli->channel, "/api.Submit/GetQueues", &options);
    wire_encode(&request.base, &bytes);
    (void)rpc_stream_send(stream, strbuf_str(&bytes), -1);
    rpc_stream_close_send(stream);
    rc = read_queues(cli, stream, filter, ret_list);
    return rc == CLI_OK ? check_named(cli, filter, ret_list) : rc;
}

/* Whether `entry` is what the server makes of owners: all verbs, in order. */
static bool is_of_owners(const Api__Queue__Permissions *entry)
{
    static const char *const verbs[] = {"submit", "cancel", "preempt",
                                        "reprioritize", "watch"};

    if (entry->n_verbs != ARRAY_COUNT(verbs)) {
        return false;
    }
    for (size_t i = 0; i < entry->n_verbs; i++) {
        if (strcmp(entry->verbs[i], verbs[i]) != 0) {
            return false;
        }
    }
    return true;
}

void queues_restore_owners(struct cli *cli, Api__Queue *queue)
{
    if (queue->n_permissions == 0 || !is_of_owners(queue->permissions[0])) {
        return;
    }
    const Api__Queue__Permissions *entry = queue->permissions[0];
    queue->user_owners =
        arena_alloc_array(&cli->arena, entry->n_subjects, sizeof(char *));
    queue->group_owners =
        arena_alloc_array(&cli->arena, entry->n_subjects, sizeof(char *));
    for (size_t i = 0; i < entry->n_subjects; i++) {
        const Api__Queue__Permissions__Subject *subject = entry->subjects[i];
        if (strcmp(subject->kind, "Group") == 0) {
            queue->group_owners[queue->n_group_owners++] = subject->name;
        } else {
            queue->user_owners[queue->n_user_owners++] = subject->name;
        }
    }
    queue->permissions++;
    queue->n_permissions--;
}

enum cli_exit queue_check_name(struct cli *cli, const char *name)
{
    if (*name == '.' || *name == '-' || strchr(name, '/')) {
        return cli_fail(cli, CLI_INVALID,
                        "queue name \"%s\": must not begin with a dot or a "
                        "dash, nor contain a slash",
                        name);
    }
    if (*name && !kube_is_label_value(str_of(name))) {
        cli_remark(cli,
                   "queue name \"%s\": executors with the runtime kubernetes "
                   "will refuse its jobs; for them it must have at most %d "
                   "letters, digits, '-', '_' and '.', and begin and end with "
                   "a letter or digit",
                   name, KUBE_LABEL_BYTES_MAX);
    }
    return CLI_OK;
}
