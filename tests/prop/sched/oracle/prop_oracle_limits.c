/* The planner against the oracle where gangs with terms run and there are
 * limits: on endless work, budgets, seats, limits on starts. */
#include "rounds.h"

/* Gangs start, grow and shrink under limits, and give back what they were
 * charged. */
static bool agrees_on_limited_groups(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_limits(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* The same where what has no room is admitted, and reserved for. */
static bool agrees_on_limited_groups_that_wait(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_list(tape, &instance);
    instance_draw_limits(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* Sub-groups start and grow near what runs of them, within limits. */
static bool agrees_on_limited_groups_near(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_hops(tape, &instance);
    instance_draw_limits(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* Work of other pools goes by no limit on lasting work; all else goes by
 * limits beside it. */
static bool agrees_on_limited_borrowers(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    if (draw(tape, 0, 1)) {
        instance_draw_list(tape, &instance);
    }
    instance_draw_limits(tape, &instance);

    instance_lend(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* Nodes with GPUs are kept for jobs that ask for them, also from what is
 * admitted, reserved for, and preempts. */
static bool agrees_on_kept_gpus(struct tape *tape)
{
    struct instance instance;

    instance_draw(tape, &instance);
    instance_draw_gpus(tape, &instance);
    if (draw(tape, 0, 1)) {
        instance_draw_list(tape, &instance);
    }
    if (once_in(tape, 3)) {
        instance_draw_limits(tape, &instance);
    }
    return rounds_agree(tape, &instance);
}

int main(void)
{
    bool holds = prop_check("agrees_on_limited_groups",
                            agrees_on_limited_groups, 3000, 0);

    holds &= prop_check("agrees_on_limited_groups_that_wait",
                        agrees_on_limited_groups_that_wait, 3000, 0);
    holds &= prop_check("agrees_on_limited_groups_near",
                        agrees_on_limited_groups_near, 3000, 0);
    holds &= prop_check("agrees_on_limited_borrowers",
                        agrees_on_limited_borrowers, 3000, 0);
    holds &= prop_check("agrees_on_kept_gpus", agrees_on_kept_gpus, 3000, 0);
    return holds ? 0 : 1;
}
