/* Questions about a round as a whole: when to plan again, the shares of queues
 * at its beginning, and the evicted work. */
#include "sched/order/round.h"

void round_wake_by(struct round *round, int64_t when_ms)
{
    round->wake_ms = when_ms < round->wake_ms ? when_ms : round->wake_ms;
}

const struct share *round_shares(struct round *round, uint32_t *ret_count)
{
    if (!round->shares) {
        round->shares = shares_of(round->sched, round->what_if, round->p,
                                  round->arena, &round->share_count);
    }
    *ret_count = round->share_count;
    return round->shares;
}

enum run_state evict_state(const struct round *round, const struct unit *unit)
{
    const struct run *runs = round->sched->runs.items;

    ASSERT_SLOW(unit->member_first + unit->member_count <=
                round->units.member_count);
    for (uint32_t m = 0; m < unit->member_count; m++) {
        enum run_state state =
            runs[round->units.members[unit->member_first + m].run].state;
        if (state != RUN_PREEMPTED) {
            return state;
        }
    }
    return RUN_PREEMPTED;
}
