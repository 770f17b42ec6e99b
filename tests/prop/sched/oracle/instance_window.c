/* Instances with a window for admitted work. */
#include "instance.h"

static const struct drawn_times DRAWN_MINUTES = {3, 5, 60000, 2, 10, 30000};
static const struct drawn_times DRAWN_SECONDS = {3, 10, 200, 3, 20, 100};

static void draw_knobs(struct tape *tape, struct instance *instance)
{
    instance->window = pick(tape, 1, 3);
    instance->window_per_queue = pick(tape, 1, 2);
    instance->is_strict = once_in(tape, 8);
    instance->has_backfill = !once_in(tape, 8);
    instance->delay_ms = once_in(tape, 3) ? pick(tape, 1, 300) : 0;
}

static void draw_order(struct tape *tape, struct instance *instance)
{
    instance->is_bounded = once_in(tape, 3);
    instance->is_aged = !instance->is_bounded && once_in(tape, 5);
    instance->is_shortest_first =
        !instance->is_bounded && !instance->is_aged && once_in(tape, 4);
}

void instance_draw_window(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    draw_knobs(tape, instance);
    draw_order(tape, instance);
    for (int j = 0; j < instance->job_count; j++) {
        instance->jobs[j].node = NO_NODE;
        instance->jobs[j].was_leased = false;
    }
    instance->delay_ms *= 1000;
    instance_draw_times(tape, instance, &DRAWN_MINUTES);
}

void instance_draw_list(struct tape *tape, struct instance *instance)
{
    draw_knobs(tape, instance);
    draw_order(tape, instance);
    instance->is_weighted = once_in(tape, 4);
    instance->half_ms = once_in(tape, 2) ? pick(tape, 1, 20) * 100 : 0;
    instance->short_cooldown = once_in(tape, 2) ? pick(tape, 1, 200) : 0;
    for (int j = 0; j < instance->job_count; j++) {
        instance->jobs[j].has_succeeded &= instance->half_ms == 0;
    }
    instance_draw_times(tape, instance, &DRAWN_SECONDS);
}

void instance_draw_profile(struct tape *tape, struct instance *instance)
{
    instance_draw_window(tape, instance);
    if (once_in(tape, 2)) { /* `berth` */
        instance->window = instance->window_per_queue = 1;
        instance->is_strict = false;
    } else { /* `flow` */
        instance->window = pick(tape, 1, 4);
        instance->window_per_queue = pick(tape, 1, 3);
        instance->is_strict = true;
        instance->is_weighted = true;
        instance->half_ms = pick(tape, 1, 20) * 60000;
        instance->over_share_percent = 20;
        instance->budget_minutes = pick(tape, 0, 4);
    }
    instance->has_backfill = true;
}

void instance_draw_stages(struct tape *tape, struct instance *instance)
{
    instance_draw_apps(tape, instance);
    for (int q = 0; q < instance->queue_count; q++) {
        if (!once_in(tape, 4)) {
            instance->queues[q].ordering = QUEUE_BY_STATEAWARE;
        }
    }
    draw_knobs(tape, instance);
    instance_draw_times(tape, instance, &DRAWN_MINUTES);
}
