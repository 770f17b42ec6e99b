/* Stopping and forgetting pods: one DELETE each, which the executor repeats if
 * it fails. */
#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kubernetes_private.h"

enum {
    MS_PER_S = 1000,
    GRACE_S_MIN = 1, /* with 0 the API server would forget a pod that runs */
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409, /* the pod of that name is another one */
};

/* Its end is known for good: it may be given up. */
static void forgotten(struct kubernetes *k, struct kube_row *row)
{
    row->wants_forget = false;
    if (!row->is_forgotten) {
        row->is_forgotten = true;
        kubernetes_push(k, RUNTIME_FORGOTTEN, row->run);
    }
    if (row->is_gone) {
        kubernetes_remove(k, row);
    }
}

static void on_deleted(void *ctx, const struct http_result *result)
{
    struct kubernetes *k = ((struct kube_call *)ctx)->kubernetes;
    struct kube_row *row = kubernetes_end_call(ctx);
    bool is_done = result->status / 100 == 2 ||
                   result->status == STATUS_NOT_FOUND ||
                   result->status == STATUS_CONFLICT;
    bool was_forget = row->wants_forget;

    row->wants_stop = false;
    if (is_done && was_forget) {
        forgotten(k, row);
        return;
    }
    row->wants_forget = false;
}

void kubernetes_delete_wanted(struct kubernetes *k, struct kube_row *row)
{
    auto_strbuf path = strbuf_make(0), body = strbuf_make(0);

    if (row->call || (!row->wants_stop && !row->wants_forget)) {
        return;
    }
    if (row->wants_forget && row->is_gone) {
        forgotten(k, row);
        return;
    }
    kubernetes_pods_path(row, true, &path);
    kube_build_delete(str_of(row->uid), row->wants_forget ? -1 : row->grace_s,
                      &body);
    k->stats.delete_count++;
    if (!kubernetes_ask(k, row, "DELETE", strbuf_str(&path), strbuf_str(&body),
                        on_deleted)) {
        row->wants_stop = row->wants_forget = false;
    }
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

    if (!row || row->is_forgotten) {
        kubernetes_push(k, RUNTIME_FORGOTTEN, run);
        return;
    }
    if (row->phase == RECONCILE_NEVER || row->wants_forget) {
        return;
    }
    row->wants_forget = true;
    kubernetes_delete_wanted(k, row);
}
