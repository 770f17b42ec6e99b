/* Stopping pods, and removing those that are forgotten: one DELETE each.  The
 * executor repeats a stop that fails; removals are repeated here. */
#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kubernetes_private.h"

enum {
    MS_PER_S = 1000,
    GRACE_S_MIN = 1, /* with 0 the API server would forget a pod that runs */
    AGAIN_MS = 30000,
    REMOVING_MAX = 64,
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409, /* the pod of that name is another one */
};

static size_t retained_count(const struct kubernetes *k)
{
    return k->retained.count - k->retained_first;
}

static void retain(struct kubernetes *k, struct run_id run, int64_t for_ms)
{
    int64_t due_ms = kubernetes_now_ms(k) + for_ms;

    VEC_PUSH(&k->retained, (struct kube_retained){run, due_ms});
    k->remove_ms = due_ms < k->remove_ms ? due_ms : k->remove_ms;
    if (retained_count(k) > KUBERNETES_RETAINED_MAX) {
        k->remove_ms = INT64_MIN;
    }
}

static void on_deleted(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    bool is_done = result->status / 100 == 2 ||
                   result->status == STATUS_NOT_FOUND ||
                   result->status == STATUS_CONFLICT;

    row->wants_stop = false;
    if (row->is_forgotten && row->is_gone) {
        kubernetes_remove(k, row);
    } else if (row->wants_forget && !is_done) {
        row->wants_forget = false;
        retain(k, row->run, AGAIN_MS);
    }
}

void kubernetes_delete_wanted(struct kubernetes *k, struct kube_row *row)
{
    auto_strbuf path = strbuf_make(0), body = strbuf_make(0);

    if (row->call || (!row->wants_stop && !row->wants_forget)) {
        return;
    }
    kubernetes_pods_path(row, true, &path);
    kube_build_delete(str_of(row->uid), row->wants_forget ? -1 : row->grace_s,
                      &body);
    k->stats.delete_count++;
    if (kubernetes_ask(k, row, "DELETE", strbuf_str(&path), strbuf_str(&body),
                       row->wants_forget ? &k->removing_count : NULL,
                       on_deleted)) {
        return;
    }
    row->wants_stop = false;
    if (row->wants_forget) {
        row->wants_forget = false;
        retain(k, row->run, AGAIN_MS);
    }
}

/* The oldest is to go; false: none is, or too many are on their way. */
static bool take_retained(struct kubernetes *k, int64_t now_ms,
                          struct run_id *ret_run)
{
    if (retained_count(k) == 0) {
        return false;
    }
    struct kube_retained next = k->retained.items[k->retained_first];
    bool is_due =
        next.due_ms <= now_ms || retained_count(k) > KUBERNETES_RETAINED_MAX;
    if (!is_due || k->removing_count >= REMOVING_MAX) {
        /* One that ends makes us look again. */
        k->remove_ms = is_due ? INT64_MAX : next.due_ms;
        return false;
    }
    k->retained_first++;
    *ret_run = next.run;
    return true;
}

static void shorten_retained(struct kubernetes *k)
{
    if (k->retained_first > k->retained.count / 2) {
        k->retained.count -= k->retained_first;
        memmove(k->retained.items, k->retained.items + k->retained_first,
                k->retained.count * sizeof(*k->retained.items));
        k->retained_first = 0;
    }
}

void kubernetes_remove_due(struct kubernetes *k)
{
    int64_t now_ms = kubernetes_now_ms(k);
    struct run_id run;

    if (now_ms < k->remove_ms) {
        return;
    }
    k->remove_ms = INT64_MAX;
    while (take_retained(k, now_ms, &run)) {
        struct kube_row *row = kubernetes_find(k, run);
        if (row && row->is_forgotten && !row->wants_forget) {
            row->wants_forget = true;
            kubernetes_delete_wanted(k, row);
        }
    }
    shorten_retained(k);
}

void kubernetes_stop(struct runtime *runtime, struct run_id run,
                     int64_t grace_ms)
{
    struct kubernetes *k = kubernetes_of(runtime);
    struct kube_row *row = kubernetes_find(k, run);
    int64_t grace_s = (grace_ms + MS_PER_S - 1) / MS_PER_S;

    if (!row || row->phase == RECONCILE_NEVER ||
        reconcile_is_ended(row->phase) || row->wants_stop ||
        (row->is_ending && grace_ms < 0)) {
        return;
    }
    row->wants_stop = true;
    row->grace_s = grace_ms < 0            ? -1
                   : grace_s < GRACE_S_MIN ? GRACE_S_MIN
                                           : grace_s;
    kubernetes_delete_wanted(k, row);
}

void kubernetes_forget(struct runtime *runtime, struct run_id run)
{
    struct kubernetes *k = kubernetes_of(runtime);
    struct kube_row *row = kubernetes_find(k, run);

    if (row && row->phase == RECONCILE_NEVER) {
        return;
    }
    kubernetes_push(k, RUNTIME_FORGOTTEN, run);
    if (!row || row->is_forgotten) {
        return;
    }
    row->is_forgotten = true;
    row->wants_stop = false;
    if (!row->is_gone) {
        retain(k, run, k->options.retention_ms);
    } else if (!row->call) {
        kubernetes_remove(k, row);
    }
}
