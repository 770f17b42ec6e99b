/* Cooldowns: who took a place for fairness takes none again at once. */
#include "sched/evict/cooldown.h"
#include "world_fixture.h"

enum { SECOND = 1000, COOLDOWN_MS = 60 * SECOND, LOST_MS = 2 * COOLDOWN_MS };

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;
    w->requeues = true;
    return 0;
}

static void set_profile(struct world *w, enum pool_profile profile)
{
    world_apply(&w->policy.pools[0], profile);
    world_restart(w);
}

/* Rounds a second apart from `now_ms` on; the preemptions in them.  The last
 * has nothing to do. */
static uint32_t settle(struct world *w, int64_t now_ms)
{
    uint32_t preempted_count = 0, rounds = 0;

    do {
        world_round(w, ROUND_BALANCE, now_ms + SECOND * rounds);
        preempted_count += w->preempted_count;
    } while (w->plan.decision_count && ++rounds < 40);
    assert_int_equal(w->plan.decision_count, 0);
    return preempted_count;
}

/* Two of C's jobs fill a node, a third is reserved for; and B, which has
 * nothing, wants one core.  It takes a place of C's for fairness, but as one
 * that was let past the third, to which it gives it up after a while. */
struct past {
    uint32_t first; /* of C's three */
    uint32_t job;   /* B's */
};

static struct past make_past(struct world *w)
{
    struct past past;

    set_profile(w, PROFILE_BERTH);
    w->policy.pools[0].starved_after_ms = LOST_MS;
    world_restart(w);
    w->requeues = true;
    world_node(w, &(struct world_node){"n", .cores = 12});
    past.first =
        world_submit_many(w, &(struct world_job){.queue = "C", .cores = 6}, 3);
    world_round(w, ROUND_BALANCE, 0);
    past.job = world_submit(w, &(struct world_job){.queue = "B"});
    return past;
}

/* B's job takes its place, and gives it up at LOST_MS; the preemptions of
 * that. */
static uint32_t pass(struct world *w)
{
    uint32_t taken_count = settle(w, SECOND);

    world_queue(w, "news", 1);
    return taken_count + settle(w, LOST_MS);
}

static bool waits(const struct world *w, uint32_t job)
{
    return w->node_of[job] == SCHED_NONE;
}

/* Without a cooldown the two would take the node from each other for ever. */
static void test_what_gave_way_does_not_take_for_fairness(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    assert_int_equal(pass(w), 2);
    assert_true(waits(w, past.job));
    assert_int_equal(world_running(w, "C"), 2);
}

/* A gang of B as large as both nodes but for one pod's place, and one of A that
 * starts with one pod: that one takes a place for fairness, so all of B's gang
 * goes, and A's grows into what it leaves.  Now A is so far above its share
 * that B's gang takes both places for fairness, and is itself above its. */
static void test_gangs_take_a_place_from_each_other_once(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_queue(w, "A", 1.5);
    world_node(w, &(struct world_node){"n0", .cores = 6});
    world_node(w, &(struct world_node){"n1", .cores = 8});
    (void)world_submit_group(
        w, &(struct world_job){.queue = "A", .cores = 6, .gang = "a"}, &terms);
    (void)world_submit_many(
        w,
        &(struct world_job){
            .queue = "B", .cores = 4, .gang = "b", .cardinality = 3},
        3);
    assert_true(settle(w, 0) <= 8);
}

/* The cooldown is over once it is old enough and something was new: not before
 * both, and then a plan is due. */
static void test_a_cooldown_ends_after_time_and_news(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    (void)pass(w);
    world_round(w, ROUND_BALANCE, 10 * COOLDOWN_MS);
    assert_int_equal(w->plan.decision_count, 0);

    world_queue(w, "D", 1); /* news */
    world_round(w, ROUND_BALANCE, 10 * COOLDOWN_MS + SECOND);
    assert_false(waits(w, past.job));
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->plan.decisions[1].is_by_share);

    /* And from then on again. */
    world_queue(w, "E", 1);
    assert_int_equal(settle(w, 11 * COOLDOWN_MS + 2 * SECOND), 1);
    assert_true(waits(w, past.job));
    world_queue(w, "F", 1);
    world_round(w, ROUND_BALANCE, 11 * COOLDOWN_MS + 20 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(w->plan.next_wake_ms, 12 * COOLDOWN_MS + 2 * SECOND);
}

