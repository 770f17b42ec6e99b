/* Making pods: one POST each, repeated while the API server cannot take it. */
#include "executor/files/attempt.h"
#include "executor/kubernetes/kube_answer.h"
#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kube_manifest.h"
#include "executor/kubernetes/kube_object.h"
#include "executor/kubernetes/kubernetes_private.h"
#include "kube/api/envelope.h"
#include "wire/kube/kube_name.h"

enum { BUSY_MS = 100 /* until the port may take a further request */ };

void kubernetes_creation_free(struct kube_creation *creation)
{
    if (creation) {
        strbuf_fini(&creation->body);
        mem_free(creation);
    }
}

/* It ends without a pod. */
static void end_without(struct kubernetes *k, struct kube_row *row,
                        enum runtime_change_kind kind, enum runtime_scope scope,
                        struct str text)
{
    change_queue_push(&k->changes, &(struct runtime_change){.kind = kind,
                                                            .run = row->run,
                                                            .scope = scope,
                                                            .text = text});
    kubernetes_remove(k, row);
}

void kubernetes_created(struct kubernetes *k, struct kube_row *row)
{
    kubernetes_creation_free(row->creation);
    row->creation = NULL;
    (void)pthread_mutex_lock(&k->lock);
    row->is_made = true;
    (void)pthread_mutex_unlock(&k->lock);
    row->phase = RECONCILE_PENDING;
    row->list = k->pod_list;
    kubernetes_push(k, RUNTIME_CREATED, row->run);
}

/* Ask at this time, or again. */
static void wait_until(struct kubernetes *k, struct kube_row *row,
                       int64_t due_ms)
{
    row->creation->due_ms = due_ms;
    VEC_PUSH(&k->creating, row->run);
    k->retry_ms = due_ms < k->retry_ms ? due_ms : k->retry_ms;
}

/* The API server could not say yes or no. */
static void again(struct kubernetes *k, struct kube_row *row,
                  const struct kube_verdict *verdict)
{
    struct kube_creation *creation = row->creation;
    int64_t due_ms = kubernetes_now_ms(k) +
                     retry_failed(&creation->retry, k->rng, verdict->after_ms);

    creation->why = verdict->why;
    if (due_ms >= creation->until_ms) {
        end_without(k, row, RUNTIME_RETURNED, RUNTIME_SCOPE_CLUSTER,
                    str_of(creation->why.text));
        return;
    }
    k->stats.again_count++;
    wait_until(k, row, due_ms);
}

/* Take what the API server sent of the pod; false: it is another run's. */
static bool take_answer(struct kubernetes *k, struct kube_row *row,
                        struct str body)
{
    auto_arena arena = {0};
    struct envelope envelope;
    struct kube_pod pod;
    struct err err;

    if (envelope_read(body, &envelope) < 0 ||
        kube_pod_read(envelope.object, &arena, &pod, &err) < 0 ||
        !pod.is_ours || key128_compare(pod.pod.run.v, row->run.v) != 0) {
        return false;
    }
    kubernetes_take_pod(k, &pod, envelope.object);
    return true;
}

/* There is a pod of that name: it may be ours, of an earlier run of the job
 * that is about to go, or somebody's. */
static void on_looked(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    struct kube_verdict verdict = kube_answer_read(result);

    if (!row->creation) {
        (void)kubernetes_delete_wanted(k, row);
        return;
    }
    row->creation->is_looking = false;
    if (verdict.answer == KUBE_MADE && take_answer(k, row, result->body)) {
        return;
    }
    if (verdict.answer == KUBE_MADE) {
        (void)err_set(&verdict.why, -ERR_INVALID,
                      "there is another pod of the name %.*s in namespace %.*s",
                      STR_ARG(row->pod_name), STR_ARG(row->namespace_));
    }
    again(k, row, &verdict);
}

