/* Ends pods that do not get on. */
#include "executor/kubernetes/kube_check.h"
#include "executor/kubernetes/kubernetes_private.h"

enum {
    CHECK_MS = 1000, /* between two looks at all rows */
    AGAIN_MS = 5000, /* until a deletion that was not heard is asked again */
};

void kubernetes_patience_free(struct kube_patience *patience)
{
    if (patience) {
        mem_free(patience->text);
        mem_free(patience->amounts);
        mem_free(patience);
    }
}

static void look_at(struct kubernetes *k, int64_t at_ms)
{
    k->check_ms = at_ms < k->check_ms ? at_ms : k->check_ms;
}

static void set_end(struct kube_row *row, enum runtime_cause cause,
                    struct str text)
{
    row->cause = cause;
    mem_free(row->message);
    row->message = str_dup(text);
}

static void ask_to_end(struct kubernetes *k, struct kube_row *row)
{
    row->wants_stop = true;
    row->grace_s = -1;
    row->ask_ms = kubernetes_now_ms(k) + AGAIN_MS;
    look_at(k, row->ask_ms);
    (void)kubernetes_delete_wanted(k, row);
}

void kubernetes_doom(struct kubernetes *k, struct kube_row *row,
                     enum runtime_cause cause, struct str text)
{
    if (!row->is_doomed && !reconcile_is_ended(row->phase)) {
        row->is_doomed = true;
        set_end(row, cause, text);
        ask_to_end(k, row);
    }
}

/* The pod does not end.  What it asks for stays taken while it is there. */
static void give_up(struct kubernetes *k, struct kube_row *row)
{
    const struct kube_patience *patience = row->patience;

    kube_usage_put(k->usage, str_of(row->uid), row->node_name,
                   &patience->requests);
    row->has_room = true;
    if (!row->is_doomed) {
        row->is_doomed = true;
        set_end(row, patience->cause, str_of(patience->text));
    }
    kubernetes_raise(k, row, RECONCILE_FAILED);
}

static void copy_requests(const struct kube_pod *pod,
                          struct kube_patience *patience)
{
    struct resource_amount amounts[RESOURCE_LIST_MAX];
    struct resource_list from = kubernetes_requests(pod, amounts);
    size_t byte_count = from.count * sizeof(*amounts) + 1;

    for (uint32_t i = 0; i < from.count; i++) {
        byte_count += from.items[i].name.byte_count;
    }
    patience->amounts = mem_alloc(byte_count);
    char *names = (char *)(patience->amounts + from.count);
    for (uint32_t i = 0; i < from.count; i++) {
        struct str name = from.items[i].name;
        memcpy(names, name.p, name.byte_count);
        patience->amounts[i] = from.items[i];
        patience->amounts[i].name = str_make(names, name.byte_count);
        names += name.byte_count;
    }
    patience->requests = (struct resource_list){patience->amounts, from.count};
}

static void begin(struct kubernetes *k, struct kube_row *row,
                  const struct kube_check *check, const struct kube_pod *pod)
{
    struct kube_patience *patience = mem_alloc(sizeof(*patience));

    *patience = (struct kube_patience){
        .wait = check->wait,
        .due_ms = kubernetes_now_ms(k) + check->patience_ms,
        .cause = check->cause,
        .text = str_dup(check->text),
    };
    if (check->wait == KUBE_WAIT_END) {
        copy_requests(pod, patience);
    }
    row->patience = patience;
    look_at(k, patience->due_ms);
}

void kubernetes_note_wait(struct kubernetes *k, struct kube_row *row,
                          const struct kube_pod *pod)
{
    auto_arena arena = {0};
    struct kube_check check = {.wait = KUBE_WAIT_NONE};

    if (!reconcile_is_ended(row->phase)) {
        check = kube_check_pod(pod, &arena);
    }
    if (row->patience && row->patience->wait == check.wait) {
        mem_free(row->patience->text);
        row->patience->text = str_dup(check.text);
        return;
    }
    kubernetes_patience_free(row->patience);
    row->patience = NULL;
    if (check.wait != KUBE_WAIT_NONE) {
        begin(k, row, &check, pod);
    }
}

/* When to look at it again. */
static int64_t check_row(struct kubernetes *k, struct kube_row *row,
                         int64_t now_ms)
{
    const struct kube_patience *patience = row->patience;

    if (reconcile_is_ended(row->phase)) {
        return INT64_MAX;
    }
    if (row->is_doomed && !row->is_ending) {
        if (row->ask_ms <= now_ms) {
            ask_to_end(k, row);
        }
        return row->ask_ms;
    }
    if (!patience || patience->due_ms > now_ms) {
        return patience ? patience->due_ms : INT64_MAX;
    }
    if (patience->wait == KUBE_WAIT_END) {
        give_up(k, row);
        return INT64_MAX;
    }
    kubernetes_doom(k, row, patience->cause, str_of(patience->text));
    return row->ask_ms;
}

void kubernetes_check_due(struct kubernetes *k)
{
    int64_t now_ms = kubernetes_now_ms(k), next_ms = INT64_MAX;

    if (now_ms < k->check_ms) {
        return;
    }
    k->check_ms = INT64_MAX;
    for (size_t i = 0; i < k->rows.count; i++) {
        if (k->rows.items[i].is_used) {
            int64_t at_ms = check_row(k, &k->rows.items[i], now_ms);
            next_ms = at_ms < next_ms ? at_ms : next_ms;
        }
    }
    k->check_ms = next_ms < now_ms + CHECK_MS ? now_ms + CHECK_MS : next_ms;
}
