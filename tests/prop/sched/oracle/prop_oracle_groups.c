/* The planner against the oracle where gangs with terms run. */
#include "rounds.h"

/* Surplus goes first, what breaks a gang takes all of it, gangs grow and
 * shrink, and some have their nodes whole. */
static bool agrees_on_running_groups(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* The same where what has no room is admitted, and reserved for. */
static bool agrees_on_groups_that_wait(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_list(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* Sub-groups start and grow near what runs of them. */
static bool agrees_on_groups_near(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_hops(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* The same where what has no room is admitted, and reserved for. */
static bool agrees_on_groups_near_that_wait(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_list(tape, &instance);
    instance_draw_hops(tape, &instance);
    return rounds_agree(tape, &instance);
}

/* Work of other pools comes last and goes first. */
static bool agrees_on_borrowers(struct tape *tape)
{
    struct instance instance;

    if (draw(tape, 0, 1)) {
        instance_draw_groups(tape, &instance);
    } else {
        instance_draw(tape, &instance);
    }
    instance_draw_clusters(tape, &instance);
    if (draw(tape, 0, 1)) {
        instance_draw_list(tape, &instance);
    }
    instance_lend(tape, &instance);
    return rounds_agree(tape, &instance);
}

int main(void)
{
    bool holds = prop_check("agrees_on_running_groups",
                            agrees_on_running_groups, 3000, 0);

    holds &= prop_check("agrees_on_groups_that_wait",
                        agrees_on_groups_that_wait, 3000, 0);
    holds &=
        prop_check("agrees_on_groups_near", agrees_on_groups_near, 3000, 0);
    holds &= prop_check("agrees_on_groups_near_that_wait",
                        agrees_on_groups_near_that_wait, 3000, 0);
    holds &= prop_check("agrees_on_borrowers", agrees_on_borrowers, 3000, 0);
    return holds ? 0 : 1;
}
