/*
 * follow: lists and watches, over an API server that answers what the test
 * says.
 */
#include "kube/api/envelope.h"
#include "kube/api/follow.h"
#include "kube/api/retry.h"
#include "scripted_port.h"
#include "unit.h"

/* What was told: a letter for each thing, names after objects. */
struct fixture {
    struct scripted_port port;
    struct follow *follow;
    struct strbuf told;
    struct strbuf bytes;
};

static int64_t now_ms;

static uint64_t mono_ns(const struct clock *clock)
{
    (void)clock;
    return (uint64_t)now_ms * 1000000;
}

static void fill_zeros(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0, byte_count);
}

static const struct clock test_clock = {.mono_ns = mono_ns};
static const struct rng zeros = {fill_zeros};

static void on_begin(void *ctx)
{
    strbuf_add_text(&((struct fixture *)ctx)->told, "(");
}

static void add_name(struct fixture *f, const char *sign, struct str object)
{
    struct object_head head;

    assert_int_equal(object_head_read(object, &head), 0);
    strbuf_add_text(&f->told, sign);
    strbuf_add_str(&f->told, head.name);
}

static void on_object(void *ctx, struct str object)
{
    add_name(ctx, "+", object);
}

static void on_gone(void *ctx, struct str object)
{
    add_name(ctx, "-", object);
}

static void on_listed(void *ctx)
{
    strbuf_add_text(&((struct fixture *)ctx)->told, ")");
}

static int set_up(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){.told = strbuf_make(0)};
    now_ms = 1000;
    scripted_port_init(&fixture.port);
    fixture.follow = follow_create(
        &fixture.port.port, &test_clock, &zeros,
        &(struct follow_options){
            .path = "/api/v1/pods",
            .query = "a=b",
            .told = {on_begin, on_object, on_gone, on_listed, &fixture}});
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    follow_destroy(f->follow);
    scripted_port_fini(&f->port);
    strbuf_fini(&f->told);
    strbuf_fini(&f->bytes);
    return 0;
}

static void answer_list(struct fixture *f, const char *const *names,
                        const char *version, const char *continue_)
{
    strbuf_clear(&f->bytes);
    scripted_list(&f->bytes, names, version, continue_);
    scripted_answer(&f->port, 200, strbuf_str(&f->bytes), -1);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

/* Drive until the port is asked, moving the clock; how long that took. */
static int64_t drive(struct fixture *f)
{
    int64_t began_ms = now_ms;

    for (int64_t in_ms; (in_ms = follow_drive(f->follow)) != INT64_MAX;) {
        assert_true(in_ms > 0);
        now_ms += in_ms;
    }
    return now_ms - began_ms;
}

/* Listed with one object, at version 7, and watching. */
static void start(struct fixture *f)
{
    (void)drive(f);
    answer_list(f, NAMES("a"), "7", "");
    (void)drive(f);
    assert_string_equal(strbuf_text(&f->told), "(+a)");
    strbuf_clear(&f->told);
}

static bool give_event(struct fixture *f, const char *type, const char *name,
                       const char *version)
{
    strbuf_clear(&f->bytes);
    scripted_event(&f->bytes, type, name, version);
    return scripted_bytes(&f->port, strbuf_str(&f->bytes));
}

static void a_list_comes_page_by_page(void **state)
{
    struct fixture *f = *state;

    (void)drive(f);
    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
    assert_string_equal(f->port.asked.accept, ENVELOPE_MEDIA_TYPE);
    answer_list(f, NAMES("a", "b"), "5", "more");
    assert_int_equal(drive(f), 0);
    assert_string_equal(f->port.asked.path,
                        "/api/v1/pods?a=b&limit=500&continue=more");
    answer_list(f, NAMES("c"), "5", "");

    assert_string_equal(strbuf_text(&f->told), "(+a+b+c)");
    assert_int_equal(drive(f), 0);
    assert_string_equal(f->port.asked.path,
                        "/api/v1/pods?a=b&watch=true&allowWatchBookmarks=true"
                        "&resourceVersion=5&timeoutSeconds=240");
    assert_string_equal(f->port.asked.accept,
                        ENVELOPE_MEDIA_TYPE ";stream=watch");
}

static void events_are_told_and_the_watch_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    start(f);

    assert_true(give_event(f, "ADDED", "b", "8"));
    assert_true(give_event(f, "MODIFIED", "a", "9"));
    assert_true(give_event(f, "DELETED", "b", "10"));
    assert_true(give_event(f, "BOOKMARK", "", "11"));
    assert_string_equal(strbuf_text(&f->told), "+b+a-b");
    scripted_answer(&f->port, 200, STR(""), -1);
    /* Not at once: watches that end early come one after the other. */
    assert_int_equal(drive(f), FOLLOW_WATCH_MS_MIN);

    assert_non_null(strstr(f->port.asked.path, "resourceVersion=11&"));
    assert_int_equal(follow_stats(f->follow)->failure_count, 0);
}

