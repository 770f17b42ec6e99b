/* window_codec: which maintenance windows may be made, and their records. */
#include <string.h>

#include "unit.h"
#include "wire/kube/window_codec.h"
#include "wire/message/message.h"

enum { BEGIN_S = 1000, HOUR_S = 3600 };

/* A window that is right, to be changed. */
struct sample {
    Google__Protobuf__Timestamp begin, end;
    char *names[2];
    Berth__Api__MaintenanceWindow window;
};

static void make(struct sample *sample)
{
    static char name[] = "cables", b[] = "b", a[] = "a";

    *sample = (struct sample){
        .begin = GOOGLE__PROTOBUF__TIMESTAMP__INIT,
        .end = GOOGLE__PROTOBUF__TIMESTAMP__INIT,
        .names = {b, a},
        .window = BERTH__API__MAINTENANCE_WINDOW__INIT,
    };
    sample->begin.seconds = BEGIN_S;
    sample->begin.nanos = 500000000;
    sample->end.seconds = 2 * BEGIN_S;
    sample->window.name = name;
    sample->window.begin = &sample->begin;
    sample->window.end = &sample->end;
    sample->window.lead_seconds = 60;
    sample->window.nodes = sample->names;
    sample->window.n_nodes = 2;
}

static void a_record_says_what_the_message_does(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct window_record record;
    struct err err;

    make(&sample);
    assert_int_equal(
        window_decode(wire_encode_arena(&sample.window.base, &arena), &arena,
                      &record, &err),
        0);
    assert_true(str_equal(record.name, STR("cables")));
    assert_int_equal(record.begin_ms, BEGIN_S * 1000 + 500);
    assert_int_equal(record.end_ms, 2 * BEGIN_S * 1000);
    assert_int_equal(record.lead_ms, 60 * 1000);
    assert_int_equal(record.node_count, 2);
    assert_true(str_equal(record.nodes[0], STR("a"))); /* in order */
    assert_int_equal(record.executor_count, 0);
}

static void one_that_repeats_ends_in_the_future(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct window_record record;
    struct err err;

    make(&sample);
    sample.window.repeat_seconds = HOUR_S;
    struct str encoded = wire_encode_arena(&sample.window.base, &arena);
    /* Its end is at 2000 s; an hour later it would be over once more. */
    for (int64_t i = 0; i <= 2; i++) {
        int64_t now_ms = (2 * BEGIN_S + i * HOUR_S) * 1000;
        struct str next = window_encode_next(encoded, now_ms, &arena);
        assert_int_equal(window_decode(next, &arena, &record, &err), 0);
        assert_int_equal(record.end_ms, now_ms + HOUR_S * 1000);
        assert_int_equal(record.begin_ms, record.end_ms - BEGIN_S * 1000 + 500);
        assert_int_equal(record.repeat_ms, HOUR_S * 1000);
    }
    /* The year 10000 is no time. */
    sample.end.seconds = INT64_C(253402300799);
    sample.begin.seconds = sample.end.seconds - 1;
    assert_int_equal(
        window_encode_next(wire_encode_arena(&sample.window.base, &arena),
                           sample.end.seconds * 1000, &arena)
            .byte_count,
        0);
}

/* Logs hold windows that would cost a record in each second. */
static void
one_of_an_older_log_repeats_after_the_least_from_then_on(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct sample sample;
    struct window_record record;
    struct err err;
    int64_t now_ms = 2 * BEGIN_S * 1000;

    make(&sample);
    sample.begin.seconds = sample.end.seconds - 1;
    sample.window.repeat_seconds = 1;
    struct str encoded = wire_encode_arena(&sample.window.base, &arena);
    assert_int_equal(window_decode(encoded, &arena, &record, &err), 0);
    assert_int_equal(record.repeat_ms, 1000);
    struct str next = window_encode_next(encoded, now_ms, &arena);
    assert_int_equal(window_decode(next, &arena, &record, &err), 0);
    assert_int_equal(record.end_ms, now_ms + WINDOW_REPEAT_S_MIN * 1000);
    assert_int_equal(record.repeat_ms, WINDOW_REPEAT_S_MIN * 1000);
}

#define REFUSED(sample, field)                                  \
    do {                                                        \
        struct err err_;                                        \
        assert_true(window_check(&(sample).window, &err_) < 0); \
        assert_memory_equal(err_.text, (field), strlen(field)); \
    } while (0)

static void what_is_wrong_is_named_by_its_field(void **state)
{
    (void)state;
    static char bad[] = "Not A Name", empty[] = "";
    char reason[WINDOW_REASON_BYTES_MAX + 2];
    struct sample sample;

    make(&sample);
    sample.window.name = bad;
    REFUSED(sample, "name:");
    make(&sample);
    sample.window.begin = NULL;
    REFUSED(sample, "begin:");
    make(&sample);
    sample.end.seconds = INT64_MAX;
    REFUSED(sample, "end:");
    make(&sample);
    sample.end = sample.begin;
    REFUSED(sample, "end: must be after begin");
    make(&sample);
    sample.window.lead_seconds = -1;
    REFUSED(sample, "leadSeconds:");
    make(&sample);
    sample.window.repeat_seconds = -1;
    REFUSED(sample, "repeatSeconds:");
    make(&sample);
    sample.window.repeat_seconds = BEGIN_S - 1; /* the window is longer */
    REFUSED(sample, "repeatSeconds: must be longer");
    make(&sample);
    sample.begin.seconds = sample.end.seconds - 1;
    sample.window.repeat_seconds = WINDOW_REPEAT_S_MIN - 1;
    REFUSED(sample, "repeatSeconds: must be 0 or from 3600 to ");
    make(&sample);
    sample.names[1] = empty;
    REFUSED(sample, "nodes[1]:");
    make(&sample);
    sample.window.all_nodes = true;
    REFUSED(sample, "allNodes:");
    make(&sample);
    sample.window.n_nodes = 0;
    REFUSED(sample, "name executors, nodes, pools or labels");
    make(&sample);
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    sample.window.reason = reason;
    REFUSED(sample, "reason:");
}

static void what_would_be_long_records_is_refused(void **state)
{
    (void)state;
    char name[WINDOW_NAME_BYTES_MAX + 2], *names[WINDOW_NAMES_MAX];
    struct sample sample;
    struct err err;

    make(&sample);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    sample.names[1] = name;
    REFUSED(sample, "nodes[1]: at most 253 bytes, not 254");
    name[sizeof(name) - 2] = '\0';
    assert_int_equal(window_check(&sample.window, &err), 0);
    for (size_t i = 0; i < WINDOW_NAMES_MAX; i++) {
        names[i] = name;
    }
    sample.window.nodes = names;
    sample.window.n_nodes = WINDOW_NAMES_MAX;
    REFUSED(sample, "it has 25"); /* such a name a node: some 256 KB */
    sample.window.n_nodes = WINDOW_BYTES_MAX / (WINDOW_NAME_BYTES_MAX + 10);
    assert_int_equal(window_check(&sample.window, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_says_what_the_message_does),
        cmocka_unit_test(one_that_repeats_ends_in_the_future),
        cmocka_unit_test(
            one_of_an_older_log_repeats_after_the_least_from_then_on),
        cmocka_unit_test(what_would_be_long_records_is_refused),
        cmocka_unit_test(what_is_wrong_is_named_by_its_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
