/*
 * Searches for victims that are remembered (memo.h), where gangs with
 * terms run on more nodes than a block has.
 *
 *   - each finds what asking all nodes finds, which the planner asserts itself
 *   - a plan made without remembering anything is the same
 *   - so it is where the nodes were added in the opposite order
 *
 * And of a pool of a shard: whom it preempts, and all else of its plan, is the
 * same whether or not gangs with terms and protected work run in another pool,
 * and whether gangs in the pool that nobody may preempt have terms or not.
 */
#include <stdio.h>
#include <string.h>

#include "prop.h"
#include "sched/state/state.h"
#include "unit.h"
#include "world.h"

enum { PLACES_MAX = 150, GROUPS = 8, RUNS = 400, NOW_MS = 100000 };

static const char *const queue_names[] = {"A", "B", "C"};
static const char *const class_names[] = {NULL, "low", "high", "fixed"};
static const char *const group_names[GROUPS] = {"g0", "g1", "g2", "g3",
                                                "g4", "g5", "g6", "g7"};

/* What was drawn for a world, to make it twice. */
struct script {
    struct tape *tape;
    VEC(uint64_t) values;
    size_t at;
};

struct room {
    int64_t free[PLACES_MAX];
    char names[PLACES_MAX][12];
    uint32_t nodes[PLACES_MAX]; /* handles */
    uint32_t count;
    const char *pool; /* or NULL: the shard is a pool object's */
};

static uint64_t script_pick(struct script *script, uint64_t low, uint64_t high)
{
    if (script->at == script->values.count) {
        VEC_PUSH(&script->values, draw(script->tape, low, high));
    }
    return script->values.items[script->at++];
}

/* Some jobs have a port of their node. */
static struct host_port port = {.protocol = HOST_TCP, .port = 80};

static const char *draw_queue(struct script *script)
{
    return queue_names[script_pick(script, 0, ARRAY_COUNT(queue_names) - 1)];
}

static const char *draw_class(struct script *script)
{
    return class_names[script_pick(script, 0, ARRAY_COUNT(class_names) - 1)];
}

static void add_nodes(struct world *w, struct script *script, struct room *room,
                      bool is_turned)
{
    room->count = (uint32_t)script_pick(script, 1, PLACES_MAX);
    for (uint32_t i = 0; i < room->count; i++) {
        (void)snprintf(room->names[i], sizeof(room->names[i]), "%c%03u",
                       room->pool ? room->pool[0] : 'n', i);
        room->free[i] = (int64_t)script_pick(script, 2, 6);
    }
    for (uint32_t k = 0; k < room->count; k++) {
        uint32_t i = is_turned ? room->count - 1 - k : k;
        room->nodes[i] =
            world_node(w, &(struct world_node){.name = room->names[i],
                                               .cores = room->free[i],
                                               .pool = room->pool});
    }
}

/* Let jobs run where there is room for them, if there is. */
static void fill(struct world *w, struct room *room, uint32_t first,
                 uint32_t count, int64_t cores)
{
    uint32_t node = 0;

    for (uint32_t i = 0; i < count; i++) {
        while (node < room->count && room->free[node] < cores) {
            node++;
        }
        if (node < room->count) {
            room->free[node] -= cores;
            world_lease(w, first + i, room->nodes[node], 1 + i % 3);
        }
    }
}

static void add_group(struct world *w, struct script *script, struct room *room,
                      uint32_t group)
{
    struct gang_terms terms = {
        .sub_group_count = (uint32_t)script_pick(script, 1, 2),
        .freezing_window_ms = script_pick(script, 0, 3) ? 0 : 60000,
    };
    struct world_job member = {
        .queue = draw_queue(script),
        .gang = group_names[group],
        .cores = (int64_t)script_pick(script, 1, 2),
        .priority_class = draw_class(script),
        .pool = room->pool,
        .ports = &port,
        .port_count = script_pick(script, 0, 3) == 3,
    };

    for (uint32_t i = 0; i < terms.sub_group_count; i++) {
        struct sub_group *sub = &terms.sub_groups[i];
        sub->name = STR("s");
        sub->max_count = (uint32_t)script_pick(script, 1, i ? 4 : 60);
        sub->min_count = (uint32_t)script_pick(script, i == 0, sub->max_count);
        sub->hops_max = HOPS_ANY;
    }
    uint32_t jobs = w->job_count;
    uint32_t first = world_submit_group(w, &member, &terms);
    uint32_t count = w->job_count - jobs;
    /* Some lack pods, so that they are joined. */
    fill(w, room, first, count - (script_pick(script, 0, 3) ? 0 : count / 4),
         member.cores);
}

static void add_jobs(struct world *w, struct script *script, struct room *room,
                     bool is_running)
{
    struct world_job job = {
        .queue = draw_queue(script),
        .cores = (int64_t)script_pick(script, 1, 3),
        .priority_class = draw_class(script),
        .pool = room->pool,
        .ports = &port,
        .port_count = script_pick(script, 0, 3) == 3,
    };
    uint32_t count = (uint32_t)script_pick(script, 1, 40);
    uint32_t first = world_submit_many(w, &job, count);

    if (is_running) {
        fill(w, room, first, count, job.cores);
    }
}

