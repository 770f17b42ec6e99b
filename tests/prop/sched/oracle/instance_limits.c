/* Limits where gangs with terms run: on endless work, budgets, seats, limits
 * on starts. */
#include "instance.h"

/* Lifetimes that a budget of minutes is spent by, and deadlines: of all of a
 * gang alike. */
static void draw_times(struct tape *tape, struct instance *instance)
{
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (instance_take_times(instance, j)) {
            continue;
        }
        int way = pick(tape, 0, 4);
        job->lifetime = way == 0   ? job->lifetime
                        : way == 1 ? ENDLESS
                        : way == 2 ? pick(tape, 0, 10) * 200
                                   : pick(tape, 1, 5) * 60000;
        job->deadline = once_in(tape, 4) ? pick(tape, 1, 10) * 30000 : 0;
    }
}

void instance_draw_limits(struct tape *tape, struct instance *instance)
{
    instance->is_weighted = once_in(tape, 3);
    instance->half_ms = once_in(tape, 2) ? pick(tape, 1, 20) * 100 : 0;
    if (once_in(tape, 2)) {
        instance->over_share_percent = pick(tape, 0, 10) * 10;
    }
    if (once_in(tape, 2)) {
        instance->budget_minutes = pick(tape, 0, 4);
    }
    draw_times(tape, instance);
    if (once_in(tape, 3)) {
        instance_draw_seats(tape, instance);
    }
    if (once_in(tape, 3)) {
        instance_draw_rates(tape, instance);
    }
    instance_draw_more(tape, instance);
    /* Who goes away is near nobody: prop_locality holds that. */
    instance->away_level = instance->has_topology ? 0 : instance->away_level;
    /* What had ended before would have left its flow. */
    for (int j = 0; j < instance->job_count; j++) {
        instance->jobs[j].has_succeeded &= instance->half_ms == 0;
    }
}
