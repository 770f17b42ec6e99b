/*
 * request_notes: which calls are said, at which level, and how often.
 */
#include <fcntl.h>
#include <unistd.h>

#include "main/berthd/request_notes.h"
#include "main/common/say.h"
#include "unit.h"

enum { OUT_BYTES_MAX = 16384 };

struct still_clock {
    struct clock clock;
    uint64_t now_ns;
};

static uint64_t still_mono_ns(const struct clock *clock)
{
    return ((const struct still_clock *)(const void *)clock)->now_ns;
}

static int64_t still_wall_ms(const struct clock *clock)
{
    (void)clock;
    return 0;
}

/* What is said of `count` such calls. */
static void said(struct request_notes *notes, const struct api_note *note,
                 int count, char out[OUT_BYTES_MAX])
{
    int ends[2], old = dup(STDERR_FILENO);

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    for (int i = 0; i < count; i++) {
        request_notes_say(notes, note);
    }
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    ssize_t length = read(ends[0], out, OUT_BYTES_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(old);
}

static struct api_note sample(void)
{
    return (struct api_note){.method = "/api.Submit/CancelJobs",
                             .request_id = "r1",
                             .user = STR("anna"),
                             .peer = STR("ipv4:10.0.0.1:4"),
                             .queue = STR("q"),
                             .job_set = STR("s"),
                             .text = ""};
}

static void changes_are_said_and_other_calls_are_not(void **state)
{
    (void)state;
    struct still_clock clock = {
        {.mono_ns = still_mono_ns, .wall_ms = still_wall_ms}, 0};
    struct api_note note = sample();
    struct request_notes notes;
    char out[OUT_BYTES_MAX];

    request_notes_init(&notes, &clock.clock);
    said(&notes, &note, 1, out);
    assert_string_equal(out, "");
    note.is_change = true;
    said(&notes, &note, 1, out);
    assert_non_null(strstr(out, " level=info event=call.done "));
    assert_non_null(strstr(out, " user=anna peer=ipv4:10.0.0.1:4 queue=q "
                                "job_set=s code=OK "));
    assert_non_null(strstr(out, " request_id=r1\n"));
    request_notes_fini(&notes);
}

static void credentials_count_only_when_shown(void **state)
{
    (void)state;
    struct still_clock clock = {
        {.mono_ns = still_mono_ns, .wall_ms = still_wall_ms}, 0};
    struct api_note note = sample();
    struct request_notes notes;
    char out[OUT_BYTES_MAX];

    request_notes_init(&notes, &clock.clock);
    note.code = RPC_UNAUTHENTICATED;
    note.is_change = true;
    said(&notes, &note, 1, out);
    assert_string_equal(out, "");
    note.has_credentials = true;
    said(&notes, &note, 1, out);
    assert_non_null(strstr(out, " level=warn event=auth.refused "));
    request_notes_fini(&notes);
}

static void refusals_are_limited_and_counted(void **state)
{
    (void)state;
    struct still_clock clock = {
        {.mono_ns = still_mono_ns, .wall_ms = still_wall_ms}, 0};
    struct api_note note = sample();
    struct request_notes notes;
    char out[OUT_BYTES_MAX];
    int count = 0;

    request_notes_init(&notes, &clock.clock);
    note.is_denied = true;
    said(&notes, &note, REQUEST_NOTES_REFUSED_MAX + 3, out);
    for (const char *at = out; (at = strstr(at, "call.denied")); at++) {
        count++;
    }
    assert_int_equal(count, REQUEST_NOTES_REFUSED_MAX);
    clock.now_ns = 1000000000;
    said(&notes, &note, 1, out);
    assert_non_null(strstr(out, "event=call.left_out count=3\n"));
    assert_non_null(strstr(out, "event=call.denied"));
    request_notes_fini(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_are_said_and_other_calls_are_not),
        TEST(credentials_count_only_when_shown),
        TEST(refusals_are_limited_and_counted),
    };

    return RUN_TESTS(tests);
}
