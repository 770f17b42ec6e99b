/* The node that is reserved for a job is the same whether it is found in what
 * the last rounds left, or by asking all nodes (sched/reserve/tree.h). */
#include "sched/reserve/reserve.h"
#include "world_fixture.h"

enum { QUEUES = 3, NODES = 24, STEPS = 400, SEEDS = 12 };

static const char *const QUEUE_NAMES[QUEUES] = {"A", "B", "C"};
static const char *const CLASS_NAMES[] = {"low", "mid", "mid", "high"};

/* Two worlds to which the same happens; one of them forgets. */
struct twins {
    struct world *remembers, *forgets;
    uint64_t random;
    int64_t now_ms;
};

static uint32_t pick(struct twins *t, uint32_t below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->random >> 33) % below;
}

static void set_node(struct twins *t, uint32_t index)
{
    static char names[NODES][4];
    struct world_node node = {
        .name = names[index],
        .cores = 2 + pick(t, 3) * 3,
        .label_key = "zone",
        .label_value = pick(t, 3) ? "x" : "y",
        .is_unschedulable = pick(t, 8) == 0,
    };

    names[index][0] = 'n';
    names[index][1] = (char)('a' + index * 7 % NODES);
    world_node(t->remembers, &node);
    world_node(t->forgets, &node);
}

static void submit(struct twins *t)
{
    static const int64_t LIFETIMES_S[] = {-1, -1, -1, -1, 10, INT64_MAX};
    struct world_job job = {
        .queue = QUEUE_NAMES[pick(t, QUEUES)],
        .priority_class = CLASS_NAMES[pick(t, 4)],
        .cores = pick(t, 6) ? 1 : 6,
        .submitted_ms = t->now_ms,
        .lifetime_s = LIFETIMES_S[pick(t, 6)],
        .deadline_s = pick(t, 6) ? 0 : 1 + pick(t, 20),
    };

    if (pick(t, 4) == 0) {
        job.selector_key = "zone";
        job.selector_value = "y";
    }
    world_submit(t->remembers, &job);
    world_submit(t->forgets, &job);
}

/* A job that runs ends, or starts. */
static void change_job(struct twins *t)
{
    struct world *w = t->remembers;
    uint32_t job = pick(t, w->job_count), how = pick(t, 4);

    if (w->is_gone[job] || w->node_of[job] == SCHED_NONE) {
        return;
    }
    for (int i = 0; i < 2; i++, w = t->forgets) {
        if (how == 0) {
            world_end(w, job);
        } else {
            (void)sched_job_started(w->sched, job);
        }
    }
}

static void forget(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        reserve_forget(&sched->pools.items[p].memory);
    }
}

/* Rounds mostly fast ones, and the same of both. */
static void plan(struct twins *t)
{
    enum round_kind kind = pick(t, 4) ? ROUND_FAST : ROUND_BALANCE;

    forget(t->forgets->sched);
    world_round(t->remembers, kind, t->now_ms);
    world_round(t->forgets, kind, t->now_ms);
}

/* The node reserved in the last round, or NONE. */
static uint32_t reserved_node(const struct world *world, int64_t *ret_start_ms)
{
    const struct kept_reservation *kept =
        &world->sched->pools.items[0].memory.kept;

    *ret_start_ms = kept->job == NONE ? 0 : kept->start_ms;
    return kept->job == NONE ? NONE : kept->nodes.items[0].node;
}

static bool has_tree(const struct world *world)
{
    const struct profile_memories *ready =
        &world->sched->pools.items[0].memory.profiles;

    for (int i = 0; i < PROFILE_MEMORIES; i++) {
        if (ready->items[i].tree.is_whole) {
            return true;
        }
    }
    return false;
}

/* Reservations that were made beside a tree. */
static uint32_t compare(const struct twins *t)
{
    const struct world *a = t->remembers, *b = t->forgets;
    int64_t start_ms, other_ms;
    uint32_t node = reserved_node(a, &start_ms);

    assert_int_equal(node, reserved_node(b, &other_ms));
    assert_int_equal(start_ms, other_ms);
    assert_int_equal(a->plan.decision_count, b->plan.decision_count);
    assert_memory_equal(a->node_of, b->node_of, sizeof(a->node_of));
    assert_memory_equal(a->is_gone, b->is_gone, sizeof(a->is_gone));
    assert_true(sched_is_consistent(a->sched));
    return node != NONE && has_tree(a);
}

static struct world *make_world(void)
{
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    world->policy.pools[0].admitted_window = 8;
    world->policy.pools[0].admitted_window_per_queue = 4;
    world->policy.pools[0].has_backfill = true;
    world->policy.pools[0].backfill_candidates_max = 50;
    world_restart(world);
    for (int i = 0; i < QUEUES; i++) {
        world_queue(world, QUEUE_NAMES[i], 1);
    }
    return world;
}

static uint32_t live(uint64_t seed)
{
    struct twins t = {make_world(), make_world(), seed, 100000};
    uint32_t count = 0;

    for (uint32_t i = 0; i < NODES; i++) {
        set_node(&t, i);
    }
    for (int step = 0; step < STEPS; step++) {
        t.now_ms += pick(&t, 3) * 500;
        sched_set_time(t.remembers->sched, t.now_ms);
        sched_set_time(t.forgets->sched, t.now_ms);
        for (uint32_t i = pick(&t, 5); i > 0; i--) {
            submit(&t);
        }
        for (uint32_t i = pick(&t, 16); i > 0 && t.remembers->job_count; i--) {
            change_job(&t);
        }
        if (pick(&t, 10) == 0) {
            set_node(&t, pick(&t, NODES));
        }
        plan(&t);
        count += compare(&t);
    }
    world_fini(t.remembers);
    world_fini(t.forgets);
    mem_free(t.remembers);
    mem_free(t.forgets);
    return count;
}

static void what_is_remembered_chooses_as_all_nodes_do(void **state)
{
    uint32_t count = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        count += live(seed);
    }
    assert_in_range(count, 200, UINT32_MAX); /* not of nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_chooses_as_all_nodes_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
