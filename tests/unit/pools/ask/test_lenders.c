/* Why no other pool has taken a job that waits: one answer for each. */
#include "pools/ask/lenders.h"
#include "pools_stage.h"

/* Three pools: "home" is full; what waits there is asked about. */
struct fixture {
    struct pools_stage stage;
    struct arena arena;
    struct pools_lender *lenders;
    uint32_t lender_count;
    enum pools_borrowing borrowing;
};

static void begin(struct fixture *f, struct pool_record home,
                  struct pool_record a)
{
    *f = (struct fixture){.lenders = NULL};
    pools_stage_init(&f->stage);
    pools_stage_pool(&f->stage, "home", home);
    pools_stage_pool(&f->stage, "a", a);
    pools_stage_pool(&f->stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&f->stage, "h", "home", 4);
    (void)pools_stage_job(&f->stage, "home", 4);
    pools_stage_round(&f->stage, "home");
}

static void end(struct fixture *f)
{
    arena_fini(&f->arena);
    pools_stage_fini(&f->stage);
}

static void ask(struct fixture *f, uint32_t job)
{
    struct sched_explanation why;
    struct sched_need need;

    pools_explain_need(f->stage.pools, job, f->stage.now_ms, &why, &need);
    f->borrowing =
        pools_explain_lending(f->stage.pools, job, f->stage.now_ms, &why,
                              &f->arena, &f->lenders, &f->lender_count);
}

static const struct pools_lender *lender(const struct fixture *f,
                                         const char *name)
{
    for (uint32_t i = 0; i < f->lender_count; i++) {
        if (str_equal(f->lenders[i].name, str_of(name))) {
            return &f->lenders[i];
        }
    }
    fail_msg("no lender %s", name);
    return NULL;
}

static const struct pool_record plain = {.lender_count = 0};

static void records_that_forbid_it_are_named(void **state)
{
    struct str only[] = {STR("a")};
    struct pool_record home = {.lenders = only, .lender_count = 1};
    struct fixture f;

    (void)state;
    begin(&f, home, (struct pool_record){.is_sharing_off = true});
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    assert_int_equal(f.borrowing, POOLS_BORROW_MAY);
    assert_int_equal(f.lender_count, 3);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_SHARING_OFF);
    assert_int_equal(lender(&f, "b")->why, POOLS_LEND_NOT_LISTED);
    assert_int_equal(lender(&f, "default")->why, POOLS_LEND_NOT_LISTED);
    end(&f);
    begin(&f, (struct pool_record){.is_borrowing_off = true}, plain);
    job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    assert_int_equal(f.borrowing, POOLS_BORROW_OFF);
    assert_int_equal(f.lender_count, 0);
    end(&f);
}

static void too_little_room_is_told_in_numbers(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    uint32_t small = pools_stage_node(&f.stage, "a1", "a", 1);
    uint32_t large = pools_stage_node(&f.stage, "a2", "a", 3);
    uint32_t there = pools_stage_job(&f.stage, "a", 2);
    pools_job_lease(f.stage.pools, there, large, 1000, 0, false);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    const struct pools_lender *a = lender(&f, "a");
    assert_int_equal(a->why, POOLS_LEND_NO_ROOM);
    assert_int_equal(a->there.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(a->there.nodes_total, 2);
    assert_int_equal(a->there.nodes_excluded[SCHED_EXCLUDED_TOO_SMALL], 1);
    assert_int_equal(a->there.nodes_excluded[SCHED_EXCLUDED_FULL], 1);
    assert_int_equal(a->there.nearest_node, large);
    assert_int_not_equal(a->there.nearest_node, small);
    assert_int_equal(lender(&f, "b")->there.wait, SCHED_WAIT_NO_NODES);
    end(&f);
}

static void a_lender_with_room_is_next_and_others_come_after(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 8);
    (void)pools_stage_node(&f.stage, "b1", "b", 4);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    assert_int_equal(f.lenders[0].why, POOLS_LEND_NEXT);
    assert_true(str_equal(f.lenders[0].name, STR("a")));
    assert_int_equal(lender(&f, "b")->why, POOLS_LEND_LATER);
    assert_true(str_equal(lender(&f, "b")->before, STR("a")));
    pools_stage_round(&f.stage, "home");
    ask(&f, job);
    assert_int_equal(f.lender_count, 1);
    assert_int_equal(f.lenders[0].why, POOLS_LEND_WITH);
    assert_true(str_equal(f.lenders[0].name, STR("a")));
    pools_stage_round(&f.stage, "a");
    ask(&f, job);
    assert_int_equal(f.borrowing, POOLS_BORROW_NOWHERE);
    end(&f);
}

