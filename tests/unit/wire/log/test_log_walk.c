/* Sentences of wire/log/log_codec.h: sequences, and walks through them. */
#include "log_fixture.h"

static void test_unknown_events_and_ids_are_counted_as_none(void **state)
{
    auto_arena arena = {0};
    auto_log_batch batch = {0};
    auto_strbuf future = {0}, idless = {0};
    struct seen seen = {.count = 0};
    struct event good = {.type = EVENT_SUCCEEDED, .job = log_job()};

    (void)state;
    field_put_bytes(&future, 5000, STR("\x08\x01"));
    field_put_bytes(&idless, EVENT_SUCCEEDED, STR("\x1a\x03xyz"));
    log_batch_add_encoded(&batch, &log_scope, strbuf_str(&future));
    log_batch_add_encoded(&batch, &log_scope, strbuf_str(&idless));
    log_batch_add(&batch, &(struct event_scope){.queue = STR("other")}, &good);
    assert_int_equal(batch.event_count, 3);
    assert_int_equal(
        log_decode(log_batch_finish(&batch), &arena, log_remember, &seen, NULL),
        0);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.items[0].event.type, EVENT_NONE);
    assert_int_equal(seen.items[1].event.type, EVENT_NONE);
    assert_int_equal(seen.items[2].event.type, EVENT_SUCCEEDED);
    assert_int_equal(seen.items[2].index, 2);
    assert_int_equal(seen.items[1].sequence_index, 0);
    assert_int_equal(seen.items[2].sequence_index, 1);
    assert_false(seen.items[1].is_last);
    assert_true(seen.items[2].is_last);
}

static int stop_at_once(const struct log_item *item, void *ctx)
{
    (void)item;
    ++*(int *)ctx;
    return -ERR_CONFLICT;
}

static void test_the_callback_can_end_the_walk(void **state)
{
    auto_arena arena = {0};
    auto_log_batch batch = {0};
    struct event good = {.type = EVENT_SUCCEEDED, .job = log_job()};
    int calls = 0;

    (void)state;
    log_batch_add(&batch, &log_scope, &good);
    log_batch_add(&batch, &log_scope, &good);
    assert_int_equal(log_decode(log_batch_finish(&batch), &arena, stop_at_once,
                                &calls, NULL),
                     -ERR_CONFLICT);
    assert_int_equal(calls, 1);
}

static void test_a_torn_payload_is_corrupt(void **state)
{
    auto_arena arena = {0};
    auto_log_batch batch = {0};
    struct event good = {.type = EVENT_SUCCEEDED, .job = log_job()};

    (void)state;
    log_batch_add(&batch, &log_scope, &good);
    struct str payload = log_batch_finish(&batch);
    for (size_t cut = 1; cut < payload.byte_count; cut++) {
        struct seen seen = {.count = 0};
        assert_int_equal(log_decode(str_make(payload.p, cut), &arena,
                                    log_remember, &seen, NULL),
                         -ERR_CORRUPT);
    }
}

static void
test_equal_scopes_share_a_sequence_and_a_batch_is_reusable(void **state)
{
    auto_arena arena = {0};
    auto_log_batch batch = {0};
    struct event good = {.type = EVENT_SUCCEEDED, .job = log_job()};
    ProtobufCMessage *message;

    (void)state;
    for (int round = 0; round < 2; round++) {
        log_batch_add(&batch, &log_scope, &good);
        log_batch_add(&batch, &log_scope, &good);
        log_batch_add_sequence(&batch, STR(""), 0);
        log_batch_add(&batch, &log_scope, &good);
        assert_int_equal(wire_decode(&berth__log__batch__descriptor,
                                     log_batch_finish(&batch),
                                     &wire_request_limits, &arena, &message,
                                     NULL),
                         0);
        assert_int_equal(((Berth__Log__Batch *)message)->n_sequences, 3);
        log_batch_clear(&batch);
    }
}

struct encoded_seen {
    struct str events[SEEN_MAX];
    uint32_t count, count_max;
};

static int remember_encoded(const struct event_scope *of, struct str encoded,
                            void *ctx)
{
    struct encoded_seen *seen = ctx;

    assert_true(str_equal(of->user, log_scope.user));
    if (seen->count == seen->count_max) {
        return 1;
    }
    seen->events[seen->count++] = encoded;
    return 0;
}