static void make_queues(struct world *w, struct script *script)
{
    world_init(w);
    if (script_pick(script, 0, 1)) {
        pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    }
    world_restart(w);
    for (size_t i = 0; i < ARRAY_COUNT(queue_names); i++) {
        if (script_pick(script, 0, 3)) {
            world_queue(w, queue_names[i], script_pick(script, 0, 2) ? 1 : 2);
        } else {
            world_queue_by(w, queue_names[i],
                           &(struct queue_record){.ordering = QUEUE_BY_CFS});
        }
    }
}

static void make(struct world *w, struct script *script, bool is_turned)
{
    struct room *room = mem_alloc(sizeof(*room));

    room->pool = NULL;
    make_queues(w, script);
    sched_preemption_set(w->sched, false); /* a pool object */
    add_nodes(w, script, room, is_turned);
    for (uint32_t i = (uint32_t)script_pick(script, 0, GROUPS); i > 0; i--) {
        add_group(w, script, room, i - 1);
    }
    for (uint64_t i = script_pick(script, 0, 4); i > 0; i--) {
        add_jobs(w, script, room, true);
    }
    for (uint64_t i = script_pick(script, 1, 6); i > 0; i--) {
        add_jobs(w, script, room, false);
    }
    sched_set_time(w->sched, NOW_MS);
    mem_free(room);
}

/* A pool, now and then with a gang with terms, and another, in which some may
 * run besides; the jobs of the first. */
static uint32_t make_pools(struct world *w, struct script *script,
                           bool has_others)
{
    struct room *room = mem_alloc(sizeof(*room));

    room->pool = "default";
    make_queues(w, script);
    add_nodes(w, script, room, false);
    if (script_pick(script, 0, 3) == 0) {
        add_group(w, script, room, 0);
    }
    for (uint64_t i = script_pick(script, 1, 5); i > 0; i--) {
        add_jobs(w, script, room, true);
    }
    for (uint64_t i = script_pick(script, 1, 6); i > 0; i--) {
        add_jobs(w, script, room, false);
    }
    uint32_t job_count = w->job_count;
    room->pool = "other";
    add_nodes(w, script, room, false);
    if (has_others) {
        add_group(w, script, room, 1);
        add_jobs(w, script, room, true);
        sched_job_protect(w->sched, w->job_count - 1, true);
    }
    sched_set_time(w->sched, NOW_MS);
    mem_free(room);
    return job_count;
}

static bool is_same(const struct sched_decision *a,
                    const struct sched_decision *b)
{
    return a->job == b->job && a->action == b->action && a->node == b->node &&
           a->preemption == b->preemption && a->group == b->group &&
           a->for_job == b->for_job;
}

static bool plans_are_the_same(struct world *w)
{
    struct sched_plan *plan = &w->plan;

    w->sched->checks_victims = true;
    sched_plan(w->sched, NOW_MS, ROUND_BALANCE, 4000, plan);
    size_t bytes = plan->decision_count * sizeof(*plan->decisions);
    auto_mem struct sched_decision *first = mem_alloc(bytes + 1);
    uint32_t count = plan->decision_count;
    if (count) {
        memcpy(first, plan->decisions, bytes);
    }
    w->sched->forgets_victims = true;
    w->sched->version++;
    sched_plan(w->sched, NOW_MS, ROUND_BALANCE, 4000, plan);
    bool holds = count == plan->decision_count;
    for (uint32_t i = 0; holds && i < count; i++) {
        holds = is_same(&first[i], &plan->decisions[i]);
    }
    return holds;
}

static bool remembering_changes_nothing(struct tape *tape)
{
    struct world *w = mem_alloc(sizeof(*w));
    struct script script = {.tape = tape};

    make(w, &script, false);
    bool holds = plans_are_the_same(w);
    world_fini(w);
    mem_free(w);
    VEC_FREE(&script.values);
    return holds;
}

/* Whether the plan is the same where node handles go the other way. */
static bool is_turned_same(const struct world *w, const struct world *turned)
{
    const struct sched_plan *a = &w->plan, *b = &turned->plan;
    uint32_t last = (uint32_t)w->sched->nodes.count - 1;
    bool holds = a->decision_count == b->decision_count;

    for (uint32_t i = 0; holds && i < a->decision_count; i++) {
        struct sched_decision decision = b->decisions[i];
        decision.node = decision.node == NONE ? NONE : last - decision.node;
        holds = is_same(&a->decisions[i], &decision);
    }
    return holds;
}

static bool the_order_of_nodes_changes_nothing(struct tape *tape)
{
    struct world *worlds = mem_alloc_array(2, sizeof(*worlds));
    struct script script = {.tape = tape};

    for (int i = 0; i < 2; i++) {
        script.at = 0;
        make(&worlds[i], &script, i);
        sched_plan(worlds[i].sched, NOW_MS, ROUND_BALANCE, 4000,
                   &worlds[i].plan);
    }
    bool holds = is_turned_same(&worlds[0], &worlds[1]);
    for (int i = 0; i < 2; i++) {
        world_fini(&worlds[i]);
    }
    mem_free(worlds);
    VEC_FREE(&script.values);
    return holds;
}