static void frames_come_in_any_pieces(void **state)
{
    struct fixture *f = *state;
    auto_strbuf bytes = strbuf_make(0);
    start(f);

    scripted_event(&bytes, "ADDED", "b", "8");
    scripted_event(&bytes, "ADDED", "c", "9");
    for (size_t i = 0; i < bytes.byte_count; i++) {
        assert_true(scripted_bytes(&f->port, str_make(bytes.bytes + i, 1)));
    }
    assert_true(scripted_bytes(&f->port, strbuf_str(&bytes)));

    assert_string_equal(strbuf_text(&f->told), "+b+c+b+c");
}

static void a_watch_that_expired_is_listed_anew(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_true(give_event(f, "ADDED", "b", "8"));
    strbuf_clear(&f->bytes);
    scripted_error(&f->bytes, 410);

    assert_false(scripted_bytes(&f->port, strbuf_str(&f->bytes)));
    scripted_answer(&f->port, 200, STR(""), -1);
    assert_int_equal(drive(f), FOLLOW_WATCH_MS_MIN);
    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
    answer_list(f, NAMES("b"), "20", "");

    assert_string_equal(strbuf_text(&f->told), "+b(+b)");
}

static void a_watch_that_begins_too_late_is_not_repeated_at_once(void **state)
{
    struct fixture *f = *state;
    int64_t pause_ms = 0;
    start(f);

    for (int i = 0; i < 20; i++) {
        scripted_answer(&f->port, 410, STR(""), -1);
        pause_ms = drive(f);
        assert_in_range(pause_ms, RETRY_FIRST_MS, RETRY_MS_MAX);
        answer_list(f, NAMES("a"), "7", "");
        (void)drive(f);
    }
    assert_int_equal(pause_ms, RETRY_MS_MAX);
}

static void pages_that_expired_are_listed_from_the_first(void **state)
{
    struct fixture *f = *state;
    (void)drive(f);
    answer_list(f, NAMES("a"), "5", "more");
    (void)drive(f);

    scripted_answer(&f->port, 410, STR(""), -1);
    assert_true(drive(f) >= RETRY_FIRST_MS);
    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
    answer_list(f, NAMES("b"), "9", "");

    assert_string_equal(strbuf_text(&f->told), "(+a(+b)");
    assert_int_equal(follow_stats(f->follow)->list_count, 1);
}

static void pauses_double_and_end_with_success(void **state)
{
    struct fixture *f = *state;
    int64_t pauses_ms[12];
    (void)drive(f);

    for (size_t i = 0; i < ARRAY_COUNT(pauses_ms); i++) {
        scripted_break(&f->port);
        pauses_ms[i] = drive(f);
    }
    assert_int_equal(pauses_ms[0], RETRY_FIRST_MS);
    assert_int_equal(pauses_ms[1], 2 * RETRY_FIRST_MS);
    assert_int_equal(pauses_ms[11], RETRY_MS_MAX);
    assert_string_equal(follow_stats(f->follow)->failure.text,
                        "/api/v1/pods: status 0: gone away");
    answer_list(f, NAMES("a"), "5", "");
    (void)drive(f);
    scripted_break(&f->port);
    assert_int_equal(drive(f), RETRY_FIRST_MS);
}

