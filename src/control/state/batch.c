/* What a batch holds while it is formed and in flight. */
#include "control/state/batch.h"

bool batch_is_touched(const struct batch *batch, uint32_t job)
{
    return job / 64 < batch->touched.count &&
           (batch->touched.items[job / 64] >> (job % 64) & 1);
}

void batch_touch(struct batch *batch, uint32_t job)
{
    ASSERT(!batch->is_in_flight); /* what is in flight is decided */
    while (batch->touched.count <= job / 64) {
        VEC_PUSH(&batch->touched, 0);
    }
    batch->touched.items[job / 64] |= (uint64_t)1 << (job % 64);
    VEC_PUSH(&batch->touched_jobs, job);
}

/* Whether one of the first plans of a batch is a shard's. */
static bool batch_has_plan_of(const struct batch *batch, uint32_t shard,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (batch->planned.items[i] == shard) {
            return true;
        }
    }
    return false;
}

bool batch_is_sound(const struct batch *batch)
{
    size_t bit_count = 0;

    for (size_t i = 0; i < batch->touched.count; i++) {
        bit_count += (size_t)__builtin_popcountll(batch->touched.items[i]);
    }
    for (size_t i = 0; i < batch->touched_jobs.count; i++) {
        if (!batch_is_touched(batch, batch->touched_jobs.items[i])) {
            return false;
        }
    }
    for (size_t i = 1; i < batch->planned.count; i++) {
        if (batch_has_plan_of(batch, batch->planned.items[i], i)) {
            return false;
        }
    }
    return bit_count <= batch->touched_jobs.count &&
           batch->fresh.count >= batch->fresh_by_key.count;
}

void batch_clear(struct batch *batch)
{
    ASSERT(!batch->first); /* whoever waited for it was answered */
    for (size_t i = 0; i < batch->touched_jobs.count; i++) {
        batch->touched.items[batch->touched_jobs.items[i] / 64] = 0;
    }
    batch->touched_jobs.count = 0;
    batch->leaving.count = 0;
    batch->due.count = 0;
    batch->planned.count = 0;
    batch->quiet_count = 0;
    batch->fresh.count = 0;
    map_fini(&batch->fresh_by_key);
    log_batch_clear(&batch->log);
    arena_reset(&batch->arena);
    batch->first = batch->last = NULL;
    batch->decision_count = 0;
    batch->submit_count = 0;
    batch->fresh_node_count = 0;
    batch->is_in_flight = batch->is_told = batch->is_announcement = false;
    batch->changes_pools = batch->moves_nodes = batch->is_counted = false;
    batch->changes_windows = false;
    batch->deletes_a_queue = batch->has_training = false;
    batch->has_periodic = false;
}

void batch_keep(struct batch *batch, struct command *command)
{
    ASSERT(!batch->is_in_flight); /* it would be answered for another record */
    command->next = NULL;
    if (batch->last) {
        batch->last->next = command;
    } else {
        batch->first = command;
    }
    batch->last = command;
}
