/* Applications of jobs that are lent: who borrows in vain leaves no trace. */
#include "pools_stage.h"

/* Pools a, without room, and b with a node of two cores; a job of two is at
 * home in a, of a queue that goes by applications. */
static uint32_t prepare(struct pools_stage *stage)
{
    struct queue_record queue = queue_record_plain(STR("q"));

    pools_stage_init(stage);
    queue.ordering = QUEUE_BY_STATEAWARE;
    pools_queue_set(stage->pools, 0, &queue);
    pools_stage_pool(stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(stage, "a1", "a", 1);
    (void)pools_stage_node(stage, "b1", "b", 2);
    return pools_stage_job(stage, "a", 2);
}

/* The same, and it is lent to b. */
static uint32_t begin(struct pools_stage *stage)
{
    uint32_t job = prepare(stage);

    pools_stage_round(stage, "a");
    assert_int_equal(pools_job_shard(stage->pools, job),
                     pools_stage_shard(stage, "b"));
    return job;
}

/* How many applications there are, of all pools; the states of the last. */
static uint32_t count(const struct pools_stage *stage,
                      struct sched_application *ret_last)
{
    auto_arena arena = {0};
    struct sched_application *list;
    uint32_t n =
        pools_applications(stage->pools, 0, stage->now_ms, &arena, &list);

    if (n) {
        *ret_last = list[n - 1];
    }
    return n;
}

static uint32_t count_of(const struct pools_stage *stage,
                         enum sched_app_state state)
{
    uint32_t counts[SCHED_APP_STATES];

    pools_application_counts(stage->pools, 0, counts);
    return counts[state];
}

static void who_is_lent_asks_at_home_all_the_while(void **state)
{
    struct pools_stage stage;
    struct sched_application app;

    (void)state;
    (void)begin(&stage);
    int64_t since_ms = stage.now_ms;
    assert_int_equal(count(&stage, &app), 1);
    assert_int_equal(app.state, SCHED_APP_ACCEPTED);
    assert_int_equal(app.ask_count, 1);
    stage.now_ms += 1000;
    pools_set_time(stage.pools, stage.now_ms);
    pools_sweep_reset(stage.pools); /* it comes home */
    assert_int_equal(count(&stage, &app), 1);
    assert_int_equal(app.state, SCHED_APP_ACCEPTED);
    assert_true(app.since_ms <= since_ms);
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

static void who_starts_there_asks_no_more_at_home(void **state)
{
    struct pools_stage stage;

    (void)state;
    uint32_t job = begin(&stage);
    pools_stage_round(&stage, "b");
    assert_true(pools_job_node(stage.pools, job) != SCHED_NONE);
    assert_int_equal(count_of(&stage, SCHED_APP_STARTING), 1);
    assert_int_equal(count_of(&stage, SCHED_APP_COMPLETING), 1); /* at home */
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

static void who_ends_while_it_is_lent_asks_no_more(void **state)
{
    struct pools_stage stage;
    struct sched_application app;

    (void)state;
    uint32_t job = begin(&stage);
    pools_job_remove(stage.pools, job);
    assert_int_equal(count(&stage, &app), 1);
    assert_int_equal(app.state, SCHED_APP_COMPLETING);
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

/* A borrower does not wake what is over in the lender's pool, though plans go
 * by what its asking would make of it. */
static void a_borrower_changes_no_state_in_vain(void **state)
{
    struct pools_stage stage;

    (void)state;
    uint32_t job = begin(&stage);
    pools_stage_round(&stage, "b");
    pools_job_remove(stage.pools, job); /* both are Completing now */
    assert_int_equal(count_of(&stage, SCHED_APP_COMPLETING), 2);
    (void)pools_stage_job(&stage, "a", 2);
    assert_int_equal(count_of(&stage, SCHED_APP_RUNNING), 1);
    pools_stage_round(&stage, "a");
    assert_int_equal(count_of(&stage, SCHED_APP_COMPLETING), 1);
    assert_int_equal(count_of(&stage, SCHED_APP_RUNNING), 1);
    pools_sweep_reset(stage.pools);
    assert_int_equal(count_of(&stage, SCHED_APP_COMPLETING), 1);
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

/* A queue may begin to go by applications, or cease to, while its jobs are
 * out. */
static void orderings_change_while_jobs_are_lent(void **state)
{
    struct pools_stage stage;
    struct sched_application app;
    struct queue_record queue = queue_record_plain(STR("q"));

    (void)state;
    uint32_t job = begin(&stage);
    pools_queue_set(stage.pools, 0, &queue);
    assert_int_equal(count(&stage, &app), 0);
    queue.ordering = QUEUE_BY_STATEAWARE;
    pools_queue_set(stage.pools, 0, &queue);
    pools_job_application(stage.pools, job, STR("app"), false);
    assert_int_equal(count(&stage, &app), 1);
    assert_int_equal(app.state, SCHED_APP_ACCEPTED);
    assert_true(pools_is_consistent(stage.pools));
    pools_sweep_reset(stage.pools);
    assert_int_equal(count(&stage, &app), 1);
    assert_int_equal(app.ask_count, 1);
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

/* Who loses its place while the lender is planned asks at home under what the
 * lender was told of it last, though that is yet to be applied there. */
static void who_comes_home_of_a_busy_pool_is_as_it_was_told_last(void **state)
{
    static const char *const names[] = {"first", "second", "third"};
    struct pools_stage stage;
    struct sched_application app;
    struct sched_plan plan;

    (void)state;
    uint32_t job = begin(&stage);
    uint32_t lender = pools_stage_shard(&stage, "b");
    pools_stage_round(&stage, "b");
    assert_true(pools_job_node(stage.pools, job) != SCHED_NONE);
    struct sched *sched = pools_plan_begin(stage.pools, lender);
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        pools_job_application(stage.pools, job, str_of(names[i]), false);
    }
    pools_job_requeue(stage.pools, job, SCHED_NONE);
    sched_plan(sched, stage.now_ms, ROUND_FAST, 16, &plan);
    (void)pools_plan_end(stage.pools, lender, &plan);
    pools_plan_forget(stage.pools, lender);
    assert_true(count(&stage, &app) > 0);
    assert_int_equal(count_of(&stage, SCHED_APP_ACCEPTED), 1);
    auto_arena arena = {0};
    struct sched_application *list;
    uint32_t n =
        pools_applications(stage.pools, 0, stage.now_ms, &arena, &list);
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].state == SCHED_APP_ACCEPTED) {
            assert_true(str_equal(list[i].id, STR("third")));
        }
    }
    assert_true(pools_is_consistent(stage.pools));
    pools_stage_fini(&stage);
}

/* A pod of two cores of a gang that may start with one, at home in a. */
static uint32_t add_pod(struct pools_stage *stage)
{
    struct resource_amount cpu = {STR("cpu"), 2 * STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    uint32_t job = stage->job_count++;
    struct sched_job record = {
        .class_index = pools_class_add(stage->pools, &requirement),
        .submitted_ms = job,
        .id = {{0, job + 1}},
        .pool = STR("a"),
        .gang_id = STR("gang"),
        .gang_cardinality = 2,
        .gang_minimum = 1,
        .application = STR("app"),
    };

    pools_job_add(stage->pools, job, &record);
    return job;
}

static void lease(struct pools_stage *stage, uint32_t job, uint32_t node)
{
    pools_job_lease(stage->pools, job, node, 1000, stage->now_ms, true);
}

static void tick(struct pools_stage *stage)
{
    stage->now_ms += 10;
    pools_set_time(stage->pools, stage->now_ms);
}

/* A plan of a pool begins, if any is to be made at all. */
static struct sched *plan_begin(struct pools_stage *stage, const char *pool,
                                bool has_plans)
{
    uint32_t shard = pools_stage_shard(stage, pool);

    return has_plans ? pools_plan_begin(stage->pools, shard) : NULL;
}

/* It is back, and nothing that it decides about coming and going stands. */
static void plan_end(struct pools_stage *stage, const char *pool,
                     struct sched_plan *plan, bool has_plans)
{
    uint32_t shard = pools_stage_shard(stage, pool);

    if (has_plans) {
        (void)pools_plan_end(stage->pools, shard, plan);
        pools_plan_forget(stage->pools, shard);
    }
}

/* The last of a gang that runs in b goes, while b is being planned and gives
 * another a place: that one is leased, and goes too if `is_lost`, while a is
 * being planned, where the first is by then.  What a checkpoint says. */
static void pack_flight(bool has_plans, bool is_lost, struct strbuf *ret_bytes)
{
    struct pools_stage stage;
    struct sched_plan plan = {0};

    (void)prepare(&stage);
    uint32_t first = add_pod(&stage), second = add_pod(&stage);
    uint32_t room = pools_stage_node(&stage, "b2", "b", 2);
    lease(&stage, first, pools_node_index(stage.pools, STR("e"), STR("b1")));
    struct sched *sched = plan_begin(&stage, "b", has_plans);
    if (sched) {
        sched_plan(sched, stage.now_ms, ROUND_FAST, 16, &plan);
        assert_int_equal(plan.decision_count, 1);
    }
    tick(&stage);
    pools_job_requeue(stage.pools, first, SCHED_NONE);
    plan_end(&stage, "b", &plan, has_plans);
    struct sched *home = plan_begin(&stage, "a", has_plans);
    tick(&stage);
    lease(&stage, second, room);
    tick(&stage);
    if (is_lost) {
        pools_job_requeue(stage.pools, second, SCHED_NONE);
    }
    tick(&stage);
    if (home) {
        sched_plan(home, stage.now_ms, ROUND_FAST, 16, &plan);
    }
    plan_end(&stage, "a", &plan, has_plans);
    assert_true(pools_is_consistent(stage.pools));
    pools_history_pack(stage.pools, ret_bytes);
    pools_stage_fini(&stage);
}

/* Who cannot leave its home yet, since that is being planned, asks there no
 * more from when it should have left. */
static void who_cannot_leave_home_yet_asks_there_no_more(void **state)
{
    (void)state;
    for (int is_lost = 0; is_lost < 2; is_lost++) {
        auto_strbuf planned = {0}, plain = {0};
        pack_flight(true, is_lost, &planned);
        pack_flight(false, is_lost, &plain);
        assert_true(str_equal(strbuf_str(&planned), strbuf_str(&plain)));
    }
}

/* A job is leased in b, by a leader that had lent it there or by one that knows
 * of the lease alone; at home another came meanwhile, of the same application,
 * which opts out.  What a checkpoint says. */
static void pack_opted_out(bool is_lent, struct strbuf *ret_bytes)
{
    struct resource_amount cpu = {STR("cpu"), 2 * STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct queue_record queue = queue_record_plain(STR("q"));
    struct pools_stage stage;

    uint32_t job = prepare(&stage);
    queue.ordering = QUEUE_BY_STATEAWARE;
    queue.allows_stateaware_off = true;
    pools_queue_set(stage.pools, 0, &queue);
    if (is_lent) {
        pools_stage_round(&stage, "a");
    }
    struct sched_job other = {
        .class_index = pools_class_add(stage.pools, &requirement),
        .submitted_ms = 1,
        .id = {{0, 9}},
        .pool = STR("a"),
        .has_stateaware_off = true,
    };
    pools_job_add(stage.pools, stage.job_count++, &other);
    lease(&stage, job, pools_node_index(stage.pools, STR("e"), STR("b1")));
    assert_int_equal(count_of(&stage, SCHED_APP_STARTING), 1);
    pools_sweep_reset(stage.pools);
    pools_history_pack(stage.pools, ret_bytes);
    pools_stage_fini(&stage);
}

/* That another of its application opted out is not what a job takes along. */
static void who_moves_opts_out_only_for_itself(void **state)
{
    auto_strbuf lent = {0}, plain = {0};

    (void)state;
    pack_opted_out(true, &lent);
    pack_opted_out(false, &plain);
    assert_true(str_equal(strbuf_str(&lent), strbuf_str(&plain)));
}

/* A checkpoint that is read puts jobs where they first were; applications of
 * which it says nothing were never there. */
static void a_checkpoint_restores_no_application_that_went(void **state)
{
    struct pools_stage stage, other;
    struct sched_application app;
    auto_strbuf bytes = {0};

    (void)state;
    (void)begin(&stage);
    pools_history_pack(stage.pools, &bytes);
    (void)prepare(&other);
    uint32_t more = pools_stage_job(&other, "b", 1);
    pools_job_remove(other.pools, more);
    assert_int_equal(count(&other, &app), 2);
    assert_int_equal(pools_history_unpack(other.pools, strbuf_str(&bytes)), 0);
    assert_int_equal(count(&other, &app), 1);
    assert_int_equal(app.state, SCHED_APP_ACCEPTED);
    assert_true(pools_is_consistent(other.pools));
    pools_stage_fini(&stage);
    pools_stage_fini(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_is_lent_asks_at_home_all_the_while),
        TEST(who_starts_there_asks_no_more_at_home),
        TEST(who_ends_while_it_is_lent_asks_no_more),
        TEST(a_borrower_changes_no_state_in_vain),
        TEST(orderings_change_while_jobs_are_lent),
        TEST(who_comes_home_of_a_busy_pool_is_as_it_was_told_last),
        TEST(who_cannot_leave_home_yet_asks_there_no_more),
        TEST(who_moves_opts_out_only_for_itself),
        TEST(a_checkpoint_restores_no_application_that_went),
    };

    return RUN_TESTS(tests);
}
