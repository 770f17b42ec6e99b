/* Which runs may be preempted for fairness is remembered, and changes nothing
 * (sched/evict/evictable.h). */
#include "sched/evict/evictable.h"
#include "world_fixture.h"

enum { QUEUES = 3, NODES = 4, STEPS = 600, SEEDS = 12 };

static const char *const QUEUE_NAMES[QUEUES] = {"A", "B", "C"};
static const char *const CLASS_NAMES[] = {"low", "mid", "high", "fixed"};

/* Two worlds to which the same happens; one of them forgets. */
struct twins {
    struct world *remembers, *forgets;
    uint64_t random;
    int64_t now_ms;
    bool has_gangs;
};

static uint32_t pick(struct twins *t, uint32_t below)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->random >> 33) % below;
}

static void submit(struct twins *t)
{
    static const int64_t LIFETIMES_S[] = {-1, -1, 3, 10, 40, INT64_MAX};
    struct world_job job = {
        .queue = QUEUE_NAMES[pick(t, QUEUES) * pick(t, 2)],
        .priority_class = CLASS_NAMES[pick(t, 4)],
        .cores = 1 + pick(t, 2),
        .priority = pick(t, 3),
        .submitted_ms = t->now_ms,
        .lifetime_s = LIFETIMES_S[pick(t, 6)],
    };

    if (t->has_gangs && pick(t, 8) == 0) {
        job.gang = pick(t, 2) ? "g" : "h";
        job.cardinality = 2;
    }
    world_submit(t->remembers, &job);
    world_submit(t->forgets, &job);
}

/* Something becomes of a job that runs, if the one drawn does. */
static void change_job(struct twins *t)
{
    struct world *w = t->remembers;
    uint32_t job = pick(t, w->job_count), how = pick(t, 8);
    uint32_t priority = pick(t, 3);

    if (w->is_gone[job] || w->node_of[job] == SCHED_NONE) {
        return;
    }
    for (int i = 0; i < 2; i++, w = t->forgets) {
        if (how == 0) {
            world_end(w, job);
        } else if (how == 1) {
            sched_job_reprioritise(w->sched, job, priority);
        } else if (how == 2) {
            sched_job_age_from(w->sched, job, t->now_ms - 5000);
        } else {
            (void)sched_job_started(w->sched, job);
        }
    }
}

/* Plan for both, and now and then for another time in between. */
static void plan(struct twins *t)
{
    struct sched_plan ahead;

    if (pick(t, 8) == 0) {
        sched_plan(t->remembers->sched, t->now_ms + 20000, ROUND_BALANCE, 100,
                   &ahead);
        sched_plan(t->forgets->sched, t->now_ms + 20000, ROUND_BALANCE, 100,
                   &ahead);
    }
    evictable_fini(t->forgets->sched);
    world_round(t->remembers, ROUND_BALANCE, t->now_ms);
    world_round(t->forgets, ROUND_BALANCE, t->now_ms);
}

static void assert_alike(const struct twins *t)
{
    const struct world *a = t->remembers, *b = t->forgets;

    assert_int_equal(a->plan.next_wake_ms, b->plan.next_wake_ms);
    assert_int_equal(a->plan.counters.evicted, b->plan.counters.evicted);
    assert_int_equal(a->preempted_count, b->preempted_count);
    assert_memory_equal(a->node_of, b->node_of, sizeof(a->node_of));
    assert_memory_equal(a->is_gone, b->is_gone, sizeof(a->is_gone));
    assert_true(sched_is_consistent(a->sched));
}

static struct world *make_world(void)
{
    static const char *const NAMES[NODES] = {"m", "n", "o", "p"};
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    for (int i = 0; i < NODES; i++) {
        world_node(world, &(struct world_node){NAMES[i], .cores = 8});
    }
    for (int i = 0; i < QUEUES; i++) {
        world_queue(world, QUEUE_NAMES[i], 1);
    }
    return world;
}

static bool remembers(const struct world *world)
{
    for (size_t i = 0; i < world->sched->accounts.count; i++) {
        const struct evictable *evictable =
            world->sched->accounts.items[i].evictable;
        if (evictable && evictable->runs.count > 1) {
            return true;
        }
    }
    return false;
}

/* What was preempted in all by plans that remembered something. */
static uint32_t live(uint64_t seed, bool has_gangs)
{
    struct twins t = {make_world(), make_world(), seed, 100000, has_gangs};
    uint32_t preempted_count = 0;

    for (int step = 0; step < STEPS; step++) {
        t.now_ms += pick(&t, 3) * 500;
        sched_set_time(t.remembers->sched, t.now_ms);
        sched_set_time(t.forgets->sched, t.now_ms);
        for (uint32_t i = pick(&t, 4); i > 0; i--) {
            submit(&t);
        }
        for (uint32_t i = pick(&t, 30); i > 0 && t.remembers->job_count; i--) {
            change_job(&t);
        }
        plan(&t);
        assert_alike(&t);
        preempted_count +=
            remembers(t.remembers) ? t.remembers->preempted_count : 0;
    }
    world_fini(t.remembers);
    world_fini(t.forgets);
    mem_free(t.remembers);
    mem_free(t.forgets);
    return preempted_count;
}

static void what_is_remembered_is_what_would_be_found(void **state)
{
    uint32_t preempted_count = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        preempted_count += live(seed, false);
    }
    assert_in_range(preempted_count, 100, UINT32_MAX); /* not of nothing */
}

static void so_it_is_where_gangs_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        (void)live(seed, true);
    }
}

static void an_account_remembers_nothing_before_it_is_asked(void **state)
{
    struct world *w = *state;
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});

    world_queue(w, "A", 1);
    world_lease(w, world_submit(w, &(struct world_job){.queue = "A"}), node, 0);
    world_round(w, ROUND_BALANCE, 1000);
    for (size_t i = 0; i < w->sched->accounts.count; i++) {
        assert_null(w->sched->accounts.items[i].evictable);
    }
}

/* A run of A with a lifetime of a minute, that of an account asked. */
static const struct evictable *ask_at(struct world *w, int64_t now_ms)
{
    uint32_t account = w->sched->runs.items[0].account;

    return evictable_of(w->sched, account, now_ms);
}

static void a_run_is_evictable_when_its_lifetime_is_over(void **state)
{
    struct world *w = *state;
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});

    world_queue(w, "A", 1);
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .lifetime_s = 60});
    world_lease(w, job, node, 0);
    assert_int_equal(evictable_next_ms(ask_at(w, 500)), INT64_MAX);
    sched_set_time(w->sched, 1000);
    (void)sched_job_started(w->sched, job);
    assert_int_equal(evictable_next_ms(ask_at(w, 1000)), 61000);
    assert_int_equal(ask_at(w, 60999)->runs.count, 0);
    assert_int_equal(ask_at(w, 61000)->runs.count, 1);
    assert_int_equal(ask_at(w, 60999)->runs.count, 0); /* asked again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_is_what_would_be_found),
        cmocka_unit_test(so_it_is_where_gangs_run),
        cmocka_unit_test_setup_teardown(
            an_account_remembers_nothing_before_it_is_asked, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            a_run_is_evictable_when_its_lifetime_is_over, world_setup,
            world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
