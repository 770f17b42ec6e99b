/* Runs and their pods. */
#include "executor/kubernetes/kubernetes_private.h"
#include "kube/api/envelope.h"
#include "wire/kube/kube_name.h"

enum { TEXTS = 6 };

struct kube_row *kubernetes_find(struct kubernetes *k, struct run_id run)
{
    uint32_t index = map_find(&k->by_run, run.v);

    return index == MAP_NONE ? NULL : &k->rows.items[index];
}

/* All texts of a row are in one block. */
static void set_texts(struct kube_row *row, const struct runtime_pod *pod,
                      struct str container)
{
    const struct str from[TEXTS] = {pod->queue,      pod->job_set,
                                    pod->namespace_, pod->pod_name,
                                    pod->node_name,  container};
    struct str *const to[TEXTS] = {&row->queue,      &row->job_set,
                                   &row->namespace_, &row->pod_name,
                                   &row->node_name,  &row->container};
    size_t byte_count = 1, at = 0;

    for (size_t i = 0; i < TEXTS; i++) {
        byte_count += from[i].byte_count;
    }
    row->texts = mem_alloc(byte_count);
    for (size_t i = 0; i < TEXTS; i++) {
        if (from[i].byte_count > 0) {
            memcpy(row->texts + at, from[i].p, from[i].byte_count);
        }
        *to[i] = str_make(row->texts + at, from[i].byte_count);
        at += from[i].byte_count;
    }
}

/* Rows of one job are a list: by_job has the first one, which is the newest
 * that we asked for, if there is one, else the newest. */

static void link_row(struct kubernetes *k, uint32_t index)
{
    struct kube_row *row = &k->rows.items[index];
    uint32_t first = map_find(&k->by_job, row->job.v);
    bool is_asked = row->phase == RECONCILE_NEVER;

    if (first != MAP_NONE && k->rows.items[first].is_asked && !is_asked) {
        /* Anybody can write our labels on a pod. */
        row->next_of_job = k->rows.items[first].next_of_job;
        k->rows.items[first].next_of_job = index;
    } else {
        row->next_of_job = first;
        (void)map_put(&k->by_job, row->job.v, index);
    }
    row->is_asked = is_asked;
}

static void unlink_row(struct kubernetes *k, uint32_t index)
{
    const struct kube_row *row = &k->rows.items[index];
    uint32_t at = map_find(&k->by_job, row->job.v);

    if (at != index) {
        while (k->rows.items[at].next_of_job != index) {
            at = k->rows.items[at].next_of_job;
        }
        k->rows.items[at].next_of_job = row->next_of_job;
    } else if (row->next_of_job == MAP_NONE) {
        (void)map_remove(&k->by_job, row->job.v);
    } else {
        (void)map_put(&k->by_job, row->job.v, row->next_of_job);
    }
}

struct kube_row *kubernetes_add(struct kubernetes *k,
                                const struct runtime_pod *pod,
                                struct str container)
{
    ASSERT(!kubernetes_find(k, pod->run));
    if (k->by_run.count >= KUBERNETES_PODS_MAX) {
        return NULL;
    }
    (void)pthread_mutex_lock(&k->lock);
    uint32_t index = SLOTS_TAKE(&k->rows);
    struct kube_row *row = &k->rows.items[index];

    *row = (struct kube_row){
        .is_used = true,
        .run = pod->run,
        .job = pod->job,
        .phase = pod->phase,
        .list = k->pod_list,
        .is_made = pod->phase != RECONCILE_NEVER,
    };
    set_texts(row, pod, container);
    (void)map_put(&k->by_run, pod->run.v, index);
    link_row(k, index);
    (void)pthread_mutex_unlock(&k->lock);
    return row;
}

bool kubernetes_place(struct kubernetes *k, struct job_id job,
                      struct arena *arena, struct kube_log_place *ret_place)
{
    (void)pthread_mutex_lock(&k->lock);
    uint32_t index = map_find(&k->by_job, job.v);
    bool is_found = index != MAP_NONE && k->rows.items[index].is_made;
    if (is_found) {
        const struct kube_row *row = &k->rows.items[index];
        *ret_place = (struct kube_log_place){arena_str(arena, row->namespace_),
                                             arena_str(arena, row->pod_name),
                                             arena_str(arena, row->container)};
    }
    (void)pthread_mutex_unlock(&k->lock);
    return is_found;
}

/* There is room for another one. */
static void free_call(struct kubernetes *k, struct kube_call *call)
{
    if (call->count) {
        --*call->count;
        k->retry_ms = k->remove_ms = INT64_MIN;
    }
    mem_free(call);
}

static void end_request(struct kubernetes *k, struct kube_row *row)
{
    if (row->call) {
        k->port->cancel(k->port, row->call->number);
        free_call(k, row->call);
        row->call = NULL;
    }
}