static void test_a_job_set_is_walked_without_the_others(void **state)
{
    auto_arena arena = {0};
    auto_log_batch batch = {0};
    struct seen all = {.count = 0};
    struct encoded_seen seen = {.count_max = 2};
    struct event event = {.type = EVENT_SUCCEEDED, .job = log_job()};
    struct event_scope other_set = log_scope;
    struct event_scope other_queue = log_scope;

    (void)state;
    other_set.job_set = STR("another");
    other_queue.queue = STR("r");
    log_batch_add(&batch, &other_set, &event);
    log_batch_add(&batch, &log_scope, &event);
    log_batch_add(&batch, &other_queue, &event);
    event.created_ms = 5;
    log_batch_add(&batch, &log_scope, &event);
    struct str payload = log_batch_finish(&batch);
    assert_int_equal(log_decode(payload, &arena, log_remember, &all, NULL), 0);
    assert_int_equal(log_walk_job_set(payload, log_scope.queue,
                                      log_scope.job_set, remember_encoded,
                                      &seen, NULL),
                     0);
    assert_int_equal(seen.count, 2);
    assert_true(str_equal(seen.events[0], all.items[1].encoded));
    assert_true(str_equal(seen.events[1], all.items[3].encoded));
    seen = (struct encoded_seen){.count_max = 1};
    assert_int_equal(log_walk_job_set(payload, log_scope.queue,
                                      log_scope.job_set, remember_encoded,
                                      &seen, NULL),
                     1);
    assert_int_equal(log_walk_job_set(str_make(payload.p, 1), log_scope.queue,
                                      log_scope.job_set, remember_encoded,
                                      &seen, NULL),
                     -ERR_CORRUPT);
}

enum { AHEAD_COUNT = 40, SEQUENCE_COUNT = 7 };

/* How far a walk is that tells of its items before. */
struct ahead {
    uint32_t given_count;
    uint32_t stages[AHEAD_COUNT]; /* of each item: how many it was told in */
    bool was_last;
};

static void hear_soon(const struct log_item *item, uint32_t stage, void *ctx)
{
    struct ahead *ahead = ctx;

    assert_true(item->index >= ahead->given_count);
    assert_int_equal(item->event.created_ms, item->index);
    assert_int_equal(stage, ahead->stages[item->index]++);
}

static int take_in_order(const struct log_item *item, void *ctx)
{
    struct ahead *ahead = ctx;

    assert_int_equal(item->index, ahead->given_count++);
    assert_int_equal(item->event.created_ms, item->index);
    assert_int_equal(item->sequence_index, item->index / SEQUENCE_COUNT);
    assert_false(ahead->was_last);
    ahead->was_last = item->is_last;
    return 0;
}

/* Records shorter than what is held back, and longer; of the last items the
 * later stages are left out. */
static void test_items_are_told_of_in_stages_before_they_come(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= AHEAD_COUNT; count++) {
        auto_arena arena = {0};
        auto_log_batch batch = {0};
        struct ahead ahead = {.given_count = 0};
        struct log_taker taker = {take_in_order, hear_soon, &ahead};
        for (uint32_t i = 0; i < count; i++) {
            char set[] = {(char)('a' + i / SEQUENCE_COUNT)};
            struct event_scope scope = {.queue = STR("q"),
                                        .job_set = {set, sizeof(set)}};
            struct event event = {
                .type = EVENT_SUCCEEDED, .created_ms = i, .job = log_job()};
            log_batch_add(&batch, &scope, &event);
        }
        assert_int_equal(
            log_decode_ahead(log_batch_finish(&batch), &arena, &taker, NULL),
            0);
        assert_int_equal(ahead.given_count, count);
        assert_true(ahead.was_last);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t stages = (count - 1 - i) / LOG_SOON_DISTANCE + 1;
            assert_int_equal(ahead.stages[i], stages < LOG_SOON_STAGES
                                                  ? stages
                                                  : LOG_SOON_STAGES);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unknown_events_and_ids_are_counted_as_none),
        TEST(test_the_callback_can_end_the_walk),
        TEST(test_a_torn_payload_is_corrupt),
        TEST(test_equal_scopes_share_a_sequence_and_a_batch_is_reusable),
        TEST(test_a_job_set_is_walked_without_the_others),
        TEST(test_items_are_told_of_in_stages_before_they_come),
    };
    return RUN_TESTS(tests);
}