static void on_created(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    struct kube_verdict verdict = kube_answer_read(result);

    if (!row->creation) { /* the watch was faster */
        (void)kubernetes_delete_wanted(k, row);
        return;
    }
    switch (verdict.answer) {
    case KUBE_MADE:
        if (!take_answer(k, row, result->body)) {
            kubernetes_created(k, row);
        }
        break;
    case KUBE_EXISTS:
        row->creation->is_looking = true;
        wait_until(k, row, kubernetes_now_ms(k));
        break;
    case KUBE_AGAIN:
        again(k, row, &verdict);
        break;
    case KUBE_RETURNED:
    case KUBE_REFUSED:
        end_without(k, row,
                    verdict.answer == KUBE_RETURNED ? RUNTIME_RETURNED
                                                    : RUNTIME_REFUSED,
                    RUNTIME_SCOPE_CLUSTER, str_of(verdict.why.text));
        break;
    }
}

/* False: the port takes no request now. */
static bool ask(struct kubernetes *k, struct kube_row *row)
{
    bool is_looking = row->creation->is_looking;
    auto_strbuf path = strbuf_make(0);

    kubernetes_pods_path(row, is_looking, &path);
    k->stats.create_count += !is_looking;
    return kubernetes_ask(
        k, row, is_looking ? "GET" : "POST", strbuf_str(&path),
        is_looking ? STR("") : strbuf_str(&row->creation->body),
        &k->asking_count, is_looking ? on_looked : on_created);
}

/* Ask for a pod if that is due; how long it must wait, or 0. */
static int64_t try_creation(struct kubernetes *k, struct kube_row *row,
                            int64_t now_ms)
{
    if (k->asking_count >= KUBERNETES_CREATING_MAX) {
        return INT64_MAX; /* until one of them has ended */
    }
    if (row->creation->due_ms > now_ms) {
        return row->creation->due_ms - now_ms;
    }
    return ask(k, row) ? 0 : BUSY_MS;
}

void kubernetes_create_due(struct kubernetes *k)
{
    int64_t now_ms = kubernetes_now_ms(k), next_ms = INT64_MAX;
    size_t kept = 0;

    if (now_ms < k->retry_ms) {
        return;
    }
    for (size_t i = 0; i < k->creating.count; i++) {
        struct run_id run = k->creating.items[i];
        struct kube_row *row = kubernetes_find(k, run);
        if (!row || !row->creation || row->call) {
            continue;
        }
        int64_t in_ms = try_creation(k, row, now_ms);
        if (in_ms > 0) {
            next_ms = in_ms < next_ms ? in_ms : next_ms;
            k->creating.items[kept++] = run;
        }
    }
    k->creating.count = kept;
    k->retry_ms = next_ms < INT64_MAX ? now_ms + next_ms : INT64_MAX;
}

/* The two names that stand in the paths of requests, where others would lead
 * elsewhere. */
static int check_names(const struct runtime_run *run, struct err *err)
{
    if (!kube_is_dns_label(run->namespace_)) {
        return err_set(err, -ERR_INVALID,
                       "\"%.*s\" is no name of a namespace: small letters, "
                       "digits and dashes, at most 63",
                       STR_ARG(run->namespace_));
    }
    return kube_is_subdomain(run->pod_name)
               ? 0
               : err_set(err, -ERR_INVALID, "\"%.*s\" is no name of a pod",
                         STR_ARG(run->pod_name));
}

/* What can be said without asking; 0: nothing speaks against it. */
static int check(const struct kubernetes *k, const struct runtime_run *run,
                 enum runtime_change_kind *ret_kind,
                 enum runtime_scope *ret_scope, struct err *err)
{
    bool is_allowed = k->options.namespace_count == 0;

    for (uint32_t i = 0; i < k->options.namespace_count; i++) {
        is_allowed |= str_equal(k->options.namespaces[i], run->namespace_);
    }
    *ret_kind = RUNTIME_REFUSED;
    *ret_scope = RUNTIME_SCOPE_CLUSTER;
    int rc = check_names(run, err);
    if (rc < 0) {
        return rc;
    }
    if (!is_allowed) {
        return err_set(err, -ERR_INVALID,
                       "namespace %.*s is not among those that the executor "
                       "may use (executor.kubernetes.namespaces)",
                       STR_ARG(run->namespace_));
    }
    rc = kube_allowed_check(run->submit, &k->options.allowed, err);
    if (rc < 0) {
        return rc;
    }
    *ret_kind = RUNTIME_RETURNED;
    *ret_scope = RUNTIME_SCOPE_NODE;
    return run->node_name.byte_count > 0 &&
                   !node_set_find(k->nodes, run->node_name)
               ? err_set(err, -ERR_NOT_FOUND, "the node %.*s is not there",
                         STR_ARG(run->node_name))
               : 0;
}