/* The next decision about one of the first jobs, from `*at` on; or NULL. */
static const struct sched_decision *next_of(const struct sched_plan *plan,
                                            uint32_t job_count, uint32_t *at)
{
    while (*at < plan->decision_count) {
        const struct sched_decision *decision = &plan->decisions[(*at)++];
        if (decision->job < job_count) {
            return decision;
        }
    }
    return NULL;
}

/* Whether two plans decide the same about the first jobs; groups are counted
 * over all pools. */
static bool is_same_of(const struct sched_plan *a, const struct sched_plan *b,
                       uint32_t job_count)
{
    uint32_t at_a = 0, at_b = 0;

    for (;;) {
        const struct sched_decision *x = next_of(a, job_count, &at_a);
        const struct sched_decision *y = next_of(b, job_count, &at_b);
        if (!x || !y) {
            return !x && !y;
        }
        struct sched_decision same_group = *y;
        same_group.group = x->group;
        if (!is_same(x, &same_group)) {
            return false;
        }
    }
}

static bool another_pool_has_no_say(struct tape *tape)
{
    struct world *w = mem_alloc(sizeof(*w)), *other = mem_alloc(sizeof(*other));
    struct script script = {.tape = tape};

    uint32_t job_count = make_pools(w, &script, true);
    script.at = 0;
    (void)make_pools(other, &script, false);
    sched_plan(w->sched, NOW_MS, ROUND_BALANCE, 4000, &w->plan);
    sched_plan(other->sched, NOW_MS, ROUND_BALANCE, 4000, &other->plan);
    bool holds = is_same_of(&w->plan, &other->plan, job_count);
    world_fini(w);
    world_fini(other);
    mem_free(w);
    mem_free(other);
    VEC_FREE(&script.values);
    return holds;
}

/* Run a gang that nobody may preempt, with terms or without. */
static void add_guard(struct world *w, struct script *script, struct room *room,
                      bool has_terms)
{
    struct gang_terms terms = {.sub_group_count = 1};
    struct world_job member = {
        .queue = draw_queue(script),
        .gang = "guard",
        .cores = (int64_t)script_pick(script, 1, 2),
        .priority_class = "high",
        .lifetime_s = INT64_MAX,
        .pool = room->pool,
    };
    uint32_t count = (uint32_t)script_pick(script, 1, 4), first;

    for (uint32_t i = 0; i < room->count; i++) {
        if (room->free[i] >= member.cores * count) {
            member.cardinality = member.minimum = count;
            terms.sub_groups[0] = (struct sub_group){.name = STR("s"),
                                                     .min_count = count,
                                                     .max_count = count,
                                                     .hops_max = HOPS_ANY};
            first = has_terms ? world_submit_group(w, &member, &terms)
                              : world_submit_many(w, &member, count);
            fill(w, room, first, count, member.cores);
            return;
        }
    }
}

static void make_guarded(struct world *w, struct script *script, bool has_terms)
{
    struct room *room = mem_alloc(sizeof(*room));

    room->pool = "default";
    make_queues(w, script);
    add_nodes(w, script, room, false);
    add_guard(w, script, room, has_terms);
    for (uint64_t i = script_pick(script, 1, 5); i > 0; i--) {
        add_jobs(w, script, room, true);
    }
    for (uint64_t i = script_pick(script, 1, 6); i > 0; i--) {
        add_jobs(w, script, room, false);
    }
    sched_set_time(w->sched, NOW_MS);
    mem_free(room);
}

static bool groups_that_stay_have_no_say(struct tape *tape)
{
    struct world *worlds = mem_alloc_array(2, sizeof(*worlds));
    struct script script = {.tape = tape};

    for (int i = 0; i < 2; i++) {
        script.at = 0;
        make_guarded(&worlds[i], &script, i);
        sched_plan(worlds[i].sched, NOW_MS, ROUND_BALANCE, 4000,
                   &worlds[i].plan);
    }
    bool holds =
        worlds[0].job_count == worlds[1].job_count &&
        is_same_of(&worlds[0].plan, &worlds[1].plan, worlds[0].job_count);
    for (int i = 0; i < 2; i++) {
        world_fini(&worlds[i]);
    }
    mem_free(worlds);
    VEC_FREE(&script.values);
    return holds;
}

int main(void)
{
    bool holds = prop_check("remembering_changes_nothing",
                            remembering_changes_nothing, RUNS, 0);

    holds &= prop_check("the_order_of_nodes_changes_nothing",
                        the_order_of_nodes_changes_nothing, RUNS, 0);
    holds &=
        prop_check("another_pool_has_no_say", another_pool_has_no_say, RUNS, 0);
    holds &= prop_check("groups_that_stay_have_no_say",
                        groups_that_stay_have_no_say, RUNS, 0);
    return holds ? 0 : 1;
}
