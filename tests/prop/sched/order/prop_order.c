/*
 * Queues that go by applications, over random histories.
 *
 *   - in a stateaware queue at most one application is Starting
 *   - work that only its queue's ordering kept back is not kept for ever:
 *     when all jobs run for a while and end, all of them have run
 *   - what a checkpoint carries makes the same state of the same jobs, and
 *     the same plans
 *   - the sums are right after every step
 */
#include <stdio.h>
#include <string.h>

#include "anew.h"
#include "prop.h"
#include "world.h"

enum { ACTS = 60, APPS = 5, JOBS = 40, ROUNDS = 400, MINUTE_MS = 60000 };

static const char *const app_names[APPS] = {"a", "b", "c", "d", "e"};
static const char *const gang_names[] = {NULL, NULL, NULL, "g", "h"};

struct history {
    struct world world;
    struct queue_record by;
    int64_t now_ms;
    int64_t cores;
    struct past past;
};

static void begin(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    world_init(w);
    pool_policy_apply(&w->policy.pools[0],
                      draw(tape, 0, 1) ? PROFILE_BERTH : PROFILE_ARMADA);
    world_restart(w);
    history->by = (struct queue_record){
        .ordering = (enum queue_ordering)draw(tape, 0, 3),
        .is_class_priority_ignored = draw(tape, 0, 1),
        .allows_stateaware_off = draw(tape, 0, 1),
        .running_apps_max = draw(tape, 0, 2) ? 0 : (uint32_t)draw(tape, 1, 3),
    };
    history->cores = (int64_t)draw(tape, 1, 12);
    history->now_ms = 0;
    past_begin(&history->past);
    world_queue_by(w, "Q", &history->by);
    world_node(w, &(struct world_node){"n", .cores = history->cores});
}

static void submit(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    int64_t cores_max = history->cores < 4 ? history->cores : 4;
    struct world_job job = {
        .queue = "Q",
        .application = app_names[draw(tape, 0, APPS - 1)],
        .priority_class = draw(tape, 0, 3) ? NULL : "high",
        .gang = gang_names[draw(tape, 0, 4)],
        .cores = (int64_t)draw(tape, 1, (uint64_t)cores_max),
        .priority = (uint32_t)draw(tape, 0, 2),
        .submitted_ms = history->now_ms,
        .has_stateaware_off = draw(tape, 0, 3) == 3,
    };

    if (w->job_count == JOBS) {
        return;
    }
    if (job.gang) {
        job.priority_class = NULL; /* a gang is of one class */
        /* One of several applications starts all of them at once. */
        if (history->by.running_apps_max ||
            history->by.ordering == QUEUE_BY_STATEAWARE) {
            job.application = job.gang;
        }
        job.cardinality = 2;
        job.cores = 1;
    }
    world_submit(w, &job);
}

static void end_or_requeue(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    uint64_t way = draw(tape, 0, 3);
    uint32_t job;

    if (w->job_count == 0) {
        return;
    }
    job = (uint32_t)draw(tape, 0, w->job_count - 1);
    if (w->is_gone[job]) {
        return;
    }
    if (way == 0 && w->node_of[job] != SCHED_NONE) {
        sched_job_requeue(w->sched, job, SCHED_NONE);
        w->node_of[job] = SCHED_NONE;
    } else if (way > 1 || w->node_of[job] != SCHED_NONE) {
        world_end(w, job);
    }
}

/* Whether the states are as the ordering promises. */
static bool states_hold(const struct history *history)
{
    auto_arena arena = {0};
    struct sched_application *list;
    uint32_t count = sched_applications(history->world.sched, 0,
                                        history->now_ms, &arena, &list);
    uint32_t starting_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        starting_count += list[i].state == SCHED_APP_STARTING;
    }
    return history->by.ordering != QUEUE_BY_STATEAWARE || starting_count <= 1;
}

static bool rebuilds(struct history *history)
{
    struct world *w = &history->world;
    struct world *fresh = mem_alloc(sizeof(*fresh));

    anew_begin(fresh, w, history->now_ms);
    world_queue_by(fresh, "Q", &history->by);
    world_node(fresh, &(struct world_node){"n", .cores = history->cores});
    anew_fill(fresh, w, &history->past);
    bool holds =
        anew_is_same(fresh, w) &&
        anew_plans_same(w->sched, fresh->sched, history->now_ms, ROUND_BALANCE);
    world_fini(fresh);
    mem_free(fresh);
    return holds;
}

static bool act(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    history->now_ms +=
        (int64_t)draw(tape, 0, 3) * (int64_t)draw(tape, 0, 100) * 1000;
    if (draw(tape, 0, 20) == 20) {
        history->now_ms +=
            73 * 60 * (int64_t)MINUTE_MS; /* beyond what is kept */
    }
    sched_set_time(w->sched, history->now_ms);
    switch (draw(tape, 0, 5)) {
    case 0:
    case 1:
    case 2:
        submit(history, tape);
        break;
    case 3:
        end_or_requeue(history, tape);
        break;
    default:
        world_round(w, (enum round_kind)draw(tape, 0, 1), history->now_ms);
        break;
    }
    past_note(&history->past, w, history->now_ms);
    return sched_is_consistent(w->sched) && states_hold(history);
}

/* All that runs ends, and the next may come; gangs that are not whole are
 * withdrawn. */
static bool everybody_runs(struct history *history)
{
    struct world *w = &history->world;

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t left_count = 0;
        world_round(w, ROUND_BALANCE, history->now_ms);
        for (uint32_t i = 0; i < w->job_count; i++) {
            struct sched_explanation why = {.wait = SCHED_WAIT_NOT};
            if (!w->is_gone[i] && w->node_of[i] != SCHED_NONE) {
                world_end(w, i);
            } else if (!w->is_gone[i]) {
                sched_explain(w->sched, i, history->now_ms, &why);
                if (why.wait == SCHED_WAIT_GANG ||
                    why.wait == SCHED_WAIT_GANG_CAPACITY) {
                    world_end(w, i);
                }
                left_count++;
            }
        }
        if (left_count == 0) {
            return true;
        }
        history->now_ms += MINUTE_MS;
    }
    return false;
}

static bool histories(struct tape *tape)
{
    struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    begin(history, tape);
    for (uint64_t left = draw(tape, 0, ACTS); holds && left > 0; left--) {
        holds = act(history, tape);
    }
    holds = holds && rebuilds(history) && everybody_runs(history) &&
            sched_is_consistent(history->world.sched);
    world_fini(&history->world);
    mem_free(history);
    return holds;
}

int main(void)
{
    return prop_check("histories", histories, 2000, 0) ? 0 : 1;
}
