/*
 * target: who wants to hear of what, and by which name.
 */
#include "notify/target.h"
#include "unit.h"

static void a_target_wants_what_it_says(void **state)
{
    const struct str queues[] = {STR("a"), STR("b")};
    struct notify_target target = {.name = STR("chat"),
                                   .events = NOTIFY_JOB,
                                   .states = 1u << STORED_JOB_FAILED,
                                   .queues = queues,
                                   .queue_count = 2};

    (void)state;
    assert_true(
        notify_target_wants(&target, NOTIFY_JOB, STR("b"), STORED_JOB_FAILED));
    assert_false(notify_target_wants(&target, NOTIFY_JOB_SET, STR("b"),
                                     STORED_JOB_FAILED));
    assert_false(notify_target_wants(&target, NOTIFY_JOB, STR("b"),
                                     STORED_JOB_SUCCEEDED));
    assert_false(
        notify_target_wants(&target, NOTIFY_JOB, STR("c"), STORED_JOB_FAILED));
    target.states = 0;
    target.queue_count = 0;
    assert_true(notify_target_wants(&target, NOTIFY_JOB, STR("c"),
                                    STORED_JOB_CANCELLED));
}

static void a_job_names_targets_by_whole_names(void **state)
{
    const struct notify_target target = {.name = STR("chat")};

    (void)state;
    assert_true(notify_target_is_named(&target, STR("chat")));
    assert_true(notify_target_is_named(&target, STR("pager, chat")));
    assert_true(notify_target_is_named(&target, STR("chat,pager")));
    assert_false(notify_target_is_named(&target, STR("chatter,cha")));
    assert_false(notify_target_is_named(&target, STR("")));
    assert_true(notify_is_name(STR("a-B_9.x")));
    assert_false(notify_is_name(STR("a b")));
    assert_false(notify_is_name(STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_target_wants_what_it_says),
        TEST(a_job_names_targets_by_whole_names),
    };

    return RUN_TESTS(tests);
}
