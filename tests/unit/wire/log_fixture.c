#include "log_fixture.h"

struct job_id log_job(void)
{
    struct job_id id = {{0, 0}};

    assert_int_equal(job_id_parse(STR(JOB_TEXT), &id), 0);
    return id;
}

int log_remember(const struct log_item *item, void *ctx)
{
    struct seen *seen = ctx;

    assert_true(seen->count < SEEN_MAX);
    seen->items[seen->count++] = *item;
    return 0;
}

struct event log_round_trip(const struct event *event, struct arena *arena)
{
    auto_log_batch batch = {0};
    auto_strbuf again = {0};
    struct seen seen = {.count = 0};
    struct err err = {{0}};

    log_batch_add(&batch, &log_scope, event);
    struct str payload = arena_str(arena, log_batch_finish(&batch));
    assert_int_equal(log_decode(payload, arena, log_remember, &seen, &err), 0);
    assert_int_equal(seen.count, 1);
    assert_true(str_equal(seen.items[0].scope.queue, log_scope.queue));
    assert_true(str_equal(seen.items[0].scope.job_set, log_scope.job_set));
    assert_true(str_equal(seen.items[0].scope.user, log_scope.user));
    struct event out = seen.items[0].event;
    assert_int_equal(out.type, event->type);
    assert_true(out.created_ms == event->created_ms);
    log_encode_event(&again, &out);
    assert_true(str_equal(strbuf_str(&again), seen.items[0].encoded));
    return out;
}
