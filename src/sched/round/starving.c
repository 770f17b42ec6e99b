#include "sched/round/starving.h"

#include "sched/order/window.h"

static const struct job *first_job(const struct round *round,
                                   const struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    bool is_gang = sched->lists.items[head->list].class_index == NONE;

    return &sched->jobs.items[is_gang ? sched->gangs.items[head->item].position
                                      : head->item];
}

/* Since when the lane's head waits and nothing stands before it in its queue;
 * `until_ms` or later: not so long.  What passed it does not count. */
static int64_t waits_since(const struct round *round, const struct lane *lane,
                           int64_t until_ms)
{
    const struct sched *sched = round->sched;
    const struct job *head = first_job(round, lane);
    int64_t since_ms = head->submitted_ms;

    for (uint32_t at = sched->queues.items[lane->queue].account_first;
         at != NONE && since_ms < until_ms;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        uint32_t next = account->pool == round->p ? account->run_first : NONE;
        while (next != NONE && since_ms < until_ms) {
            const struct run *run = &sched->runs.items[next];
            next = run->account_next;
            if (run->leased_ms > since_ms &&
                job_is_before(&sched->jobs.items[run->job], head)) {
                since_ms = run->leased_ms;
            }
        }
    }
    return since_ms;
}

/* The most urgent new work: nothing less urgent goes before it. */
static uint32_t top_level(const struct round *round)
{
    uint32_t level = 0;

    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        if (lane->head_count && lane->level[STREAM_NEW] > level) {
            level = lane->level[STREAM_NEW];
        }
    }
    return level;
}

struct lane *starving_next(struct round *round)
{
    const struct pool_policy *policy =
        &round->sched->policy->pools[round->pool->policy_index];
    int64_t best_ms = round->now_ms - policy->starved_after_ms;
    struct lane *best = NULL;

    if (!round->reserve.has_window || policy->starved_after_ms == 0) {
        return NULL;
    }
    uint32_t level = top_level(round);
    for (uint32_t i = 0; i < round->lane_count; i++) {
        struct lane *lane = &round->lanes[i];
        if (lane->is_rescued || !window_is_open(round, lane) ||
            lane->level[STREAM_NEW] != level) {
            continue;
        }
        int64_t since_ms = waits_since(round, lane, best_ms + 1);
        if (since_ms < best_ms ||
            (since_ms == best_ms && (!best || lane->rank < best->rank))) {
            best_ms = since_ms;
            best = lane;
        }
    }
    if (best) {
        best->is_rescued = true;
    }
    return best;
}
