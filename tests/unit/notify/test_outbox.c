/*
 * outbox: what is kept for targets, tried again, and given up.
 */
#include "notify/outbox.h"
#include "unit.h"

enum { KEEP_MS = 60000, ROOM = 6 };

static bool add(struct outbox *outbox, uint32_t target, uint64_t seq)
{
    return outbox_add(outbox, target, seq, STR("id"), STR("body"), 0);
}

static void what_has_no_room_is_dropped_and_counted(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(2, ROOM, KEEP_MS);

    (void)state;
    for (uint64_t i = 1; i <= ROOM; i++) {
        assert_true(outbox_has_room(outbox));
        assert_true(add(outbox, 0, i));
    }
    assert_false(outbox_has_room(outbox));
    assert_false(add(outbox, 0, ROOM + 1));
    assert_true(add(outbox, 1, ROOM + 1)); /* another's room */
    assert_int_equal(outbox_counts(outbox, 0).full_count, 1);
    assert_int_equal(outbox_counts(outbox, 0).waiting_count, ROOM);
}

static void a_target_that_is_away_holds_up_nobody(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(1, ROOM, KEEP_MS);

    (void)state;
    for (uint64_t i = 1; i <= ROOM; i++) {
        assert_true(add(outbox, 0, i));
    }
    struct outbox_item *item = outbox_next(outbox, 0);
    assert_false(outbox_end(outbox, item, OUTBOX_LATER, 0));
    assert_true(outbox_has_room(outbox));
    item = outbox_next(outbox, 0);
    assert_false(outbox_end(outbox, item, OUTBOX_SENT, 0));
    assert_true(outbox_has_room(outbox));
    assert_true(add(outbox, 0, ROOM + 1));
    assert_false(outbox_has_room(outbox));
}

static void so_many_are_open_and_one_that_fails_holds_up_no_other(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(1, ROOM, KEEP_MS);
    struct outbox_item *bad = NULL;

    (void)state;
    for (uint64_t i = 1; i <= ROOM; i++) {
        assert_true(add(outbox, 0, i));
    }
    for (int i = 0; i < OUTBOX_OPEN_MAX; i++) {
        struct outbox_item *item = outbox_next(outbox, 0);
        assert_non_null(item);
        assert_int_equal(item->seq, i + 1);
        bad = bad ? bad : item;
    }
    assert_null(outbox_next(outbox, 0));
    assert_true(outbox_due_ms(outbox) == INT64_MAX);
    assert_false(outbox_end(outbox, bad, OUTBOX_LATER, 10));
    assert_null(outbox_next(outbox, 10));
    assert_int_equal(outbox_due_ms(outbox), 10 + OUTBOX_RETRY_MS_MIN);
    assert_ptr_equal(outbox_next(outbox, 10 + OUTBOX_RETRY_MS_MIN), bad);
    assert_int_equal(bad->attempt_count, 2);
}

static void pauses_double_until_it_is_too_old(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(1, ROOM, KEEP_MS);
    int64_t now_ms = 0, pause_ms = OUTBOX_RETRY_MS_MIN;

    (void)state;
    assert_true(add(outbox, 0, 1));
    for (bool is_gone = false; !is_gone; pause_ms *= 2) {
        struct outbox_item *item = outbox_next(outbox, now_ms);
        assert_non_null(item);
        is_gone = outbox_end(outbox, item, OUTBOX_LATER, now_ms);
        assert_int_equal(is_gone, now_ms + pause_ms > KEEP_MS);
        now_ms += pause_ms;
    }
    assert_int_equal(outbox_counts(outbox, 0).expired_count, 1);
    assert_int_equal(outbox_counts(outbox, 0).waiting_count, 0);
}

static void pauses_have_a_bound(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(1, ROOM, INT64_MAX / 2);
    int64_t now_ms = 0;

    (void)state;
    assert_true(add(outbox, 0, 1));
    for (int i = 0; i < 100; i++) {
        struct outbox_item *item = outbox_next(outbox, now_ms);
        assert_false(outbox_end(outbox, item, OUTBOX_LATER, now_ms));
        assert_true(outbox_due_ms(outbox) - now_ms <= OUTBOX_RETRY_MS_MAX);
        now_ms = outbox_due_ms(outbox);
    }
}

static void what_is_refused_is_not_tried_again(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(1, ROOM, KEEP_MS);

    (void)state;
    assert_true(add(outbox, 0, 1));
    assert_true(outbox_end(outbox, outbox_next(outbox, 0), OUTBOX_REFUSED, 0));
    assert_null(outbox_next(outbox, KEEP_MS));
    assert_int_equal(outbox_counts(outbox, 0).refused_count, 1);
}

static void the_position_is_before_all_that_is_not_told(void **state)
{
    auto_ptr(outbox) outbox = outbox_create(2, ROOM, KEEP_MS);

    (void)state;
    assert_int_equal(outbox_position(outbox, 0, 9), 9);
    assert_true(add(outbox, 0, 5));
    assert_true(add(outbox, 0, 7));
    assert_true(add(outbox, 0, 6));
    assert_int_equal(outbox_position(outbox, 0, 9), 4);
    assert_int_equal(outbox_position(outbox, 1, 9), 9);
    struct outbox_item *item = outbox_next(outbox, 0);
    assert_int_equal(outbox_position(outbox, 0, 9), 4); /* under way */
    assert_false(outbox_end(outbox, item, OUTBOX_SENT, 0));
    assert_int_equal(outbox_position(outbox, 0, 9), 5);
    assert_false(outbox_end(outbox, outbox_next(outbox, 0), OUTBOX_SENT, 0));
    assert_false(outbox_end(outbox, outbox_next(outbox, 0), OUTBOX_SENT, 0));
    assert_int_equal(outbox_position(outbox, 0, 9), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_has_no_room_is_dropped_and_counted),
        TEST(a_target_that_is_away_holds_up_nobody),
        TEST(so_many_are_open_and_one_that_fails_holds_up_no_other),
        TEST(pauses_double_until_it_is_too_old),
        TEST(pauses_have_a_bound),
        TEST(what_is_refused_is_not_tried_again),
        TEST(the_position_is_before_all_that_is_not_told),
    };

    return RUN_TESTS(tests);
}