/* Why B's job waits: not for want of room alone, but since it takes none. */
static void test_it_is_said_that_a_cooldown_is_the_cause(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);
    struct sched_explanation why;
    struct sched_need need;

    (void)pass(w);
    sched_explain_need(w->sched, past.job, LOST_MS + 5 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_COOLDOWN);
    assert_int_equal(why.until_ms, 0);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);

    world_queue(w, "D", 1); /* news */
    sched_explain_need(w->sched, past.job, LOST_MS + 5 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_COOLDOWN);
    assert_int_equal(why.until_ms, LOST_MS + COOLDOWN_MS);
    sched_explain_need(w->sched, past.job, LOST_MS + COOLDOWN_MS, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_CAPACITY);
}

/* The same of a group whose pods must be on nodes that are near: there is room
 * further away. */
static void test_it_is_said_of_groups_that_must_be_near_too(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("workers"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
    };
    struct sched_explanation why;
    struct sched_need need;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].topology[0] = STR("rack");
    w->policy.pools[0].level_count = 1;
    w->policy.pools[0].starved_after_ms = LOST_MS;
    world_restart(w);
    w->requeues = true;
    world_node(w, &(struct world_node){"n", 12, .label_key = "rack",
                                       .label_value = "r1"});
    world_node(w, &(struct world_node){"o", 1, .label_key = "rack",
                                       .label_value = "r2"});
    world_node(w, &(struct world_node){"p", 1, .label_key = "rack",
                                       .label_value = "r3"});
    (void)world_submit_many(w, &(struct world_job){.queue = "C", .cores = 6},
                            3);
    world_round(w, ROUND_BALANCE, 0);
    /* D wants its part, so that C has more than its own, and fits nowhere. */
    (void)world_submit(w, &(struct world_job){.queue = "D",
                                              .cores = 1,
                                              .selector_key = "zone",
                                              .selector_value = "none"});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "g"}, &terms);
    (void)pass(w);
    assert_true(waits(w, group));
    sched_explain_need(w->sched, group, LOST_MS + 5 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_COOLDOWN);
    sched_explain(w->sched, group, LOST_MS + 5 * SECOND, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TOPOLOGY);
}

/* What is more urgent takes its place from the less urgent as ever. */
static void test_urgency_knows_no_cooldown(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    (void)pass(w);
    assert_true(waits(w, past.job));
    uint32_t high = world_submit(
        w, &(struct world_job){.queue = "B", .priority_class = "high"});
    sched_job_cooldown(w->sched, high);
    world_round(w, ROUND_BALANCE, LOST_MS + 20 * SECOND);
    assert_false(waits(w, high));
    assert_true(w->preempted_count > 0);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        assert_false(w->plan.decisions[i].is_by_share);
    }
}

/* A like job behind one under a cooldown would only take what that one gave up.
 */
static void test_its_like_behind_it_does_not_take_in_its_stead(void **state)
{
    struct world *w = *state;

    (void)make_past(w);
    (void)pass(w);
    uint32_t like = world_submit(
        w, &(struct world_job){.queue = "B", .submitted_ms = SECOND});
    assert_int_equal(settle(w, LOST_MS + 10 * SECOND), 0);
    assert_true(waits(w, like));

    /* But one of another kind may take what its queue is due. */
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "B", .memory_gb = 1, .submitted_ms = SECOND});
    world_round(w, ROUND_BALANCE, LOST_MS + 30 * SECOND);
    assert_false(waits(w, other));
}

/* Free room is taken under a cooldown, and then it is as before. */
static void test_free_room_is_for_all(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);

    (void)pass(w);
    world_node(w, &(struct world_node){"m", .cores = 1});
    world_round(w, ROUND_FAST, LOST_MS + 10 * SECOND);
    assert_string_equal(world_node_of(w, past.job), "m");
}

/* B's urgent job may take nothing for fairness; A has too much of a class, and
 * B a job of it that it would fit better in the place of.  Where does it go? */
