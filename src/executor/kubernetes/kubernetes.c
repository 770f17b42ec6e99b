#include "executor/kubernetes/kubernetes.h"

#include "executor/files/attempt.h"
#include "executor/kubernetes/kubernetes_private.h"
#include "wire/kube/kube_name.h"

void kubernetes_options_default(struct kubernetes_options *ret_options)
{
    *ret_options = (struct kubernetes_options){
        .hostname_suffix = STR("svc"),
        .certificate_suffix = STR("ingress-tls-certificate"),
        .create_ms_max = KUBERNETES_CREATE_MS_MAX,
        .retention_ms = KUBERNETES_RETENTION_MS,
        .attempts_fd = -1};
}

static void list(struct runtime *runtime,
                 void (*each)(void *, const struct runtime_pod *), void *ctx)
{
    struct kubernetes *k = kubernetes_of(runtime);

    for (size_t i = 0; i < k->rows.count; i++) {
        const struct kube_row *row = &k->rows.items[i];
        if (row->is_used && !row->creation && !row->is_forgotten) {
            struct runtime_pod pod = kubernetes_pod_of(row);
            each(ctx, &pod);
        }
    }
}

/* The server passes over what it is told twice: see kubernetes.h. */
static void ack(struct runtime *runtime, struct run_id run,
                enum reconcile_phase phase)
{
    (void)runtime;
    (void)run;
    (void)phase;
}

/* No exchange before the first full list of both. */
static void note_listed(struct kubernetes *k)
{
    if (!k->is_listed && follow_stats(k->nodes_follow)->is_listed &&
        follow_stats(k->pods_follow)->is_listed) {
        k->is_listed = true;
        kubernetes_push(k, RUNTIME_LISTED, (struct run_id){{0, 0}});
    }
}

static void drive_follows(struct kubernetes *k)
{
    int64_t nodes_in_ms = follow_drive(k->nodes_follow);
    int64_t pods_in_ms = follow_drive(k->pods_follow);
    int64_t in_ms = nodes_in_ms < pods_in_ms ? nodes_in_ms : pods_in_ms;

    k->follow_ms = in_ms < INT64_MAX ? kubernetes_now_ms(k) + in_ms : INT64_MAX;
}

static uint32_t poll(struct runtime *runtime,
                     struct runtime_change *ret_changes, uint32_t change_max)
{
    struct kubernetes *k = kubernetes_of(runtime);

    k->port->drive(k->port);
    drive_follows(k);
    kubernetes_create_due(k);
    kubernetes_attach_due(k);
    kubernetes_remove_due(k);
    kubernetes_check_due(k);
    kubernetes_tell_usage(k);
    note_listed(k);
    return change_queue_take(&k->changes, ret_changes, change_max);
}

static int64_t next_wake_ms(struct runtime *runtime)
{
    const struct kubernetes *k = kubernetes_of(runtime);

    if (!change_queue_is_empty(&k->changes)) {
        return INT64_MIN;
    }
    int64_t at_ms = k->retry_ms < k->follow_ms ? k->retry_ms : k->follow_ms;
    at_ms = at_ms < k->check_ms ? at_ms : k->check_ms;
    at_ms = at_ms < k->attach_ms ? at_ms : k->attach_ms;
    return at_ms < k->remove_ms ? at_ms : k->remove_ms;
}

/* What the pod's object says of its end. */
static void read_end(const struct kube_row *row, struct arena *arena,
                     struct runtime_status *status)
{
    struct kube_pod pod;
    struct err err;

    if (row->object &&
        kube_pod_read(str_make(row->object, row->object_byte_count), arena,
                      &pod, &err) == 0) {
        status->cause = pod.status.cause;
        status->message = pod.status.message;
        if (status->cause == RUNTIME_CAUSE_STOPPED &&
            status->message.byte_count == 0) {
            /* What its containers say follows from that. */
            status->message = STR("the pod was deleted");
        }
        status->ended = pod.status.ended;
        status->ended_count = pod.status.ended_count;
    }
}

