#include "sched/victims/budgets.h"

#include "sched/state/state.h"
#include "sched/victims/victims.h"

static uint32_t count_gang(const struct sched *sched, const struct gang *gang)
{
    uint32_t count = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        count += run->is_protected && run->state != RUN_PREEMPTED;
    }
    return count;
}

/* Of the members that a gang has on a node that it has whole. */
static uint32_t count_held(const struct sched *sched, uint32_t gang,
                           uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t at = sched->nodes.items[node].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        count += run->is_protected && run->state != RUN_PREEMPTED &&
                 sched->jobs.items[run->job].gang == gang;
    }
    return count;
}

void budgets_mark(const struct sched *sched, struct victim *victims,
                  uint32_t count)
{
    for (uint32_t i = 0; sched->protected_run_count && i < count; i++) {
        struct victim *victim = &victims[i];
        const struct run *run =
            &sched->runs.items[sched->jobs.items[victim->job].run];
        victim->protected_count =
            victim->gang != NONE
                ? count_gang(sched, &sched->gangs.items[victim->gang])
            : victim->is_held ? count_held(sched, victim->group, run->node)
                              : run->is_protected;
    }
}
