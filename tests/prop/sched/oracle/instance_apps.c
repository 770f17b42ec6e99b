/* The states of applications (model.md 3.3). */
#include "instance.h"

enum { STARTING_MS = 300000, COMPLETING_MS = 30000 };

void instance_apps_advance(struct instance *instance, int now)
{
    for (int i = 0; i < instance->queue_count * INSTANCE_APPS_MAX; i++) {
        struct app_note *app = &instance->queues[i / INSTANCE_APPS_MAX]
                                    .apps[i % INSTANCE_APPS_MAX];
        if (app->state == SCHED_APP_STARTING &&
            now - app->since >= STARTING_MS) {
            app->state = SCHED_APP_RUNNING;
            app->since += STARTING_MS;
        } else if (app->state == SCHED_APP_COMPLETING &&
                   now - app->since >= COMPLETING_MS) {
            app->state = SCHED_APP_COMPLETED;
            app->since += COMPLETING_MS;
        }
    }
}

enum sched_app_state instance_app_leased(enum sched_app_state state)
{
    return state == SCHED_APP_ACCEPTED   ? SCHED_APP_STARTING
           : state == SCHED_APP_STARTING ? SCHED_APP_RUNNING
                                         : state;
}

static enum sched_app_state state_after(const struct instance *instance,
                                        const struct instance_job *job,
                                        enum sched_app_state state,
                                        enum app_happening what)
{
    int asks = 0, allocations = 0;

    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *other = &instance->jobs[j];
        if (other->is_there && other->queue == job->queue &&
            other->app == job->app) {
            asks += other->node == NO_NODE;
            allocations += other->node != NO_NODE;
        }
    }
    if (what == APP_ASKS) {
        return state == SCHED_APP_NEW || state == SCHED_APP_COMPLETED
                   ? SCHED_APP_ACCEPTED
               : state == SCHED_APP_COMPLETING ? SCHED_APP_RUNNING
                                               : state;
    }
    if (what == APP_GETS) {
        return instance_app_leased(state);
    }
    if (asks + allocations == 0) {
        return SCHED_APP_COMPLETING;
    }
    /* It starts anew when it lost the one that it started with. */
    return state == SCHED_APP_STARTING && allocations == 0 ? SCHED_APP_ACCEPTED
                                                           : state;
}

static bool is_first(const struct instance *instance, int a, int b)
{
    int x = instance->jobs[a].submitted, y = instance->jobs[b].submitted;

    return x != y ? x < y : a < b;
}

void instance_app_event(struct instance *instance, int index,
                        enum app_happening what, int now)
{
    const struct instance_job *job = &instance->jobs[index];
    struct instance_queue *queue = &instance->queues[job->queue];
    struct app_note *app = &queue->apps[job->app];

    instance_apps_advance(instance, now);
    enum sched_app_state state = state_after(instance, job, app->state, what);
    if (what == APP_ASKS) {
        /* One that was over is submitted anew. */
        bool is_new =
            app->state == SCHED_APP_NEW || app->state == SCHED_APP_COMPLETED;
        app->first = is_new || is_first(instance, index, app->first)
                         ? index
                         : app->first;
        app->is_off = job->is_off || (app->is_off && !is_new);
    }
    if (state == SCHED_APP_STARTING && app->state != state && app->is_off &&
        queue->allows_off) {
        state = SCHED_APP_RUNNING;
    }
    app->since = state == app->state ? app->since : now;
    app->state = state;
}
