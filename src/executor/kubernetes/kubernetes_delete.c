/* Stopping pods, and removing those that are forgotten: one DELETE each.  The
 * executor repeats a stop that fails; removals are repeated here. */
#include "base/heap.h"
#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kubernetes_private.h"

enum {
    MS_PER_S = 1000,
    GRACE_S_MIN = 1, /* with 0 the API server would forget a pod that runs */
    BUSY_MS = 100,   /* until the port may take a further request */
    REMOVING_MAX = 64,
    STATUS_NOT_FOUND = 404,
    STATUS_CONFLICT = 409, /* the pod of that name is another one */
};

static bool is_sooner(const void *context, const struct kube_retained *a,
                      const struct kube_retained *b)
{
    (void)context;
    return a->due_ms < b->due_ms;
}

DEFINE_HEAP(repeats, struct kube_retained, 2, const void *, is_sooner,
            HEAP_PLAIN);

static size_t retained_count(const struct kubernetes *k)
{
    return k->retained.count - k->retained_first;
}

static bool has_too_many(const struct kubernetes *k)
{
    return retained_count(k) > KUBERNETES_RETAINED_MAX;
}

static void look_at(struct kubernetes *k, int64_t at_ms)
{
    k->remove_ms = at_ms < k->remove_ms ? at_ms : k->remove_ms;
}

/* Keep a pod that nobody wants any more. */
static void retain(struct kubernetes *k, struct run_id run)
{
    int64_t due_ms = kubernetes_now_ms(k) + k->options.retention_ms;

    VEC_PUSH(&k->retained, (struct kube_retained){run, due_ms});
    look_at(k, has_too_many(k) ? INT64_MIN : due_ms);
}

/* The removal has failed: it is to be tried again, later each time. */
static void repeat(struct kubernetes *k, struct kube_row *row, int64_t after_ms)
{
    int64_t due_ms =
        kubernetes_now_ms(k) + retry_failed(&row->removal, k->rng, after_ms);
    struct kube_retained entry = {row->run, due_ms};
    size_t at = k->repeats.count;

    row->wants_forget = false;
    VEC_PUSH(&k->repeats, entry);
    repeats_rise(NULL, k->repeats.items, at, entry);
    look_at(k, due_ms);
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
        repeat(k, row, result->retry_after_ms);
    }
}

bool kubernetes_delete_wanted(struct kubernetes *k, struct kube_row *row)
{
    auto_strbuf path = strbuf_make(0), body = strbuf_make(0);

    if (row->call || (!row->wants_stop && !row->wants_forget)) {
        return true;
    }
    kubernetes_pods_path(row, true, &path);
    kube_build_delete(str_of(row->uid), row->wants_forget ? -1 : row->grace_s,
                      &body);
    k->stats.delete_count++;
    if (kubernetes_ask(k, row, "DELETE", strbuf_str(&path), strbuf_str(&body),
                       row->wants_forget ? &k->removing_count : NULL,
                       on_deleted)) {
        return true;
    }
    row->wants_stop = false;
    if (row->wants_forget) {
        repeat(k, row, -1);
    }
    return false;
}

/* The next that is due.  A pod whose removal has failed waits for its time,
 * however many are kept. */
static bool take_due(struct kubernetes *k, int64_t now_ms,
                     struct run_id *ret_run)
{
    if (k->repeats.count > 0 && k->repeats.items[0].due_ms <= now_ms) {
        *ret_run = k->repeats.items[0].run;
        repeats_remove(NULL, k->repeats.items, --k->repeats.count, 0);
        return true;
    }
    if (retained_count(k) == 0) {
        return false;
    }
    struct kube_retained next = k->retained.items[k->retained_first];
    if (next.due_ms > now_ms && !has_too_many(k)) {
        return false;
    }
    k->retained_first++;
    *ret_run = next.run;
    return true;
}

/* When the next one is due that is not yet. */
static int64_t next_due_ms(const struct kubernetes *k)
{
    int64_t repeat_ms =
        k->repeats.count > 0 ? k->repeats.items[0].due_ms : INT64_MAX;
    int64_t retained_ms = retained_count(k) > 0
                              ? k->retained.items[k->retained_first].due_ms
                              : INT64_MAX;

    return repeat_ms < retained_ms ? repeat_ms : retained_ms;
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

/* Ask for the removal, unless that is under way; false: not now. */
static bool remove_pod(struct kubernetes *k, struct run_id run)
{
    struct kube_row *row = kubernetes_find(k, run);

    if (!row || !row->is_forgotten || row->wants_forget) {
        return true;
    }
    row->wants_forget = true;
    return kubernetes_delete_wanted(k, row);
}

void kubernetes_remove_due(struct kubernetes *k)
{
    int64_t now_ms = kubernetes_now_ms(k);
    bool may_ask = true;
    struct run_id run;

    if (now_ms < k->remove_ms) {
        return;
    }
    while (may_ask && k->removing_count < REMOVING_MAX &&
           take_due(k, now_ms, &run)) {
        may_ask = remove_pod(k, run);
    }
    shorten_retained(k);
    /* Of those under way one that ends makes us look again. */
    k->remove_ms = !may_ask                            ? now_ms + BUSY_MS
                   : k->removing_count >= REMOVING_MAX ? INT64_MAX
                                                       : next_due_ms(k);
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
    (void)kubernetes_delete_wanted(k, row);
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
        retain(k, run);
    } else if (!row->call) {
        kubernetes_remove(k, row);
    }
}
