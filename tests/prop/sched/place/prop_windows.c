/*
 * Maintenance windows, over random histories.
 *
 *   - no job starts that could run into a window: one with a limit that might
 *     not end before, one without in the lead, nor any in the window itself
 *   - to a class, a node that closes too early is like one with a taint that it
 *     does not tolerate: the planner decides the same
 *
 * The second is asked under a profile that reserves nothing, for a reservation
 * also looks at windows of later times.
 */
#include <stdio.h>

#include "drawn.h"
#include "prop.h"
#include "sched/state/state.h"
#include "unit.h"
#include "world.h"

enum {
    NODES = 6,
    ACTS = 60,
    JOBS = 120,
    RUNS = 1500,
    MS = 1000,
    SHORT_S = 40,
    LONG_S = 400,
};

static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4", "n5"};

struct window {
    int64_t closes_s, lead_s; /* 0: none */
};

struct history {
    struct world world, twin; /* the twin has taints instead */
    bool has_twin;
    int64_t cores[NODES];
    struct window windows[NODES];
    int64_t now_s;
    int gang_count;
    char gangs[JOBS][8];
};

/* Whether what has this limit (0: none) may start there now. */
static bool may_start(const struct history *history, int node,
                      int64_t deadline_s)
{
    const struct window *window = &history->windows[node];

    if (window->closes_s == 0) {
        return true;
    }
    return deadline_s ? history->now_s + deadline_s <= window->closes_s
                      : history->now_s < window->closes_s - window->lead_s;
}

/* The twin's taint: jobs of the short limit tolerate "late", nobody "shut". */
static const char *taint_of(const struct history *history, int node)
{
    if (!may_start(history, node, SHORT_S)) {
        return "shut";
    }
    return may_start(history, node, LONG_S) ? NULL : "late";
}

static void tell_node(struct history *history, int node)
{
    const struct window *window = &history->windows[node];
    struct world_node record = {.name = names[node],
                                .cores = history->cores[node]};

    if (history->has_twin) {
        record.taint = taint_of(history, node);
        world_node(&history->twin, &record);
        record.taint = NULL;
    }
    record.closes_s = window->closes_s;
    record.endless_closes_s = window->closes_s - window->lead_s;
    world_node(&history->world, &record);
}

static void submit(struct history *history, struct tape *tape)
{
    static const char *const queues[] = {"A", "B", "C"};
    bool is_short = !once_in(tape, 2);
    struct world_job job = {
        .queue = queues[draw(tape, 0, 2)],
        .priority_class = drawn_class(tape, 2),
        .cores = pick(tape, 1, 8),
        .deadline_s = is_short ? SHORT_S : LONG_S,
        .tolerated = is_short ? "late" : NULL,
        .submitted_ms = history->world.job_count,
    };
    uint32_t count = 1;

    if (!history->has_twin && once_in(tape, 4)) {
        job.deadline_s = 0;
    }
    if (once_in(tape, 3)) {
        count = (uint32_t)pick(tape, 2, 3);
        char *name = history->gangs[history->gang_count];
        (void)snprintf(name, sizeof(history->gangs[0]), "g%d",
                       history->gang_count++);
        job.gang = name;
        job.cardinality = job.minimum = count;
    }
    if (history->world.job_count + count <= JOBS) {
        world_submit_many(&history->world, &job, count);
        if (history->has_twin) {
            world_submit_many(&history->twin, &job, count);
        }
    }
}

static int node_number(const struct world *world, uint32_t job)
{
    for (int i = 0; i < NODES; i++) {
        if (strcmp(world_node_of(world, job), names[i]) == 0) {
            return i;
        }
    }
    return NODES;
}

static bool are_equal(const struct history *history)
{
    for (uint32_t j = 0; j < history->world.job_count; j++) {
        if (history->world.is_gone[j] != history->twin.is_gone[j] ||
            (!history->world.is_gone[j] &&
             strcmp(world_node_of(&history->world, j),
                    world_node_of(&history->twin, j)) != 0)) {
            return false;
        }
    }
    return true;
}

