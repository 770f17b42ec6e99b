#include "executor/loop/executor_private.h"

void executor_mark(struct executor *executor, uint32_t index)
{
    if (!executor->runs.items[index].is_dirty) {
        executor->runs.items[index].is_dirty = true;
        VEC_PUSH(&executor->dirty, index);
    }
}

struct run *executor_find(struct executor *executor, struct run_id id,
                          uint32_t *ret_index)
{
    *ret_index = map_find(&executor->by_id, id.v);
    return *ret_index == MAP_NONE ? NULL : &executor->runs.items[*ret_index];
}

/* The texts of a run, copied behind one another. */
static void set_texts(struct run *run, const struct str texts[RUN_TEXTS])
{
    struct str *const into[RUN_TEXTS] = {
        [RUN_QUEUE] = &run->queue,
        [RUN_JOB_SET] = &run->job_set,
        [RUN_NAMESPACE] = &run->namespace_,
        [RUN_POD_NAME] = &run->pod_name,
        [RUN_NODE_NAME] = &run->node_name,
        [RUN_POOL] = &run->pool,
        [RUN_USER] = &run->user,
    };
    size_t byte_count = 1;

    for (int i = 0; i < RUN_TEXTS; i++) {
        byte_count += texts[i].byte_count;
    }
    run->texts = mem_alloc(byte_count);
    char *p = run->texts;
    for (int i = 0; i < RUN_TEXTS; i++) {
        if (texts[i].byte_count > 0) {
            memcpy(p, texts[i].p, texts[i].byte_count);
        }
        *into[i] = str_make(p, texts[i].byte_count);
        p += texts[i].byte_count;
    }
}

uint32_t executor_add(struct executor *executor, struct run_id id,
                      struct job_id job, const struct str texts[RUN_TEXTS])
{
    uint32_t index = SLOTS_TAKE(&executor->runs);
    struct run *run = &executor->runs.items[index];

    *run = (struct run){.row.id = id, .job = job, .is_used = true};
    set_texts(run, texts);
    (void)map_put(&executor->by_id, id.v, index);
    VEC_PUSH(&executor->added, id);
    executor->stats.run_count++;
    executor_mark(executor, index);
    return index;
}

void executor_drop_lease(struct executor *executor, struct run *run)
{
    executor_undefer(executor, run);
    if (run->lease_arena) {
        arena_fini(run->lease_arena);
        mem_free(run->lease_arena);
        run->lease_arena = NULL;
        run->lease = NULL;
        executor->waiting_count--;
    }
}

void executor_remove(struct executor *executor, uint32_t index)
{
    struct run *run = &executor->runs.items[index];

    executor_drop_lease(executor, run);
    node_capacity_drop(executor->capacity, &run->share);
    (void)map_remove(&executor->by_id, run->row.id.v);
    VEC_PUSH(&executor->removed, run->row.id);
    mem_free(run->texts);
    mem_free(run->text);
    mem_free(run->warnings);
    *run = (struct run){0};
    SLOTS_GIVE(&executor->runs, index);
    executor->stats.run_count--;
}

void executor_remember(struct executor *executor, struct run_id id)
{
    uint32_t at = executor->forgotten_next;

    if (executor->forgotten_count == EXECUTOR_FORGOTTEN_MAX) {
        (void)map_remove(&executor->is_forgotten, executor->forgotten[at].v);
    } else {
        executor->forgotten_count++;
    }
    executor->forgotten[at] = id;
    executor->forgotten_next = (at + 1) % EXECUTOR_FORGOTTEN_MAX;
    (void)map_put(&executor->is_forgotten, id.v, at);
}
