/*
 * Groups with all of it on, over random histories: minimums, growth, whole
 * nodes, hops, borrowers.
 *
 *   - what prop_groups says of minimums and whole nodes, beside the rest
 *   - no cap on hops is crossed; one that ends after a wait is not before
 *   - growth takes no free room that a waiting minimum would fit in (6.5
 *     step 4)
 *   - borrowers preempt nobody (5.6)
 *   - a planner made anew of jobs, leases and a checkpoint plans the same
 *
 * That plans come to an end says prop_end.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anew.h"
#include "drawn.h"
#include "prop.h"
#include "sched/state/state.h"
#include "sched/state/topology.h"
#include "unit.h"
#include "world.h"

enum {
    ACTS = 40,
    JOBS = 160,
    GROUPS = 16,
    NODES = 8,
    RUNS = 1200,
};

struct group {
    struct gang_terms terms;
    char id[16];
    uint32_t first, count;
    uint32_t succeeded[SUB_GROUPS_MAX];
    bool is_hurt; /* a member was lost by itself, and not yet replaced */
    bool is_gone;
    bool is_borrowed;
    int64_t since_ms; /* it waits, or a member last lost its place */
};

struct history {
    struct world world;
    struct group groups[GROUPS];
    uint32_t group_count;
    uint32_t nodes[NODES];
    int64_t cores[NODES];
    uint32_t node_count;
    int64_t now_ms;
    struct past past;
    uint32_t group_of[JOBS]; /* or GROUPS */
    uint32_t sub_group_of[JOBS];
    uint32_t was_on[JOBS]; /* node before the last plan; or SCHED_NONE */
};

/* Drawing. */

static void set_node(const struct history *history, struct world *world,
                     uint32_t i)
{
    static const char *const names[] = {"n0", "n1", "n2", "n3",
                                        "n4", "n5", "n6", "n7"};
    struct label labels[] = {
        {STR("agg"), i % 4 < 2 ? STR("x") : STR("y")},
        {STR("leaf"), i % 2 ? STR("odd") : STR("even")},
    };

    (void)world_node(world,
                     &(struct world_node){names[i], history->cores[i],
                                          .labels = labels, .label_count = 2});
}

static void begin(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct pool_policy *pool = &w->policy.pools[0];

    memset(history, 0, sizeof(*history));
    world_init(w);
    if (once_in(tape, 2)) {
        pool_policy_apply(pool, PROFILE_BERTH);
        pool->reservation_delay_ms = once_in(tape, 2) ? 0 : 3000;
    }
    if (once_in(tape, 2)) {
        pool->topology[0] = STR("leaf");
        pool->topology[1] = STR("agg");
        pool->level_count = 2;
    }
    world_restart(w);
    w->sched->checks_victims = true;
    history->node_count = (uint32_t)draw(tape, 1, NODES);
    for (uint32_t i = 0; i < history->node_count; i++) {
        history->cores[i] = (int64_t)draw(tape, 1, 6);
        set_node(history, w, i);
        history->nodes[i] = i;
    }
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
}

static void submit_group(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;
    struct group *group = &history->groups[history->group_count];

    if (history->group_count == GROUPS || w->job_count + 12 > JOBS) {
        return;
    }
    *group = (struct group){.is_borrowed = once_in(tape, 6),
                            .since_ms = history->now_ms};
    drawn_terms(tape, &(struct drawn_terms){3, 3, true}, &group->terms);
    (void)snprintf(group->id, sizeof(group->id), "g%u", history->group_count);
    struct world_job member = {
        .queue = draw(tape, 0, 1) ? "B" : "A",
        .gang = group->id,
        .cores = (int64_t)draw(tape, 1, 3),
        .priority_class = drawn_class(tape, 2),
        .submitted_ms = history->now_ms,
        .is_borrowed = group->is_borrowed,
    };
    group->first = world_submit_group(w, &member, &group->terms);
    group->count = w->job_count - group->first;
    uint32_t job = group->first;
    for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
        for (uint32_t i = 0; i < group->terms.sub_groups[s].max_count; i++) {
            history->group_of[job] = history->group_count;
            history->sub_group_of[job++] = s;
        }
    }
    history->group_count++;
}

