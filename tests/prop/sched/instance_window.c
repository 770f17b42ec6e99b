/* Instances with a window for admitted work. */
#include "instance.h"

static int pick(struct tape *tape, int low, int high)
{
    return (int)draw(tape, (uint64_t)low, (uint64_t)high);
}

/* True once in `n` times; false is the simpler case. */
static bool once_in(struct tape *tape, int n)
{
    return pick(tape, 0, n - 1) == n - 1;
}

void instance_draw_window(struct tape *tape, struct instance *instance)
{
    instance_draw(tape, instance);
    instance->window = pick(tape, 1, 3);
    instance->window_per_queue = pick(tape, 1, 2);
    instance->is_strict = once_in(tape, 8);
    instance->has_backfill = !once_in(tape, 8);
    instance->is_shortest_first = once_in(tape, 4);
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        const struct instance_job *head =
            job->gang ? &instance->jobs[job->gang - 1] : job;
        job->node = NO_NODE;
        job->was_leased = false;
        if (head != job) {
            job->lifetime = head->lifetime;
            job->deadline = head->deadline;
            continue;
        }
        if (once_in(tape, 2)) {
            job->lifetime =
                once_in(tape, 3) ? ENDLESS : pick(tape, 0, 5) * 60000;
        }
        job->deadline = once_in(tape, 2) ? pick(tape, 1, 10) * 30000 : 0;
    }
}

void instance_draw_list(struct tape *tape, struct instance *instance)
{
    instance->window = pick(tape, 1, 3);
    instance->window_per_queue = pick(tape, 1, 2);
    instance->is_strict = once_in(tape, 8);
    instance->has_backfill = !once_in(tape, 8);
    instance->is_shortest_first = once_in(tape, 4);
    instance->is_weighted = once_in(tape, 4);
    instance->half_ms = once_in(tape, 2) ? pick(tape, 1, 20) * 100 : 0;
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        const struct instance_job *head =
            job->gang ? &instance->jobs[job->gang - 1] : job;
        job->has_succeeded &= instance->half_ms == 0;
        if (head != job) {
            job->lifetime = head->lifetime;
            job->deadline = head->deadline;
            continue;
        }
        if (!job->has_terms && once_in(tape, 2)) {
            job->lifetime =
                once_in(tape, 3) ? ENDLESS : pick(tape, 0, 10) * 200;
        }
        job->deadline = once_in(tape, 3) ? pick(tape, 1, 20) * 100 : 0;
    }
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
    instance->window = pick(tape, 1, 3);
    instance->window_per_queue = pick(tape, 1, 2);
    instance->is_strict = once_in(tape, 8);
    instance->has_backfill = !once_in(tape, 8);
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        const struct instance_job *head =
            job->gang ? &instance->jobs[job->gang - 1] : job;
        if (head != job) {
            job->lifetime = head->lifetime;
            job->deadline = head->deadline;
            continue;
        }
        if (once_in(tape, 2)) {
            job->lifetime =
                once_in(tape, 3) ? ENDLESS : pick(tape, 0, 5) * 60000;
        }
        job->deadline = once_in(tape, 2) ? pick(tape, 1, 10) * 30000 : 0;
    }
}
