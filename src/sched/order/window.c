#include "sched/order/window.h"

#include "sched/fairness/admitted.h"

/* Those of at least this level that still wait; of one queue, or of all
 * (lane NULL). */
static uint32_t count_waiting(const struct round *round, uint32_t level,
                              const struct lane *lane)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct admission_entry *entry = &round->reserve.entries[i];
        count += !entry->is_done && entry->claim.level >= level &&
                 (!lane || entry->claim.lane == lane);
    }
    return count;
}

static bool has_room(const struct round *round, uint32_t level,
                     const struct lane *lane)
{
    const struct pool_policy *policy = window_policy(round);

    ASSERT(round->pool->admitted.count <= ADMITTED_MAX);
    return round->pool->admitted.count + round->reserve.count < ADMITTED_MAX &&
           count_waiting(round, level, NULL) < policy->admitted_window &&
           count_waiting(round, level, lane) <
               policy->admitted_window_per_queue;
}

bool window_is_open_at(const struct round *round, const struct lane *lane,
                       uint32_t level)
{
    ASSERT(round->reserve.count <= ADMITTED_MAX);
    return round->reserve.has_window && !round->is_filling &&
           has_room(round, level, lane);
}

bool window_is_open(const struct round *round, const struct lane *lane)
{
    return lane->head_count &&
           window_is_open_at(round, lane, lane_first(lane)->list_level);
}

bool window_bars(const struct round *round, const struct lane *lane)
{
    const struct pool_policy *policy = window_policy(round);

    if (!round->reserve.count || (policy->has_backfill && !policy->is_strict)) {
        return false;
    }
    uint32_t level = lane_first(lane)->list_level;
    return policy->is_strict ? !has_room(round, level, lane)
                             : count_waiting(round, level, NULL) > 0;
}

uint32_t window_first_of(const struct round *round, const struct lane *lane)
{
    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct admission_entry *entry = &round->reserve.entries[i];
        if (!entry->is_done && (!lane || entry->claim.lane == lane)) {
            return entry->claim.job;
        }
    }
    return NONE;
}

bool window_waits(const struct round *round)
{
    return window_first_of(round, NULL) != NONE;
}

bool window_has(const struct round *round, uint32_t item, bool is_gang)
{
    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct claim *claim = &round->reserve.entries[i].claim;
        if (claim->item == item && claim->is_gang == is_gang) {
            return true;
        }
    }
    return false;
}