static void submit_job(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    if (w->job_count == JOBS) {
        return;
    }
    history->group_of[w->job_count] = GROUPS;
    (void)world_submit(w, &(struct world_job){
                              .queue = draw(tape, 0, 1) ? "B" : "A",
                              .cores = (int64_t)draw(tape, 1, 4),
                              .priority_class = drawn_class(tape, 2),
                              .submitted_ms = history->now_ms,
                              .is_borrowed = once_in(tape, 4),
                          });
}

/* A job ends, well or not, or waits again. */
static void lose_one(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    if (w->job_count == 0) {
        return;
    }
    uint32_t job = (uint32_t)draw(tape, 0, w->job_count - 1);
    bool runs = !w->is_gone[job] && w->node_of[job] != SCHED_NONE;
    uint32_t g = history->group_of[job];
    uint64_t way = draw(tape, 0, 2);
    if (!runs) {
        return;
    }
    if (way == 0) {
        bool avoids = once_in(tape, 2);
        history->past.avoided[job] |= avoids ? 1u << w->node_of[job] : 0;
        sched_job_requeue(w->sched, job, avoids ? w->node_of[job] : SCHED_NONE);
        w->node_of[job] = SCHED_NONE;
        if (g < GROUPS) {
            history->groups[g].is_hurt = true;
            history->groups[g].since_ms = history->now_ms;
        }
        return;
    }
    if (g < GROUPS && way == 1) {
        sched_job_succeeded(w->sched, job);
        history->groups[g].succeeded[history->sub_group_of[job]]++;
    } else if (g < GROUPS) {
        history->groups[g].is_hurt = true;
    }
    world_end(w, job);
}

static void end_group(struct history *history, struct tape *tape)
{
    if (history->group_count == 0) {
        return;
    }
    struct group *group =
        &history->groups[draw(tape, 0, history->group_count - 1)];

    group->is_gone = true;
    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        if (!history->world.is_gone[i]) {
            world_end(&history->world, i);
        }
    }
}

/* What must hold. */

static bool runs(const struct history *history, uint32_t job)
{
    return !history->world.is_gone[job] &&
           history->world.node_of[job] != SCHED_NONE;
}

static int64_t free_on(const struct history *history, uint32_t node)
{
    const struct world *w = &history->world;
    int64_t left = history->cores[node];

    for (uint32_t i = 0; i < w->job_count; i++) {
        left -=
            runs(history, i) && w->node_of[i] == node ? w->records[i].cores : 0;
    }
    return left;
}

static bool has_minimum(struct history *history, struct group *group)
{
    bool is_any = false, is_whole = true;
    uint32_t job = group->first;

    for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
        const struct sub_group *sub = &group->terms.sub_groups[s];
        uint32_t count = group->succeeded[s];
        for (uint32_t i = 0; i < sub->max_count; i++, job++) {
            count += runs(history, job);
            is_any |= runs(history, job);
        }
        is_whole &= count >= sub->min_count;
    }
    group->is_hurt &= is_any && !is_whole;
    return !is_any || is_whole || group->is_hurt;
}

/* How far two jobs of a sub-group that run are from each other. */
static uint32_t hops_between(const struct history *history, uint32_t a,
                             uint32_t b)
{
    const struct world *w = &history->world;
    const struct topology *t =
        topology_of(w->sched, pool_get(w->sched, STR("default")));

    if (w->node_of[a] == w->node_of[b]) {
        return 0;
    }
    return t ? topology_hops(t, w->node_of[a], w->node_of[b]) : HOPS_ANY;
}

/* How far those of a sub-group are apart that run; `of_plan`: any two of whom
 * the last plan started one; else only those that ran before it. */
static uint32_t spread_of(const struct history *history, uint32_t first,
                          uint32_t count, bool of_plan)
{
    uint32_t spread = 0;

    for (uint32_t a = first; a < first + count; a++) {
        for (uint32_t b = first; b < a; b++) {
            bool has_new = history->was_on[a] == SCHED_NONE ||
                           history->was_on[b] == SCHED_NONE;
            if (runs(history, a) && runs(history, b) && has_new == of_plan) {
                uint32_t hops = hops_between(history, a, b);
                spread = hops > spread ? hops : spread;
            }
        }
    }
    return spread;
}