static const char *node_of_urgent(struct world *w, const char *priority_class)
{
    const struct world_job mine = {
        .queue = "A", .cores = 1, .priority_class = priority_class};

    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    uint32_t small = world_node(w, &(struct world_node){"small", .cores = 2});
    uint32_t big = world_node(w, &(struct world_node){"big", .cores = 8});
    uint32_t theirs = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 2, .priority_class = priority_class});
    world_lease(w, theirs, small, 0);
    for (int i = 0; i < 8; i++) {
        world_lease(w, world_submit(w, &mine), big, i);
    }
    uint32_t high = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 2, .priority_class = "high"});
    sched_job_cooldown(w->sched, high);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->preempted_count, 2);
    return world_node_of(w, high);
}

/* What is less urgent and of a queue over its share goes first, as for others:
 * urgency may take it, whether or not anything less urgent still runs. */
static void test_urgency_begins_with_who_has_too_much(void **state)
{
    assert_string_equal(node_of_urgent(*state, NULL), "big");
}

/* So it is with work of the class that is the least urgent of all. */
static void test_it_does_so_among_the_least_urgent(void **state)
{
    assert_string_equal(node_of_urgent(*state, "low"), "big");
}

/* Four of C's jobs fill a node and a fifth is reserved for, from when the first
 * of them must have ended; and B, which has nothing, wants a core. */
static struct past make_bounded(struct world *w, int64_t deadline_s)
{
    struct past past;

    set_profile(w, PROFILE_BERTH);
    world_node(w, &(struct world_node){"n", .cores = 4});
    past.first = world_submit_many(
        w, &(struct world_job){.queue = "C", .deadline_s = deadline_s}, 5);
    world_round(w, ROUND_BALANCE, 0);
    past.job = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, SECOND);
    return past;
}

/* The promise is kept, and what took its place meanwhile has it until then. */
static void
test_what_took_a_place_yields_when_the_start_was_promised(void **state)
{
    struct world *w = *state;
    struct past past = make_bounded(w, 10 * COOLDOWN_MS / SECOND);

    assert_false(waits(w, past.job));
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(w->plan.decisions[1].revocable_for, past.first + 4);
    assert_int_equal(w->plan.decisions[1].yields_from_ms, 10 * COOLDOWN_MS);
    assert_int_equal(settle(w, 2 * SECOND), 0);
    assert_int_equal(settle(w, 10 * COOLDOWN_MS - 1), 0);
    assert_true(waits(w, past.first + 4));
    assert_int_equal(settle(w, 10 * COOLDOWN_MS), 1);
    assert_true(waits(w, past.job));
    assert_false(waits(w, past.first + 4));
}

/* Nobody loses a run for one that would have to go at once. */
static void
test_nobody_goes_for_what_would_yield_within_a_cooldown(void **state)
{
    struct world *w = *state;
    struct past past = make_bounded(w, COOLDOWN_MS / SECOND);

    assert_true(waits(w, past.job));
    assert_int_equal(w->preempted_count, 0);

    /* Once that one has its place, the turn is B's. */
    world_end(w, past.first);
    (void)settle(w, 2 * SECOND);
    assert_false(waits(w, past.job));
}

/* So B's job waits, and it is said for whom the places are reserved, and from
 * when on; not where that is further away. */
static void test_it_is_said_that_a_promise_is_near(void **state)
{
    struct world *w = *state;
    struct past past = make_bounded(w, COOLDOWN_MS / SECOND);
    struct sched_explanation why;
    struct sched_need need;

    sched_explain_need(w->sched, past.job, 2 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_RESERVED_SOON);
    assert_int_equal(why.for_job, past.first + 4);
    assert_int_equal(why.until_ms, COOLDOWN_MS);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
}

/* The last of C's waits for its own promise, not for that it is near; and B's,
 * which the next round starts, is said to wait for nothing of that. */
static void test_it_is_not_said_of_others(void **state)
{
    struct world *w = *state;
    struct past past = make_bounded(w, 10 * COOLDOWN_MS / SECOND);
    struct sched_explanation why;
    struct sched_need need;

    sched_explain_need(w->sched, past.first + 4, 2 * SECOND, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_RESERVED);
    assert_int_equal(why.promised_ms, 10 * COOLDOWN_MS);
    uint32_t other = world_submit(w, &(struct world_job){.queue = "D"});
    sched_explain_need(w->sched, other, 2 * SECOND, &why, &need);
    assert_int_not_equal(why.wait, SCHED_WAIT_RESERVED_SOON);
}