static void what_the_server_says_of_waiting_is_kept(void **state)
{
    struct fixture *f = *state;
    (void)drive(f);

    scripted_answer(&f->port, 429, STR("Too many requests"), 3000);
    assert_true(drive(f) >= 3000);
    strbuf_clear(&f->bytes);
    scripted_status(&f->bytes, 503, "not now", 5);
    scripted_answer(&f->port, 503, strbuf_str(&f->bytes), -1);
    assert_true(drive(f) >= 5000);

    assert_string_equal(follow_stats(f->follow)->failure.text,
                        "/api/v1/pods: status 503: not now");
    assert_int_equal(follow_stats(f->follow)->failure_count, 2);
}

static void what_does_not_decode_is_no_end(void **state)
{
    struct fixture *f = *state;
    (void)drive(f);
    scripted_answer(&f->port, 200, STR("<html>"), -1);
    assert_true(drive(f) > 0);
    scripted_answer(&f->port, 200, STR("k8s\0\x12\x7f"), -1);
    assert_true(drive(f) > 0);
    answer_list(f, NAMES("a"), "7", "");
    (void)drive(f);

    assert_non_null(strstr(f->port.asked.path, "watch=true"));
}

/* An event that would come again with each watch: listed anew. */
static void assert_left_behind(struct fixture *f, struct str bytes,
                               const char *why)
{
    uint64_t bad_count = follow_stats(f->follow)->bad_count;

    assert_false(scripted_bytes(&f->port, bytes));
    scripted_answer(&f->port, 200, STR(""), -1);
    assert_true(drive(f) > 0);
    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
    assert_non_null(strstr(follow_stats(f->follow)->failure.text, why));
    assert_int_equal(follow_stats(f->follow)->bad_count, bad_count + 1);
    answer_list(f, NAMES("a"), "70", "");
    (void)drive(f);
    assert_non_null(strstr(f->port.asked.path, "resourceVersion=70&"));
}

static void what_cannot_be_taken_is_left_behind(void **state)
{
    struct fixture *f = *state;
    auto_strbuf bytes = strbuf_make(0), version = strbuf_make(0);
    start(f);

    assert_left_behind(f, STR("\xff\xff\xff\xff"), "larger than 16 MiB");
    assert_left_behind(f, STR("\0\0\0\1\xff"), "does not decode");
    scripted_event(&bytes, "ADDED", "b", "");
    assert_left_behind(f, strbuf_str(&bytes), "no usable resourceVersion");
    for (int i = 0; i <= FOLLOW_VERSION_BYTES_MAX; i++) {
        strbuf_add_char(&version, '1');
    }
    strbuf_clear(&bytes);
    scripted_event(&bytes, "ADDED", "b", strbuf_text(&version));
    assert_left_behind(f, strbuf_str(&bytes), "no usable resourceVersion");
}

static void what_the_server_says_does_not_change_the_question(void **state)
{
    struct fixture *f = *state;
    (void)drive(f);

    answer_list(f, NAMES("a"), "5", "a&b=c/ #+\xc3\xa4-._~9Z");
    (void)drive(f);
    assert_string_equal(f->port.asked.path,
                        "/api/v1/pods?a=b&limit=500&continue="
                        "a%26b%3Dc%2F%20%23%2B%C3%A4-._~9Z");
    answer_list(f, NAMES("b"), "5&watch=false", "");
    (void)drive(f);
    assert_non_null(
        strstr(f->port.asked.path, "resourceVersion=5%26watch%3Dfalse&"));
}

static void a_list_that_cannot_be_gone_on_with_begins_anew(void **state)
{
    struct fixture *f = *state;
    auto_strbuf continue_ = strbuf_make(0);
    for (int i = 0; i <= FOLLOW_CONTINUE_BYTES_MAX; i++) {
        strbuf_add_char(&continue_, 'c');
    }
    (void)drive(f);

    answer_list(f, NAMES("a"), "5", strbuf_text(&continue_));
    assert_true(drive(f) >= RETRY_FIRST_MS);
    answer_list(f, NAMES("a"), "", "");
    assert_true(drive(f) >= RETRY_FIRST_MS);
    answer_list(f, NAMES("b"), "5", "");

    assert_string_equal(strbuf_text(&f->told), "(+a(+a(+b)");
}