/* A cap binds what a plan starts; what runs further apart since an earlier one
 * has ended stays. */
static bool keeps_cap(const struct history *history, const struct group *group)
{
    uint32_t first = group->first;

    for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
        const struct sub_group *sub = &group->terms.sub_groups[s];
        int64_t end_ms =
            sub->hops_wait_ms ? group->since_ms + sub->hops_wait_ms : INT64_MAX;
        uint32_t before = spread_of(history, first, sub->max_count, false);
        uint32_t after = spread_of(history, first, sub->max_count, true);
        bool is_near = after <= sub->hops_max ||
                       (after <= before && sub->hops_wait_ms > 0);
        if (sub->hops_max != HOPS_ANY && history->now_ms < end_ms && !is_near) {
            return false;
        }
        first += sub->max_count;
    }
    return true;
}

static bool has_exclusive_nodes(const struct history *history, uint32_t g)
{
    const struct world *w = &history->world;
    const struct group *group = &history->groups[g];

    for (uint32_t i = group->first;
         group->terms.has_exclusive_nodes && i < group->first + group->count;
         i++) {
        for (uint32_t k = 0; runs(history, i) && k < w->job_count; k++) {
            if (runs(history, k) && w->node_of[k] == w->node_of[i] &&
                history->group_of[k] != g) {
                return false;
            }
        }
    }
    return true;
}

static bool is_sound(struct history *history)
{
    if (!sched_is_consistent(history->world.sched)) {
        return false;
    }
    for (uint32_t n = 0; n < history->node_count; n++) {
        if (free_on(history, n) < 0) {
            return false;
        }
    }
    for (uint32_t g = 0; g < history->group_count; g++) {
        if (!history->groups[g].is_gone &&
            (!has_minimum(history, &history->groups[g]) ||
             !keeps_cap(history, &history->groups[g]) ||
             !has_exclusive_nodes(history, g))) {
            return false;
        }
    }
    return true;
}

/* Growth delays no minimum (6.5 step 4). */

/* Room as it was before the growth of a round that has happened, by node;
 * below 0: it is kept, or one group's alone. */
struct before {
    int64_t room[NODES];
    bool is_empty[NODES]; /* and nobody ran there */
    bool is_hit[GROUPS];  /* the round took some of the group */
};

/* Whether a group has the node of a job whole, if the job is of it. */
static bool job_has_exclusive_nodes(const struct history *history, uint32_t job)
{
    uint32_t g = history->group_of[job];

    return g < GROUPS && history->groups[g].terms.has_exclusive_nodes;
}

/* Whether the round let anything grow. */
static bool look_back(const struct history *history, struct before *before)
{
    const struct world *w = &history->world;
    const struct kept_reservation *kept = &w->sched->pools.items[0].memory.kept;
    bool is_any = false, is_kept[NODES] = {0};

    *before = (struct before){0};
    for (uint32_t n = 0; n < history->node_count; n++) {
        before->room[n] = free_on(history, n);
    }
    for (size_t i = 0; kept->job != SCHED_NONE && i < kept->nodes.count; i++) {
        is_kept[kept->nodes.items[i].node] = true;
    }
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *d = &w->plan.decisions[i];
        int64_t cores = w->records[d->job].cores;
        if (d->action == SCHED_LEASE && d->is_scaling) {
            before->room[d->node] += cores;
            is_any = true;
        } else if (d->preemption == SCHED_PREEMPT_SCALED) {
            before->room[d->node] -= cores; /* the step itself freed it */
            is_kept[d->node] |= job_has_exclusive_nodes(history, d->job);
        } else if (d->action == SCHED_PREEMPT &&
                   history->group_of[d->job] < GROUPS) {
            before->is_hit[history->group_of[d->job]] = true;
        }
    }
    for (uint32_t n = 0; n < history->node_count; n++) {
        before->is_empty[n] = before->room[n] == history->cores[n];
        for (uint32_t i = 0; i < w->job_count; i++) {
            is_kept[n] |= runs(history, i) && w->node_of[i] == n &&
                          job_has_exclusive_nodes(history, i);
        }
        before->room[n] = is_kept[n] ? -1 : before->room[n];
    }
    return is_any;
}