void kubernetes_remove(struct kubernetes *k, struct kube_row *row)
{
    end_request(k, row);
    (void)pthread_mutex_lock(&k->lock);
    uint32_t index = map_remove(&k->by_run, row->run.v);
    unlink_row(k, index);
    kubernetes_creation_free(row->creation);
    kubernetes_attach_free(row->attach);
    kubernetes_patience_free(row->patience);
    mem_free(row->message);
    mem_free(row->texts);
    mem_free(row->uid);
    mem_free(row->objects);
    mem_free(row->object);
    *row = (struct kube_row){.is_used = false};
    SLOTS_GIVE(&k->rows, index);
    (void)pthread_mutex_unlock(&k->lock);
}

struct runtime_pod kubernetes_pod_of(const struct kube_row *row)
{
    return (struct runtime_pod){
        .run = row->run,
        .job = row->job,
        .queue = row->queue,
        .job_set = row->job_set,
        .namespace_ = row->namespace_,
        .pod_name = row->pod_name,
        .node_name = row->node_name,
        .phase = row->phase,
    };
}

void kubernetes_push(struct kubernetes *k, enum runtime_change_kind kind,
                     struct run_id run)
{
    change_queue_push(&k->changes,
                      &(struct runtime_change){.kind = kind, .run = run});
}

void kubernetes_raise(struct kubernetes *k, struct kube_row *row,
                      enum reconcile_phase phase)
{
    if (row->phase == RECONCILE_NEVER ||
        reconcile_rank(phase) <= reconcile_rank(row->phase) ||
        (row->is_doomed && phase == RECONCILE_RUNNING)) {
        return;
    }
    row->phase = phase;
    if (reconcile_is_ended(phase) && row->ended_ms == 0) {
        row->ended_ms = k->clock->wall_ms(k->clock);
    }
    if (k->is_listed && !row->is_forgotten) {
        change_queue_push(&k->changes,
                          &(struct runtime_change){.kind = RUNTIME_PHASE,
                                                   .run = row->run,
                                                   .phase = phase});
    }
}

void kubernetes_pods_path(const struct kube_row *row, bool has_name,
                          struct strbuf *path)
{
    /* Whoever adds a row has looked. */
    ASSERT(kube_is_dns_label(row->namespace_) &&
           kube_is_subdomain(row->pod_name));
    strbuf_addf(path, "/api/v1/namespaces/%.*s/pods", STR_ARG(row->namespace_));
    if (has_name) {
        strbuf_addf(path, "/%.*s", STR_ARG(row->pod_name));
    }
}

/* As which bodies are sent and answers taken. */
struct media {
    const char *body, *answer;
};

static bool ask(struct kubernetes *k, struct kube_row *row, const char *method,
                struct str path, struct str body, struct media media,
                uint32_t *count,
                void (*on_end)(void *call, const struct http_result *))
{
    struct kube_call *call = mem_alloc(sizeof(*call));
    char *text = str_dup(path);

    ASSERT(!row->call);
    *call =
        (struct kube_call){.kubernetes = k, .run = row->run, .count = count};
    call->number = k->port->ask(
        k->port, &(struct http_ask){
                     .method = method,
                     .path = text,
                     .accept = media.answer,
                     .content_type = body.byte_count > 0 ? media.body : NULL,
                     .body = body,
                     .total_ms_max = KUBERNETES_REQUEST_MS_MAX,
                     .on_end = on_end,
                     .ctx = call,
                 });
    mem_free(text);
    if (call->number == 0) {
        mem_free(call);
        return false;
    }
    row->call = call;
    if (count) {
        ++*count;
    }
    return true;
}

bool kubernetes_ask(struct kubernetes *k, struct kube_row *row,
                    const char *method, struct str path, struct str body,
                    uint32_t *count,
                    void (*on_end)(void *call, const struct http_result *))
{
    static const struct media media = {ENVELOPE_MEDIA_TYPE,
                                       ENVELOPE_MEDIA_TYPE};

    return ask(k, row, method, path, body, media, count, on_end);
}

bool kubernetes_ask_any(struct kubernetes *k, struct kube_row *row,
                        const char *method, struct str path, struct str body,
                        uint32_t *count,
                        void (*on_end)(void *call, const struct http_result *))
{
    static const struct media media = {"application/json",
                                       ENVELOPE_METADATA_MEDIA_TYPE};

    return ask(k, row, method, path, body, media, count, on_end);
}

struct kube_row *kubernetes_end_call(struct kube_call *call)
{
    struct kube_row *row = kubernetes_find(call->kubernetes, call->run);

    ASSERT(row && row->call == call);
    row->call = NULL;
    free_call(call->kubernetes, call);
    return row;
}
