/* What others do in a cluster, and what goes wrong there, on demand. */
#include "executor/fake/fake_private.h"

void fake_want(struct runtime *runtime, struct str resource, int64_t milli)
{
    struct fake *fake = fake_of(runtime);
    struct resource_list was = fake->pending;

    fake->pending = (struct resource_list){
        arena_alloc_array(&fake->arena, RESOURCE_LIST_MAX, sizeof(*was.items)),
        0};
    for (uint32_t i = 0; i < was.count; i++) {
        if (!str_equal(was.items[i].name, resource)) {
            fake->pending.items[fake->pending.count++] = was.items[i];
        }
    }
    /* A resource beyond the list's bound is not asked for. */
    (void)!resource_list_add(&fake->pending, arena_str(&fake->arena, resource),
                             milli);
}

void fake_protect(struct runtime *runtime, const struct run_id *runs,
                  uint32_t run_count)
{
    struct fake *fake = fake_of(runtime);

    fake->protected_runs.count = 0;
    for (uint32_t i = 0; i < run_count; i++) {
        VEC_PUSH(&fake->protected_runs, runs[i]);
    }
}

bool fake_take(struct runtime *runtime, struct str node, struct str resource,
               int64_t milli)
{
    struct fake *fake = fake_of(runtime);
    const struct node_record *found = node_set_find(fake->nodes, node);
    struct resource_amount amounts[RESOURCE_LIST_MAX];
    struct resource_list now = {.items = amounts};

    if (!found) {
        return false;
    }
    struct node_record record = *found;
    for (uint32_t i = 0; i < record.foreign.count; i++) {
        if (!str_equal(record.foreign.items[i].name, resource)) {
            now.items[now.count++] = record.foreign.items[i];
        }
    }
    if (resource_list_add(&now, resource, milli) < 0) {
        return false;
    }
    record.foreign = now;
    node_set_put(fake->nodes, &record);
    return true;
}

void fake_answer(struct runtime *runtime, enum runtime_change_kind kind,
                 enum runtime_scope scope, struct str text)
{
    ASSERT(kind == RUNTIME_CREATED || kind == RUNTIME_RETURNED ||
           kind == RUNTIME_REFUSED);
    fake_set_end(&fake_of(runtime)->answer, kind, scope, text);
}

void fake_lose_requests(struct runtime *runtime, uint32_t count)
{
    fake_of(runtime)->lost_request_count = count;
}

void fake_appear(struct runtime *runtime, const struct runtime_pod *pod)
{
    struct fake *fake = fake_of(runtime);

    ASSERT(!fake_find(fake, pod->run) && pod->phase != RECONCILE_NEVER &&
           pod->phase <= RECONCILE_FAILED);
    struct fake_pod *added = fake_add(fake, pod->run, pod->node_name);
    added->phase = pod->phase;
    if (pod->phase != RECONCILE_PENDING) {
        added->started_ms = added->created_ms;
    }
    if (reconcile_is_ended(pod->phase)) {
        added->ended_ms = added->created_ms;
    } else {
        added->due_ms = fake_now_ms(fake) + (pod->phase == RECONCILE_PENDING
                                                 ? fake->options.start_delay_ms
                                                 : added->run_ms);
        fake_heap_push(fake, added->due_ms, added->run);
    }
    change_queue_push(&fake->changes,
                      &(struct runtime_change){.kind = RUNTIME_APPEARED,
                                               .run = pod->run,
                                               .pod = pod});
}

void fake_end(struct runtime *runtime, struct run_id run,
              enum runtime_cause cause, struct str text)
{
    struct fake *fake = fake_of(runtime);
    struct fake_pod *pod = fake_find(fake, run);

    ASSERT(cause != RUNTIME_CAUSE_NONE);
    if (pod && pod->phase != RECONCILE_NEVER &&
        !reconcile_is_ended(pod->phase)) {
        mem_free(pod->text);
        pod->text = str_dup(text);
        fake_end_pod(fake, pod, cause);
    }
}

void fake_tell(struct runtime *runtime, struct run_id run, int32_t port,
               struct str address, const struct resource_list *used)
{
    struct fake *fake = fake_of(runtime);
    struct fake_pod *pod = fake_find(fake, run);

    if (!pod) {
        return;
    }
    pod->address =
        (struct runtime_address){port, arena_str(&fake->arena, address)};
    pod->used = (struct resource_list){
        arena_alloc_array(&fake->arena, used->count, sizeof(*used->items)),
        used->count};
    for (uint32_t i = 0; i < used->count; i++) {
        pod->used.items[i] = (struct resource_amount){
            arena_str(&fake->arena, used->items[i].name), used->items[i].milli};
    }
    change_queue_push(&fake->changes, &(struct runtime_change){
                                          .kind = RUNTIME_FACTS, .run = run});
}

void fake_put_node(struct runtime *runtime, const struct node_record *record)
{
    node_set_put(fake_of(runtime)->nodes, record);
}

bool fake_remove_node(struct runtime *runtime, struct str node)
{
    struct fake *fake = fake_of(runtime);
    uint32_t name = intern_find(fake->names, node);

    for (size_t i = 0; name != INTERN_NONE && i < fake->pods.count; i++) {
        const struct fake_pod *pod = &fake->pods.items[i];
        if (pod->is_used && pod->node == name) {
            fake_end(runtime, pod->run, RUNTIME_CAUSE_NODE_LOST, STR(""));
        }
    }
    return node_set_remove(fake->nodes, node);
}
