/*
 * Gangs with terms, over random histories beside other work.
 *
 *   - a plan leaves none of a group, or as many of each sub-group as its
 *     minimum says, those that have succeeded counted; one that was below it
 *     before, since pods died, is left as it was, completed, or taken whole
 *   - nobody is on a node that a group has whole but the group
 *   - what a checkpoint carries makes the same state, and the same plans
 *   - planning again without acting on the plan gives the same
 *   - the sums are right after every step
 */
#include <string.h>

#include "anew.h"
#include "prop.h"
#include "sched/state/state.h"
#include "world.h"

enum { ACTS = 40, GROUPS = 6, NODE_COUNT = 6, JOBS = 120, SECOND = 1000 };

static const char *const queue_names[] = {"A", "B", "C"};
static const char *const node_names[NODE_COUNT] = {"n1", "n2", "n3",
                                                   "n4", "n5", "n6"};
static const char *const group_names[GROUPS] = {"g0", "g1", "g2",
                                                "g3", "g4", "g5"};
static const char *const gang_names[GROUPS] = {"x0", "x1", "x2",
                                               "x3", "x4", "x5"};
static const char *const classes[] = {NULL, NULL, "low", "high", "fixed"};

struct group {
    struct gang_terms terms;
    uint32_t first; /* job */
    uint32_t succeeded[SUB_GROUPS_MAX];
};

/* What runs or has succeeded of each sub-group. */
struct counts {
    uint32_t has[SUB_GROUPS_MAX], running;
};

struct history {
    struct world world;
    int64_t now_ms;
    double factors[ARRAY_COUNT(queue_names)];
    struct world_node nodes[NODE_COUNT];
    uint32_t node_count;
    struct group groups[GROUPS];
    uint32_t group_count, gang_count;
    struct past past;
};

static void begin(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    world_init(w);
    pool_policy_apply(&w->policy.pools[0],
                      draw(tape, 0, 1) ? PROFILE_BERTH : PROFILE_ARMADA);
    w->policy.pools[0].reservation_delay_ms = draw(tape, 0, 1) * 2000;
    world_restart(w);
    w->sched->checks_victims = true;
    for (size_t i = 0; i < ARRAY_COUNT(queue_names); i++) {
        history->factors[i] = draw(tape, 0, 3) ? 1 : 2;
        world_queue(w, queue_names[i], history->factors[i]);
    }
    history->node_count = (uint32_t)draw(tape, 1, NODE_COUNT);
    for (uint32_t i = 0; i < history->node_count; i++) {
        history->nodes[i] = (struct world_node){
            .name = node_names[i], .cores = (int64_t)draw(tape, 1, 6)};
        world_node(w, &history->nodes[i]);
    }
}

static const char *draw_queue(struct tape *tape)
{
    return queue_names[draw(tape, 0, ARRAY_COUNT(queue_names) - 1)];
}

static void submit_group(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    if (history->group_count == GROUPS || w->job_count + 20 > JOBS) {
        return;
    }
    struct group *group = &history->groups[history->group_count];
    group->terms = (struct gang_terms){
        .has_exclusive_nodes = draw(tape, 0, 2) == 2,
        .freezing_window_ms = draw(tape, 0, 1) ? 0 : 30 * SECOND,
        .sub_group_count = (uint32_t)draw(tape, 1, 3),
    };
    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        uint32_t max = (uint32_t)draw(tape, 1, 4);
        group->terms.sub_groups[i] = (struct sub_group){
            .name = STR("s"),
            .min_count = (uint32_t)draw(tape, i == 0, max),
            .max_count = max,
            .hops_max = HOPS_ANY,
        };
    }
    struct world_job job = {
        .queue = draw_queue(tape),
        .priority_class = classes[draw(tape, 0, ARRAY_COUNT(classes) - 1)],
        .cores = (int64_t)draw(tape, 1, 2),
        .gang = group_names[history->group_count++],
        .submitted_ms = history->now_ms,
    };
    group->first = world_submit_group(w, &job, &group->terms);
}

static void submit_other(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct world_job job = {
        .queue = draw_queue(tape),
        .priority_class = classes[draw(tape, 0, ARRAY_COUNT(classes) - 1)],
        .cores = (int64_t)draw(tape, 1, 3),
        .submitted_ms = history->now_ms,
    };
    uint32_t count = (uint32_t)draw(tape, 1, 3);

    if (w->job_count + count > JOBS) {
        return;
    }
    if (draw(tape, 0, 3) == 3 && count > 1 && history->gang_count < GROUPS) {
        job.gang = gang_names[history->gang_count++];
        job.cardinality = count;
        job.minimum = (uint32_t)draw(tape, 1, count);
    }
    world_submit_many(w, &job, count);
}

/* The group and the sub-group of a job, or NULL. */
static struct group *group_of(struct history *history, uint32_t job,
                              uint32_t *ret_sub_group)
{
    for (uint32_t g = 0; g < history->group_count; g++) {
        struct group *group = &history->groups[g];
        uint32_t first = group->first;
        for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
            first += group->terms.sub_groups[i].max_count;
            if (job >= group->first && job < first) {
                *ret_sub_group = i;
                return group;
            }
        }
    }
    return NULL;
}