/* A pod of an earlier run of the job, which was kept for its logs, has the name
 * that the new one needs. */
static void make_way(struct kubernetes *k, struct job_id job)
{
    for (uint32_t index = map_find(&k->by_job, job.v); index != MAP_NONE;
         index = k->rows.items[index].next_of_job) {
        if (k->rows.items[index].is_forgotten) {
            k->rows.items[index].wants_forget = true;
            (void)kubernetes_delete_wanted(k, &k->rows.items[index]);
        }
    }
}

/* What its pod's annotation does not have. */
static void keep_secrets(const struct runtime_run *run, struct kube_row *row)
{
    auto_arena arena = {0};
    struct str text;
    struct err err;

    if (kube_manifest_has_secrets(run->submit)) {
        int rc = kube_attached_pack(run->submit, false, &arena, &text, &err);
        ASSERT(rc == 0); /* as for the annotation */
        row->objects = str_dup(text);
    }
}

static void begin(struct kubernetes *k, const struct runtime_run *run,
                  struct strbuf *body)
{
    const K8s__Io__Api__Core__V1__PodSpec *spec =
        run->submit->mainobject->pod_spec->pod_spec;

    make_way(k, run->job);
    struct kube_row *row = kubernetes_add(k,
                                          &(struct runtime_pod){
                                              .run = run->run,
                                              .job = run->job,
                                              .queue = run->queue,
                                              .job_set = run->job_set,
                                              .namespace_ = run->namespace_,
                                              .pod_name = run->pod_name,
                                              .node_name = run->node_name,
                                              .phase = RECONCILE_NEVER,
                                          },
                                          str_of(spec->containers[0]->name));

    ASSERT(row);
    row->creation = mem_alloc(sizeof(*row->creation));
    row->creation->body = *body;
    *body = strbuf_make(0);
    row->creation->until_ms = kubernetes_now_ms(k) + k->options.create_ms_max;
    keep_secrets(run, row);
    wait_until(k, row, kubernetes_now_ms(k));
}

/* Build the pod, unless that has crashed the executor.  Where that cannot be
 * noted the job is built all the same. */
static int build(struct kubernetes *k, const struct runtime_run *run,
                 struct arena *arena, struct strbuf *body, struct err *err)
{
    int fd = k->options.attempts_fd;
    bool is_noted = false;

    if (fd >= 0) {
        int rc = attempt_begin(fd, run->job, err);
        if (rc == -ERR_INVALID) {
            return rc;
        }
        is_noted = rc == 0;
    }
    int rc = kube_build_pod(run, k->options.executor_id,
                            k->options.priority_class, arena, body, err);
    if (is_noted) {
        attempt_end(fd, run->job);
    }
    return rc;
}

void kubernetes_create(struct runtime *runtime, const struct runtime_run *run)
{
    struct kubernetes *k = kubernetes_of(runtime);
    auto_strbuf body = strbuf_make(0);
    auto_arena arena = {0};
    struct runtime_change change = {.run = run->run};
    struct err err;

    if (kubernetes_find(k, run->run)) {
        kubernetes_push(k, RUNTIME_KNOWN, run->run);
        return;
    }
    int rc = check(k, run, &change.kind, &change.scope, &err);
    if (rc == 0) {
        change.kind = RUNTIME_REFUSED;
        change.scope = RUNTIME_SCOPE_CLUSTER;
        rc = build(k, run, &arena, &body, &err);
    }
    if (rc == 0 && k->by_run.count >= KUBERNETES_PODS_MAX) {
        change.kind = RUNTIME_RETURNED;
        rc = err_set(&err, -ERR_LIMIT, "the executor has %d pods, its limit",
                     KUBERNETES_PODS_MAX);
    }
    if (rc < 0) {
        change.text = str_of(err.text);
        change_queue_push(&k->changes, &change);
        return;
    }
    begin(k, run, &body);
}
