/* The planner against the oracle where gangs with terms run. */
#include "sched/state.h"
#include "verdict.h"

enum { NOW = 1000 };

/* Surplus goes first, and what breaks a gang takes all of it. */
static bool agrees_on_running_groups(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    enum round_kind kind = (enum round_kind)draw(tape, 0, 1);

    instance_draw_groups(tape, &instance, kind == ROUND_FAST);
    built_init(&built, &instance, 0);
    built.sched->checks_victims = true;
    sched_set_time(built.sched, NOW);
    bool holds = verdict_is_same(&instance, &built, kind, NOW, &plan);
    built_fini(&built);
    return holds;
}

int main(void)
{
    return prop_check("agrees_on_running_groups", agrees_on_running_groups,
                      3000, 0)
               ? 0
               : 1;
}