static void a_list_has_an_end(void **state)
{
    struct fixture *f = *state;
    const int most = FOLLOW_OBJECTS_MAX / FOLLOW_PAGE_MAX;
    (void)drive(f);

    for (int i = 0; i < most; i++) {
        answer_list(f, NAMES("a"), "5", "more");
        assert_int_equal(drive(f), 0);
    }
    answer_list(f, NAMES("a"), "5", "more");
    assert_true(drive(f) >= RETRY_FIRST_MS);

    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
    assert_non_null(strstr(follow_stats(f->follow)->failure.text, "not end"));
}

static void a_large_frame_may_come_byte_by_byte(void **state)
{
    struct fixture *f = *state;
    start(f);

    assert_true(scripted_bytes(&f->port, STR("\0\x10\0\0")));
    for (int i = 0; i < (1 << 20) - 1; i++) {
        assert_true(scripted_bytes(&f->port, STR("x")));
    }
    assert_false(scripted_bytes(&f->port, STR("x")));
}

static void what_the_server_says_of_waiting_is_bounded(void **state)
{
    struct fixture *f = *state;
    (void)drive(f);

    scripted_answer(&f->port, 429, STR(""), INT64_MAX - 1);
    assert_in_range(drive(f), RETRY_AFTER_MS_MAX,
                    RETRY_AFTER_MS_MAX + RETRY_MS_MAX);
    strbuf_clear(&f->bytes);
    scripted_status(&f->bytes, 503, "\x1b[31mred\nline", 2000000000);
    scripted_answer(&f->port, 503, strbuf_str(&f->bytes), -1);
    assert_in_range(drive(f), RETRY_AFTER_MS_MAX,
                    RETRY_AFTER_MS_MAX + RETRY_MS_MAX);
    /* And it says it on one line, without colours. */
    assert_null(strchr(follow_stats(f->follow)->failure.text, '\n'));
    assert_null(strchr(follow_stats(f->follow)->failure.text, '\x1b'));
}

static void who_is_not_taken_asks_again_later(void **state)
{
    struct fixture *f = *state;

    f->port.is_full = true;
    assert_in_range(follow_drive(f->follow), RETRY_FIRST_MS / 2,
                    RETRY_FIRST_MS);
    f->port.is_full = false;
    assert_true(drive(f) > 0);
    assert_string_equal(f->port.asked.path, "/api/v1/pods?a=b&limit=500");
}

static void who_stops_is_told_no_more(void **state)
{
    struct fixture *f = *state;
    start(f);

    follow_destroy(f->follow);
    f->follow = NULL;

    assert_int_equal(f->port.cancel_count, 1);
}

#define FOLLOW_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLLOW_TEST(a_list_comes_page_by_page),
        FOLLOW_TEST(events_are_told_and_the_watch_goes_on_where_it_was),
        FOLLOW_TEST(frames_come_in_any_pieces),
        FOLLOW_TEST(a_watch_that_expired_is_listed_anew),
        FOLLOW_TEST(a_watch_that_begins_too_late_is_not_repeated_at_once),
        FOLLOW_TEST(pages_that_expired_are_listed_from_the_first),
        FOLLOW_TEST(pauses_double_and_end_with_success),
        FOLLOW_TEST(what_the_server_says_of_waiting_is_kept),
        FOLLOW_TEST(what_does_not_decode_is_no_end),
        FOLLOW_TEST(what_cannot_be_taken_is_left_behind),
        FOLLOW_TEST(what_the_server_says_does_not_change_the_question),
        FOLLOW_TEST(a_list_that_cannot_be_gone_on_with_begins_anew),
        FOLLOW_TEST(a_list_has_an_end),
        FOLLOW_TEST(a_large_frame_may_come_byte_by_byte),
        FOLLOW_TEST(what_the_server_says_of_waiting_is_bounded),
        FOLLOW_TEST(who_is_not_taken_asks_again_later),
        FOLLOW_TEST(who_stops_is_told_no_more),
    };
    return RUN_TESTS(tests);
}
