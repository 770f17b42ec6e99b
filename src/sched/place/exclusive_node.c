#include "sched/place/exclusive_node.h"

#include <string.h>

#include "sched/state/sub_groups.h"

bool exclusive_node_is_kept(const struct round *round, uint32_t job,
                            uint32_t class_index, uint32_t node)
{
    const struct reserve *reserve = &round->reserve;

    if (!exclusive_is_any(round->sched) || (!reserve->hold && !reserve->own) ||
        !exclusive_node_serves(round->sched, job)) {
        return false;
    }
    const struct class *class = class_at(round, class_index);
    return reserve_pass_exclusive(round, reserve->hold, class, node) ==
               BACKFILL_NO ||
           reserve_pass_exclusive(round, reserve->own, class, node) ==
               BACKFILL_NO;
}

void exclusive_node_take(struct round *round, uint32_t gang, uint32_t node)
{
    struct node *item = &round->sched->nodes.items[node];

    /* A node that a gang has whole is given to no other. */
    ASSERT(!exclusive_node_holder(round->sched, item) ||
           exclusive_node_holder(round->sched, item) == gang + 1);
    item->planned_plan = round->sched->plan_count;
    item->planned_holder = gang + 1;
}

/* Whether the gang that holds a node has runs there that the plan leaves. */
static bool is_still_held(const struct sched *sched, const struct node *node)
{
    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (sched->jobs.items[run->job].gang + 1 == node->holder &&
            run->state != RUN_PREEMPTED) {
            return true;
        }
    }
    return false;
}

bool exclusive_node_is_unused(const struct sched *sched, uint32_t node)
{
    const struct node *item = &sched->nodes.items[node];

    return memcmp(&sched->free[node], &item->capacity,
                  sizeof(item->capacity)) == 0;
}

uint32_t exclusive_node_holder(const struct sched *sched,
                               const struct node *node)
{
    if (node->planned_plan == sched->plan_count) {
        return node->planned_holder;
    }
    return node->holder && is_still_held(sched, node) ? node->holder : 0;
}

/* The rule: a held node serves its gang only, and who would hold it must find
 * it empty; `own` and `holder` are 1 + a gang that has its nodes whole, or 0.
 */
static bool is_barred(const struct sched *sched, uint32_t holder, uint32_t own,
                      uint32_t node)
{
    return holder ? holder != own
                  : own && !exclusive_node_is_unused(sched, node);
}

/* 1 + the gang of a job, if that has its nodes whole, or 0. */
static uint32_t own_of(const struct sched *sched, uint32_t job)
{
    uint32_t gang = exclusive_gang_of(sched, job);

    return gang == NONE ? 0 : gang + 1;
}

bool exclusive_node_bars_indeed(const struct round *round, uint32_t job,
                                uint32_t node)
{
    return exclusive_node_opens_whole(round, own_of(round->sched, job), node);
}

bool exclusive_node_is_right(const struct sched *sched, uint32_t index)
{
    const struct node *node = &sched->nodes.items[index];
    uint32_t count = 0;
    bool is_any = false;

    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t gang = exclusive_gang_of(sched, sched->runs.items[at].job);
        is_any |= gang != NONE;
        count += gang != NONE && gang + 1 == node->holder;
    }
    return is_any == (node->holder != 0) && count == node->holder_count;
}

bool exclusive_node_opens_whole(const struct round *round, uint32_t own,
                                uint32_t node)
{
    const struct sched *sched = round->sched;
    uint32_t holder = exclusive_node_holder(sched, &sched->nodes.items[node]);

    return is_barred(sched, holder, own, node);
}

bool exclusive_node_keeps_from(const struct sched *sched, uint32_t job,
                               uint32_t node)
{
    return is_barred(sched, sched->nodes.items[node].holder, own_of(sched, job),
                     node);
}

bool exclusive_node_keeps_other(const struct sched *sched, bool is_whole,
                                uint32_t node)
{
    /* Its gang holds nothing here. */
    return is_barred(sched, sched->nodes.items[node].holder,
                     is_whole ? UINT32_MAX : 0, node);
}