/* How many pods a group must start with that could go anywhere, alike as they
 * all are; 0: none, or it is not as simple. */
static uint32_t lacks(const struct history *history, const struct group *group)
{
    const struct world *w = &history->world;
    uint32_t job = group->first, sum = 0;

    if (group->is_gone || group->is_borrowed) {
        return 0;
    }
    for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
        const struct sub_group *sub = &group->terms.sub_groups[s];
        uint32_t held = group->succeeded[s], waiting = 0;
        for (uint32_t i = 0; i < sub->max_count; i++, job++) {
            held += runs(history, job);
            waiting += !w->is_gone[job] && !runs(history, job);
            if (history->past.avoided[job]) {
                return 0;
            }
        }
        uint32_t lack = held < sub->min_count ? sub->min_count - held : 0;
        /* What will never be there again is waited for in vain. */
        if (sub->hops_max != HOPS_ANY || waiting < lack) {
            return 0;
        }
        sum += lack;
    }
    return sum;
}

/* How many of such a size had room. */
static int64_t count_room(const struct before *before, uint32_t node_count,
                          int64_t cores, bool is_whole)
{
    int64_t count = 0;

    for (uint32_t n = 0; n < node_count; n++) {
        if (before->room[n] > 0 && (!is_whole || before->is_empty[n])) {
            count += before->room[n] / cores;
        }
    }
    return count;
}

/* What a round let grow took no free room in which something would have
 * started that waits.  Not meant are, each by its rule: borrowers, whose turn
 * is after growth (6.5 step 5); nodes that are kept for somebody, where what
 * grows only stays till then (2.9 d); and a group of which the same round took
 * something, which starts nothing in it (README of the planner). */
static bool delays_nobody(const struct history *history)
{
    const struct world *w = &history->world;
    struct before before;

    if (!look_back(history, &before)) {
        return true;
    }
    for (uint32_t g = 0; g < history->group_count; g++) {
        const struct group *group = &history->groups[g];
        uint32_t needed = lacks(history, group);
        if (needed && !before.is_hit[g] &&
            count_room(&before, history->node_count,
                       w->records[group->first].cores,
                       group->terms.has_exclusive_nodes) >= needed) {
            return false;
        }
    }
    for (uint32_t i = 0; i < w->job_count; i++) {
        if (history->group_of[i] == GROUPS && !w->is_gone[i] &&
            !runs(history, i) && !w->records[i].is_borrowed &&
            !history->past.avoided[i] &&
            count_room(&before, history->node_count, w->records[i].cores,
                       false) > 0) {
            return false;
        }
    }
    return true;
}

static bool is_decent(const struct history *history)
{
    const struct world *w = &history->world;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        if (decision->action == SCHED_PREEMPT &&
            decision->for_job != SCHED_NONE &&
            w->records[decision->for_job].is_borrowed) {
            return false;
        }
    }
    return true;
}

/* With PROP_SHOW set: what there is, and what was decided last. */
static bool show(const struct history *history, const char *what)
{
    const struct world *w = &history->world;

    if (!getenv("PROP_SHOW")) {
        return false;
    }
    fprintf(stderr, "%s at %d\n", what, (int)history->now_ms);
    for (uint32_t n = 0; n < history->node_count; n++) {
        fprintf(stderr, "node %u: %d free of %d\n", n, (int)free_on(history, n),
                (int)history->cores[n]);
    }
    for (uint32_t g = 0; g < history->group_count; g++) {
        const struct group *group = &history->groups[g];
        fprintf(stderr, "group %u: jobs from %u%s%s%s%s\n", g, group->first,
                group->is_gone ? " gone" : "", group->is_hurt ? " hurt" : "",
                group->is_borrowed ? " foreign" : "",
                group->terms.has_exclusive_nodes ? " whole" : "");
        for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
            const struct sub_group *sub = &group->terms.sub_groups[s];
            fprintf(stderr, "    %u to %u, hops %d wait %d, %u succeeded\n",
                    sub->min_count, sub->max_count, (int)sub->hops_max,
                    (int)sub->hops_wait_ms, group->succeeded[s]);
        }
    }
    for (uint32_t i = 0; i < w->job_count; i++) {
        if (!w->is_gone[i]) {
            fprintf(stderr, "job %u: %s %s %d cores %s group %u node %d%s\n", i,
                    w->records[i].queue,
                    w->records[i].priority_class ? w->records[i].priority_class
                                                 : "mid",
                    (int)w->records[i].cores,
                    w->records[i].is_borrowed ? "foreign" : "",
                    history->group_of[i], (int)w->node_of[i], "");
        }
    }
    show_plan(&w->plan);
    return false;
}