static bool plan(struct history *history, enum round_kind kind)
{
    bool was_running[JOBS];
    bool holds = true;

    for (uint32_t j = 0; j < history->world.job_count; j++) {
        was_running[j] = history->world.node_of[j] != SCHED_NONE;
    }
    for (int i = 0; history->has_twin && i < NODES; i++) {
        tell_node(history, i); /* time has closed some */
    }
    world_round(&history->world, kind, history->now_s * MS);
    if (history->has_twin) {
        world_round(&history->twin, kind, history->now_s * MS);
        holds = are_equal(history);
    }
    for (uint32_t j = 0; holds && j < history->world.job_count; j++) {
        bool is_new = !was_running[j] && !history->world.is_gone[j] &&
                      history->world.node_of[j] != SCHED_NONE;
        holds = !is_new || may_start(history, node_number(&history->world, j),
                                     history->world.records[j].deadline_s);
    }
    return holds && sched_is_consistent(history->world.sched);
}

static void end_job(struct history *history, uint32_t job)
{
    if (!history->world.is_gone[job] &&
        history->world.node_of[job] != SCHED_NONE) {
        world_end(&history->world, job);
        if (history->has_twin) {
            world_end(&history->twin, job);
        }
    }
}

static void change_window(struct history *history, struct tape *tape)
{
    int node = pick(tape, 0, NODES - 1);

    history->windows[node] = (struct window){0};
    if (!once_in(tape, 4)) {
        history->windows[node] = (struct window){
            history->now_s + pick(tape, 1, 2 * LONG_S),
            pick(tape, 0, LONG_S),
        };
    }
    tell_node(history, node);
}

static bool act(struct history *history, struct tape *tape)
{
    switch (draw(tape, 0, 5)) {
    case 0:
        change_window(history, tape);
        return true;
    case 1:
        history->now_s += pick(tape, 1, LONG_S / 4);
        return true;
    case 2:
        if (history->world.job_count > 0) {
            end_job(history,
                    (uint32_t)draw(tape, 0, history->world.job_count - 1));
        }
        return true;
    case 3:
    case 4:
        submit(history, tape);
        return true;
    default:
        return plan(history, (enum round_kind)draw(tape, 0, 1));
    }
}

static void begin(struct world *world, enum pool_profile profile)
{
    world_init(world);
    world_apply(&world->policy.pools[0], profile);
    world_restart(world);
    world_queue(world, "A", 1);
    world_queue(world, "B", 2);
    world_queue(world, "C", 1);
}

static bool play(struct tape *tape, bool has_twin)
{
    struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    *history = (struct history){.has_twin = has_twin, .now_s = 1};
    begin(&history->world, has_twin ? PROFILE_ARMADA : PROFILE_BERTH);
    if (has_twin) {
        begin(&history->twin, PROFILE_ARMADA);
    }
    for (int i = 0; i < NODES; i++) {
        history->cores[i] = pick(tape, 4, 16);
        tell_node(history, i);
    }
    for (uint64_t left = draw(tape, 0, ACTS); holds && left > 0; left--) {
        holds = act(history, tape);
    }
    holds = holds && plan(history, ROUND_BALANCE) && plan(history, ROUND_FAST);
    world_fini(&history->world);
    if (has_twin) {
        world_fini(&history->twin);
    }
    mem_free(history);
    return holds;
}

static bool nothing_runs_into_a_window(struct tape *tape)
{
    return play(tape, false);
}

static bool windows_are_like_taints(struct tape *tape)
{
    return play(tape, true);
}

int main(void)
{
    bool holds = prop_check("nothing_runs_into_a_window",
                            nothing_runs_into_a_window, RUNS, 0);

    holds &=
        prop_check("windows_are_like_taints", windows_are_like_taints, RUNS, 0);
    return holds ? 0 : 1;
}