static void own_work_that_waits_goes_first(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 8);
    uint32_t first = pools_stage_job(&f.stage, "a", 6);
    pools_stage_round(&f.stage, "a");
    assert_int_not_equal(pools_job_node(f.stage.pools, first), SCHED_NONE);
    (void)pools_stage_job(&f.stage, "a", 6);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_OWN_WORK);
    assert_int_equal(lender(&f, "a")->waiting_count, 1);
    end(&f);
}

static void a_quota_forbids_it_where_there_is_room(void **state)
{
    struct resource_amount amount = {STR("cpu"), 5 * STAGE_MILLI};
    struct queue_record queue = queue_record_plain(STR("q"));
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    queue.quota = (struct resource_list){&amount, 1};
    pools_queue_set(f.stage.pools, 0, &queue);
    (void)pools_stage_node(&f.stage, "a1", "a", 8);
    uint32_t job = pools_stage_job(&f.stage, "home", 6);
    ask(&f, job);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_LIMIT);
    assert_int_equal(lender(&f, "a")->there.wait, SCHED_WAIT_QUOTA);
    end(&f);
}

static void a_pool_that_is_planned_cannot_be_asked(void **state)
{
    struct fixture f;
    struct sched_plan plan;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 8);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    uint32_t shard = pools_stage_shard(&f.stage, "a");
    struct sched *sched = pools_plan_begin(f.stage.pools, shard);
    ask(&f, job);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_BUSY);
    sched_plan(sched, f.stage.now_ms, ROUND_BALANCE, 16, &plan);
    (void)pools_plan_end(f.stage.pools, shard, &plan);
    end(&f);
}

static void a_job_that_came_home_says_where_it_was(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 4);
    uint32_t job = pools_stage_job(&f.stage, "home", 4);
    pools_stage_round(&f.stage, "home");
    /* Own work comes in between and takes the room, then goes. */
    uint32_t own = pools_stage_job(&f.stage, "a", 4);
    pools_stage_round(&f.stage, "a");
    assert_int_not_equal(pools_job_node(f.stage.pools, own), SCHED_NONE);
    ask(&f, job);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_NO_ROOM);
    pools_job_remove(f.stage.pools, own);
    ask(&f, job);
    assert_int_equal(lender(&f, "a")->why, POOLS_LEND_TRIED);
    end(&f);
}

static void jobs_with_room_at_home_ask_nobody(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "h2", "home", 4);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    ask(&f, job);
    assert_int_equal(f.borrowing, POOLS_BORROW_ROOM);
    end(&f);
}

/* More wait than are asked for after one plan: those that stand behind get
 * their turn in the next, though none of the first found a lender. */
static void all_that_wait_have_their_turn(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 2);
    for (uint32_t i = 0; i < POOLS_LEND_CANDIDATES_MAX; i++) {
        (void)pools_stage_job(&f.stage, "home", 3);
    }
    f.stage.priority_class = "armada-preemptible"; /* less urgent */
    uint32_t last = pools_stage_job(&f.stage, "home", 2);
    uint32_t home = pools_stage_shard(&f.stage, "home");
    pools_stage_round(&f.stage, "home");
    assert_false(
        pools_has_borrowers(f.stage.pools, pools_stage_shard(&f.stage, "a")));
    assert_true(pools_must_ask_again(f.stage.pools, home));
    pools_stage_round(&f.stage, "home");
    pools_stage_round(&f.stage, "a");
    assert_int_not_equal(pools_job_node(f.stage.pools, last), SCHED_NONE);
    pools_stage_round(&f.stage, "home");
    assert_false(pools_must_ask_again(f.stage.pools, home));
    end(&f);
}

/* What is asked leaves no trace: the next plans are the same. */
static void asking_changes_nothing(void **state)
{
    struct fixture f;
    auto_strbuf before = {0}, after = {0};

    (void)state;
    begin(&f, plain, plain);
    (void)pools_stage_node(&f.stage, "a1", "a", 8);
    uint32_t job = pools_stage_job(&f.stage, "home", 2);
    pools_history_pack(f.stage.pools, &before);
    ask(&f, job);
    pools_history_pack(f.stage.pools, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(records_that_forbid_it_are_named),
        TEST(too_little_room_is_told_in_numbers),
        TEST(a_lender_with_room_is_next_and_others_come_after),
        TEST(own_work_that_waits_goes_first),
        TEST(a_quota_forbids_it_where_there_is_room),
        TEST(a_pool_that_is_planned_cannot_be_asked),
        TEST(a_job_that_came_home_says_where_it_was),
        TEST(jobs_with_room_at_home_ask_nobody),
        TEST(all_that_wait_have_their_turn),
        TEST(asking_changes_nothing),
    };

    return RUN_TESTS(tests);
}