/* A job that runs ends: it succeeds, dies, or waits again. */
static void end_or_requeue(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    uint64_t way = draw(tape, 0, 2);
    uint32_t sub_group;

    if (w->job_count == 0) {
        return;
    }
    uint32_t job = (uint32_t)draw(tape, 0, w->job_count - 1);
    if (w->is_gone[job] || w->node_of[job] == SCHED_NONE) {
        return;
    }
    struct group *group = group_of(history, job, &sub_group);
    if (way == 0) {
        sched_job_succeeded(w->sched, job);
        if (group) {
            group->succeeded[sub_group]++;
        }
    }
    if (way == 2) {
        sched_job_requeue(w->sched, job, SCHED_NONE);
        w->node_of[job] = SCHED_NONE;
    } else {
        world_end(w, job);
    }
}

static struct counts count_group(const struct world *w,
                                 const struct group *group)
{
    struct counts counts = {0};
    uint32_t first = group->first;

    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        uint32_t max = group->terms.sub_groups[i].max_count;
        uint32_t running = world_running_of(w, first, max);
        counts.has[i] = running + group->succeeded[i];
        counts.running += running;
        first += max;
    }
    return counts;
}

static bool is_left_well(const struct group *group, const struct counts *before,
                         const struct counts *after)
{
    bool is_whole = true, is_as_it_was = before->running > 0;

    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        uint32_t minimum = group->terms.sub_groups[i].min_count;
        is_whole &= after->has[i] >= minimum;
        is_as_it_was &=
            after->has[i] >= minimum || after->has[i] == before->has[i];
        /* None of what was above it is below it now. */
        is_as_it_was &= before->has[i] < minimum || after->has[i] >= minimum;
    }
    return after->running == 0 || is_whole || is_as_it_was;
}

/* Whether a node that a group has whole is nobody else's. */
static bool are_nodes_exclusive(struct history *history)
{
    const struct world *w = &history->world;
    const struct group *owners[NODE_COUNT] = {NULL};
    bool is_used[NODE_COUNT] = {false};
    uint32_t sub_group;

    for (uint32_t i = 0; i < w->job_count; i++) {
        if (w->is_gone[i] || w->node_of[i] == SCHED_NONE) {
            continue;
        }
        uint32_t node = w->node_of[i];
        const struct group *group = group_of(history, i, &sub_group);
        const struct group *owner =
            group && group->terms.has_exclusive_nodes ? group : NULL;
        if (is_used[node] && owners[node] != owner) {
            return false;
        }
        is_used[node] = true;
        owners[node] = owner;
    }
    return true;
}

static bool plan(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    enum round_kind kind = draw(tape, 0, 2) ? ROUND_BALANCE : ROUND_FAST;
    struct counts before[GROUPS];
    bool holds = anew_plans_same(w->sched, w->sched, history->now_ms, kind);

    for (uint32_t g = 0; g < history->group_count; g++) {
        before[g] = count_group(w, &history->groups[g]);
    }
    world_round(w, kind, history->now_ms);
    for (uint32_t g = 0; g < history->group_count; g++) {
        struct counts after = count_group(w, &history->groups[g]);
        holds &= is_left_well(&history->groups[g], &before[g], &after);
    }
    return holds && are_nodes_exclusive(history);
}

/* The planner made anew of jobs, leases and what a checkpoint carries. */
static bool rebuilds(struct history *history)
{
    struct world *w = &history->world;
    struct world *fresh = mem_alloc(sizeof(*fresh));

    anew_begin(fresh, w, history->now_ms);
    for (uint32_t i = 0; i < w->queue_count; i++) {
        world_queue(fresh, w->queue_names[i], history->factors[i]);
    }
    for (uint32_t i = 0; i < history->node_count; i++) {
        world_node(fresh, &history->nodes[i]);
    }
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
    bool holds = true;

    history->now_ms += (int64_t)draw(tape, 0, 20) * SECOND;
    sched_set_time(w->sched, history->now_ms);
    switch (draw(tape, 0, 6)) {
    case 0:
    case 1:
        submit_group(history, tape);
        break;
    case 2:
        submit_other(history, tape);
        break;
    case 3:
        end_or_requeue(history, tape);
        break;
    default:
        holds = plan(history, tape);
        break;
    }
    past_note(&history->past, w, history->now_ms);
    return holds && sched_is_consistent(w->sched);
}

static bool groups(struct tape *tape)
{
    struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    past_begin(&history->past);
    begin(history, tape);
    for (uint64_t left = draw(tape, 0, ACTS); holds && left > 0; left--) {
        holds = act(history, tape);
    }
    holds = holds && rebuilds(history);
    world_fini(&history->world);
    mem_free(history);
    return holds;
}

int main(void)
{
    return prop_check("groups", groups, 2000, 0) ? 0 : 1;
}