/* Anew. */

static bool rebuilds(struct history *history)
{
    struct world *w = &history->world;
    struct world *fresh = mem_alloc(sizeof(*fresh));

    anew_begin(fresh, w, history->now_ms);
    for (uint32_t i = 0; i < history->node_count; i++) {
        set_node(history, fresh, i);
    }
    for (uint32_t q = 0; q < w->queue_count; q++) {
        world_queue(fresh, w->queue_names[q], 1);
    }
    anew_fill(fresh, w, &history->past);
    bool holds =
        anew_is_same(fresh, w) &&
        anew_plans_same(w->sched, fresh->sched, history->now_ms, ROUND_BALANCE);
    if (!holds) {
        (void)show(history, "another plan");
    }
    world_fini(fresh);
    mem_free(fresh);
    return holds;
}

/* Histories. */

/* Note where all are, before a plan. */
static void note_places(struct history *history)
{
    const struct world *w = &history->world;

    for (uint32_t i = 0; i < w->job_count; i++) {
        history->was_on[i] = runs(history, i) ? w->node_of[i] : SCHED_NONE;
    }
}

/* Whom the plan took something of waits since then. */
static void note_losses(struct history *history)
{
    const struct world *w = &history->world;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        uint32_t g = history->group_of[decision->job];
        if (decision->action == SCHED_PREEMPT && g < GROUPS) {
            history->groups[g].since_ms = history->now_ms;
        }
    }
}

static bool plan(struct history *history, enum round_kind kind)
{
    struct world *w = &history->world;

    note_places(history);
    world_round(w, kind, history->now_ms);
    past_note(&history->past, w, history->now_ms);
    bool holds = (is_sound(history) || show(history, "not sound")) &&
                 (delays_nobody(history) || show(history, "growth delays")) &&
                 (is_decent(history) || show(history, "a borrower preempts"));
    note_losses(history);
    return holds;
}

static bool act(struct history *history, struct tape *tape)
{
    struct world *w = &history->world;

    history->now_ms += (int64_t)draw(tape, 0, 20) * 1000;
    sched_set_time(w->sched, history->now_ms);
    switch (draw(tape, 0, 6)) {
    case 0:
    case 1:
        submit_group(history, tape);
        return true;
    case 2:
        submit_job(history, tape);
        return true;
    case 3:
        lose_one(history, tape);
        past_note(&history->past, w, history->now_ms);
        return true;
    case 4:
        if (once_in(tape, 2)) {
            end_group(history, tape);
        }
        return true;
    default:
        return plan(history, (enum round_kind)draw(tape, 0, 1));
    }
}

static bool groups_go_together(struct tape *tape)
{
    struct history *history = mem_alloc(sizeof(*history));
    bool holds = true;

    begin(history, tape);
    past_begin(&history->past);
    for (uint64_t left = draw(tape, 0, ACTS); holds && left > 0; left--) {
        holds = act(history, tape);
    }
    holds = holds && rebuilds(history) && plan(history, ROUND_BALANCE) &&
            plan(history, ROUND_BALANCE);
    world_fini(&history->world);
    mem_free(history);
    return holds;
}

int main(void)
{
    return prop_check("groups_go_together", groups_go_together, RUNS, 0) ? 0
                                                                         : 1;
}