/* What is told of pods that we ended, or that ended out of our sight. */
static struct str message_of(const struct kube_row *row, struct arena *arena)
{
    return row->message ? arena_str(arena, str_of(row->message))
           : row->cause == RUNTIME_CAUSE_STOPPED ? STR("the pod was deleted")
           : row->cause == RUNTIME_CAUSE_NODE_LOST
               ? STR("the pod is gone with its node")
               : STR("the pod is gone");
}

static bool status(struct runtime *runtime, struct run_id run,
                   struct arena *arena, struct runtime_status *ret_status)
{
    const struct kube_row *row = kubernetes_find(kubernetes_of(runtime), run);

    if (!row || row->is_forgotten || row->creation) {
        return false;
    }
    *ret_status = (struct runtime_status){
        .created_ms = row->created_ms,
        .started_ms = row->started_ms,
        .ended_ms = reconcile_is_ended(row->phase) ? row->ended_ms : 0,
    };
    read_end(row, arena, ret_status);
    kubernetes_put_objects(row, arena, ret_status);
    if (row->cause != RUNTIME_CAUSE_NONE && row->phase != RECONCILE_SUCCEEDED) {
        ret_status->cause = row->cause;
        ret_status->message = message_of(row, arena);
        ret_status->ended_count = 0;
    }
    return true;
}

static const struct node_set *nodes(struct runtime *runtime)
{
    return kubernetes_of(runtime)->nodes;
}

static const struct resource_list *pending(struct runtime *runtime)
{
    return &kubernetes_of(runtime)->pending;
}

static const char *trouble(struct runtime *runtime)
{
    const struct kubernetes *k = kubernetes_of(runtime);
    const struct follow_stats *all[] = {follow_stats(k->pods_follow),
                                        follow_stats(k->nodes_follow)};

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i]->is_failing) {
            return all[i]->failure.text;
        }
    }
    return "";
}

static int logs(struct runtime *runtime, const struct runtime_log_query *query,
                struct strbuf *buf, struct err *err)
{
    struct kubernetes *k = kubernetes_of(runtime);
    struct kube_log_place place;
    auto_arena arena = {0};

    if (!k->config || !kubernetes_place(k, query->job, &arena, &place)) {
        return err_set(err, -ERR_NOT_FOUND,
                       "the job has no pod in this cluster, or not any more");
    }
    return kube_log_read(k->config, k->clock, &place, query, buf, err);
}

/* A container's files are the node's, and gone with the pod. */
static int files(struct runtime *runtime,
                 const struct runtime_files_query *query, struct strbuf *buf,
                 struct err *err)
{
    (void)runtime;
    (void)query;
    (void)buf;
    return err_set(err, -ERR_NOT_FOUND,
                   "the runtime kubernetes gives no files of pods: let the job "
                   "write them to a persistent volume, or use kubectl cp while "
                   "it runs");
}

static void close_runtime(struct runtime *runtime)
{
    struct kubernetes *k = kubernetes_of(runtime);

    follow_destroy(k->nodes_follow);
    follow_destroy(k->pods_follow);
    for (size_t i = 0; i < k->rows.count; i++) {
        if (k->rows.items[i].is_used) {
            kubernetes_remove(k, &k->rows.items[i]);
        }
    }
    http_client_destroy(k->client);
    SLOTS_FREE(&k->rows);
    VEC_FREE(&k->creating);
    VEC_FREE(&k->attaching);
    VEC_FREE(&k->mappings);
    VEC_FREE(&k->retained);
    VEC_FREE(&k->repeats);
    map_fini(&k->by_run);
    map_fini(&k->by_job);
    (void)pthread_mutex_destroy(&k->lock);
    change_queue_fini(&k->changes);
    kube_usage_destroy(k->usage);
    node_set_destroy(k->nodes);
    intern_destroy(k->listed_nodes);
    arena_fini(&k->arena);
    arena_fini(&k->pending_arena);
    mem_free(k);
}

static const struct runtime_ops kubernetes_ops = {
    .name = "kubernetes",
    .list = list,
    .create = kubernetes_create,
    .stop = kubernetes_stop,
    .ack = ack,
    .forget = kubernetes_forget,
    .poll = poll,
    .next_wake_ms = next_wake_ms,
    .status = status,
    .nodes = nodes,
    .pending = pending,
    .trouble = trouble,
    .logs = logs,
    .files = files,
    .close = close_runtime,
};

