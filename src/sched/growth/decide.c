/* Turns the result of a growth step into decisions. */
#include "sched/growth/growth.h"
#include "sched/order/order.h"

/* A gang that the plan starts is not scaled by it. */
static void decide(struct growth *growth, const struct growth_part *part,
                   uint32_t index, uint32_t for_job)
{
    struct round *round = growth->round;
    struct sched *sched = round->sched;
    const struct growth_team *team = growth_team_of(growth, part);
    const struct growth_change *change = &growth->changes.items[index];
    const struct class *class = class_at(round, change->class_index);

    /* What starts waits, and what goes runs. */
    ASSERT(change->is_lease == (sched->jobs.items[change->job].run == NONE));
    if (change->is_lease && team->lane->is_stepwise) {
        order_leased(round, change->job);
    }
    round_decide(round,
                 (struct sched_decision){
                     .action = change->is_lease ? SCHED_LEASE : SCHED_PREEMPT,
                     .preemption = change->is_lease ? SCHED_PREEMPT_NONE
                                                    : SCHED_PREEMPT_SCALED,
                     .job = change->job,
                     .node = change->node,
                     .priority = change->is_lease
                                     ? sched->level_priority[class->level]
                                     : 0,
                     .for_job = for_job,
                     .is_scaling = team->gang->leased.count > 0,
                 });
    sched->gangs.items[sched->jobs.items[change->job].gang].planned =
        sched->plan_count;
}

/* All that becomes of a unit, in the order in which it did. */
static void decide_part(struct growth *growth, const struct growth_part *part,
                        uint32_t *scratch, uint32_t for_job)
{
    uint32_t count = 0;

    for (uint32_t at = part->change; at != NONE;
         at = growth->changes.items[at].previous) {
        scratch[count++] = at;
    }
    ASSERT(count <= growth->changes.count); /* each is of one part */
    while (count > 0) {
        decide(growth, part, scratch[--count], for_job);
    }
}

/* A pod that moved: one was taken, then another took its room. */
static bool is_move(const struct growth *growth)
{
    return growth->changes.count == 2 && !growth->changes.items[0].is_lease &&
           growth->changes.items[1].is_lease;
}

void growth_decide_all(struct growth *growth)
{
    struct round *round = growth->round;
    uint32_t *scratch = arena_alloc_array(
        round->arena, growth->changes.count + 1, sizeof(*scratch));
    bool has_moved = is_move(growth);
    size_t first = round->sched->decisions.count;

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < growth->unit_count; i++) {
            const struct growth_part *part = growth_part_of(growth, i);
            if (part->change == NONE ||
                growth->changes.items[part->change].is_lease != (pass == 1)) {
                continue;
            }
            decide_part(growth, part, scratch,
                        has_moved && pass == 0 ? growth->changes.items[1].job
                                               : NONE);
            round->group += !has_moved || pass == 1;
        }
    }
    ASSERT(round->sched->decisions.count - first == growth->changes.count);
}