/* What took a place says to whom it gives it up, and when. */
static void test_a_run_says_when_it_gives_way(void **state)
{
    struct world *w = *state;
    struct past past = make_bounded(w, 10 * COOLDOWN_MS / SECOND);
    struct sched_yielding yielding;

    assert_true(sched_job_yielding(w->sched, past.job, &yielding));
    assert_int_equal(yielding.for_job, past.first + 4);
    assert_int_equal(yielding.from_ms, 10 * COOLDOWN_MS);
    assert_false(sched_job_yielding(w->sched, past.first, &yielding));
    assert_false(sched_job_yielding(w->sched, past.first + 4, &yielding));
    world_end(w, past.first + 4);
    assert_false(sched_job_yielding(w->sched, past.job, &yielding));
}

/* A planner made anew from a checkpoint has the same cooldowns. */
static void test_cooldowns_are_in_checkpoints(void **state)
{
    struct world *w = *state;
    struct past past = make_past(w);
    struct world fresh;
    auto_strbuf before = {0}, after = {0};

    (void)pass(w);
    world_queue(w, "D", 1); /* news, for those before it */
    sched_job_cooldown(w->sched, past.first);
    sched_history_pack(w->sched, &before);

    world_init(&fresh);
    fresh.policy.pools[0] = w->policy.pools[0];
    world_restart(&fresh);
    sched_set_time(fresh.sched, w->sched->now_ms);
    world_node(&fresh, &(struct world_node){"n", .cores = 12});
    for (uint32_t i = 0; i < w->job_count; i++) {
        (void)world_submit(&fresh, &w->records[i]);
        if (!waits(w, i)) {
            world_lease(&fresh, i, w->node_of[i], 0);
        }
    }
    assert_int_equal(sched_history_unpack(fresh.sched, strbuf_str(&before)), 0);
    sched_history_pack(fresh.sched, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, before.byte_count);
    int64_t until_ms;
    assert_true(cooldown_holds(fresh.sched, past.job, 3 * SECOND, &until_ms));
    assert_int_equal(until_ms, LOST_MS + COOLDOWN_MS);
    assert_true(cooldown_holds(fresh.sched, past.first, 3 * SECOND, &until_ms));
    assert_int_equal(until_ms, INT64_MAX);
    world_fini(&fresh);
}

/* What a gang took it may not take again: all of its members are meant. */
static void test_a_gang_has_one_cooldown(void **state)
{
    struct world *w = *state;
    int64_t until_ms;

    world_queue(w, "A", 1);
    uint32_t first = world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = "g", .cardinality = 2}, 2);
    sched_job_cooldown(w->sched, first);
    assert_true(cooldown_holds(w->sched, first + 1, 0, &until_ms));
    world_end(w, first);
    assert_true(cooldown_holds(w->sched, first + 1, 0, &until_ms));
    world_end(w, first + 1);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(test_what_gave_way_does_not_take_for_fairness),
        SCENARIO(test_gangs_take_a_place_from_each_other_once),
        SCENARIO(test_a_cooldown_ends_after_time_and_news),
        SCENARIO(test_it_is_said_that_a_cooldown_is_the_cause),
        SCENARIO(test_it_is_said_of_groups_that_must_be_near_too),
        SCENARIO(test_urgency_knows_no_cooldown),
        SCENARIO(test_urgency_begins_with_who_has_too_much),
        SCENARIO(test_it_does_so_among_the_least_urgent),
        SCENARIO(test_its_like_behind_it_does_not_take_in_its_stead),
        SCENARIO(test_free_room_is_for_all),
        SCENARIO(test_what_took_a_place_yields_when_the_start_was_promised),
        SCENARIO(test_nobody_goes_for_what_would_yield_within_a_cooldown),
        SCENARIO(test_it_is_said_that_a_promise_is_near),
        SCENARIO(test_it_is_not_said_of_others),
        SCENARIO(test_a_run_says_when_it_gives_way),
        SCENARIO(test_cooldowns_are_in_checkpoints),
        SCENARIO(test_a_gang_has_one_cooldown),
    };
    return RUN_TESTS(tests);
}