static const struct str *copy_texts(struct kubernetes *k,
                                    const struct str *texts, uint32_t count)
{
    struct str *copies = arena_alloc_array(&k->arena, count, sizeof(*copies));

    for (uint32_t i = 0; i < count; i++) {
        copies[i] = arena_str(&k->arena, texts[i]);
    }
    return copies;
}

static void copy_options(struct kubernetes *k,
                         const struct kubernetes_options *options)
{
    k->options = *options;
    k->options.namespaces =
        copy_texts(k, options->namespaces, options->namespace_count);
    k->options.allowed.keys =
        copy_texts(k, options->allowed.keys, options->allowed.count);
    k->options.allowed.kinds =
        copy_texts(k, options->allowed.kinds, options->allowed.kind_count);
    k->options.executor_id = arena_str(&k->arena, options->executor_id);
    k->options.pool_label = arena_str(&k->arena, options->pool_label);
    k->options.node_type_label = arena_str(&k->arena, options->node_type_label);
    k->options.priority_class = arena_str(&k->arena, options->priority_class);
    k->options.hostname_suffix = arena_str(&k->arena, options->hostname_suffix);
    k->options.certificate_suffix =
        arena_str(&k->arena, options->certificate_suffix);
}

static int check_kinds(const struct kube_allowed *allowed, struct err *err)
{
    for (uint32_t i = 0; i < allowed->kind_count; i++) {
        if (!kube_allowed_is_kind(allowed->kinds[i])) {
            return err_set(err, -ERR_INVALID,
                           "executor.kubernetes.objectKinds: \"%.*s\" is no "
                           "kind, such as v1/Secret or batch/v1/Job",
                           STR_ARG(allowed->kinds[i]));
        }
    }
    return 0;
}

int kubernetes_open(const struct kubernetes_options *options,
                    struct kube_port *port, const struct clock *clock,
                    const struct rng *rng, struct runtime **ret_runtime,
                    struct err *err)
{
    if (options->executor_id.byte_count == 0 ||
        !kube_is_label_value(options->executor_id)) {
        return err_set(err, -ERR_INVALID,
                       "executor id \"%.*s\" cannot be the value of a label, "
                       "which marks the executor's pods: use at most %d "
                       "letters, digits, '-', '_' and '.'",
                       STR_ARG(options->executor_id), KUBE_LABEL_BYTES_MAX);
    }
    int rc = check_kinds(&options->allowed, err);
    if (rc < 0) {
        return rc;
    }
    struct kubernetes *k = mem_alloc(sizeof(*k));

    k->runtime = (struct runtime){.ops = &kubernetes_ops, .wake_fd = port->fd};
    copy_options(k, options);
    k->port = port;
    k->clock = clock;
    k->rng = rng;
    k->nodes = node_set_create();
    k->usage = kube_usage_create();
    (void)pthread_mutex_init(&k->lock, NULL);
    k->retry_ms = k->remove_ms = k->check_ms = INT64_MAX;
    k->attach_ms = INT64_MAX;
    k->follow_ms = INT64_MIN;
    if (options->attempts_fd >= 0) {
        attempt_sweep(options->attempts_fd, clock->wall_ms(clock));
    }
    kubernetes_follow(k);
    *ret_runtime = &k->runtime;
    return 0;
}

int kubernetes_connect(const struct kubernetes_options *options,
                       const struct kube_config *config,
                       const struct clock *clock, const struct rng *rng,
                       struct runtime **ret_runtime, struct err *err)
{
    struct http_client *client = http_client_create(config, clock, err);
    int rc = client ? kubernetes_open(options, http_client_port(client), clock,
                                      rng, ret_runtime, err)
                    : -ERR_IO;

    if (rc < 0) {
        http_client_destroy(client);
        return rc;
    }
    kubernetes_of(*ret_runtime)->client = client;
    kubernetes_of(*ret_runtime)->config = config;
    return 0;
}

struct kubernetes_stats kubernetes_stats(struct runtime *runtime)
{
    const struct kubernetes *k = kubernetes_of(runtime);
    struct kubernetes_stats stats = k->stats;

    stats.own_count = k->by_run.count;
    return stats;
}
