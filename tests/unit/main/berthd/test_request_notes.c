/*
 * request_notes: which calls are said, at which level, and how often.
 */
#include <fcntl.h>
#include <unistd.h>

#include "main/berthd/request_notes.h"
#include "main/common/say.h"
#include "unit.h"

enum { OUT_BYTES_MAX = 32768 };

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

/* The notes, the call that each test changes, and what was said of it. */
struct scene {
    struct still_clock clock;
    struct request_notes notes;
    struct api_note note;
    char out[OUT_BYTES_MAX];
};

/* Say `count` such calls; `out` is what that writes. */
static void say_calls(struct scene *scene, int count)
{
    int ends[2], old = dup(STDERR_FILENO);

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    for (int i = 0; i < count; i++) {
        request_notes_say(&scene->notes, &scene->note);
    }
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    ssize_t length = read(ends[0], scene->out, OUT_BYTES_MAX - 1);
    scene->out[length > 0 ? length : 0] = '\0';
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(old);
}

static void assert_said(const struct scene *scene, const char *text)
{
    assert_non_null(strstr(scene->out, text));
}

static int scene_setup(void **state)
{
    struct scene *scene = mem_alloc(sizeof(*scene));

    scene->clock.clock =
        (struct clock){.mono_ns = still_mono_ns, .wall_ms = still_wall_ms};
    scene->note = (struct api_note){.method = "/api.Submit/CancelJobs",
                                    .request_id = "r1",
                                    .user = STR("anna"),
                                    .peer = STR("ipv4:10.0.0.1:4"),
                                    .queue = STR("q"),
                                    .job_set = STR("s"),
                                    .text = ""};
    request_notes_init(&scene->notes, &scene->clock.clock);
    *state = scene;
    return 0;
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;

    request_notes_fini(&scene->notes);
    mem_free(scene);
    return 0;
}

static void changes_are_said_and_other_calls_are_not(void **state)
{
    struct scene *scene = *state;

    say_calls(scene, 1);
    assert_string_equal(scene->out, "");
    scene->note.is_change = true;
    say_calls(scene, 1);
    assert_said(scene, " level=info event=call.done ");
    assert_said(scene, " user=anna peer=ipv4:10.0.0.1:4 queue=q "
                       "job_set=s code=OK ");
    assert_said(scene, " request_id=r1\n");
}

static void credentials_count_only_when_shown(void **state)
{
    struct scene *scene = *state;

    scene->note.code = RPC_UNAUTHENTICATED;
    scene->note.is_change = true;
    say_calls(scene, 1);
    assert_string_equal(scene->out, "");
    scene->note.has_credentials = true;
    say_calls(scene, 1);
    assert_said(scene, " level=warn event=auth.refused ");
}

static void refusals_are_limited_and_counted(void **state)
{
    struct scene *scene = *state;
    int count = 0;

    scene->note.is_denied = true;
    say_calls(scene, REQUEST_NOTES_REFUSED_MAX + 3);
    for (const char *at = scene->out; (at = strstr(at, "call.denied")); at++) {
        count++;
    }
    assert_int_equal(count, REQUEST_NOTES_REFUSED_MAX);
    scene->clock.now_ns = 1000000000;
    say_calls(scene, 1);
    assert_said(scene, "event=call.left_out count=3 of=call.denied\n");
    assert_said(scene, "event=call.denied");
}

static int count_of(const char *text, const char *word)
{
    int count = 0;

    for (; (text = strstr(text, word)); text++) {
        count++;
    }
    return count;
}

/* Whoever may do nothing can ask for changes all the same. */
static void changes_that_fail_are_limited_for_themselves(void **state)
{
    char id[1000];
    struct scene *scene = *state;

    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    scene->note.is_change = true;
    scene->note.code = RPC_NOT_FOUND;
    scene->note.request_id = id;
    say_calls(scene, REQUEST_NOTES_REFUSED_MAX + 3);
    assert_int_equal(count_of(scene->out, "event=call.done"),
                     REQUEST_NOTES_REFUSED_MAX);
    id[REQUEST_NOTES_ID_BYTES_MAX + 1] = '\0';
    assert_null(strstr(scene->out, id));
    /* Who was refused, and what was changed, is said beside them. */
    scene->note.is_denied = true;
    say_calls(scene, 1);
    assert_said(scene, "event=call.denied");
    scene->note.is_denied = false;
    scene->note.code = RPC_OK;
    say_calls(scene, 3);
    assert_int_equal(count_of(scene->out, "event=call.done"), 3);
}

/* Who cancels what has ended succeeds each time, and changes nothing. */
static void changes_of_one_principal_are_limited_and_hide_nobody(void **state)
{
    struct scene *scene = *state;

    scene->note.is_change = true;
    say_calls(scene, REQUEST_NOTES_DONE_MAX + 3);
    assert_int_equal(count_of(scene->out, "event=call.done"),
                     REQUEST_NOTES_DONE_MAX);
    scene->note.user = STR("ben");
    say_calls(scene, 1);
    assert_int_equal(count_of(scene->out, "event=call.done"), 1);
    assert_null(strstr(scene->out, "event=call.left_out"));
    scene->note.user = STR("anna");
    scene->clock.now_ns = 1000000000;
    say_calls(scene, 1);
    assert_said(scene, "event=call.left_out count=3 of=call.done\n");
    assert_said(scene, " user=anna ");
}

/* With more than are remembered, the last of them share; none is lost. */
static void of_many_principals_who_was_first_gives_way(void **state)
{
    struct scene *scene = *state;
    char name[16];

    scene->note.is_change = true;
    say_calls(scene, REQUEST_NOTES_DONE_MAX + 3);
    for (int second = 1; second <= 2; second++) {
        scene->clock.now_ns = (uint64_t)second * 1000000000;
        for (int i = 0; i < REQUEST_NOTES_PRINCIPALS; i++) {
            (void)snprintf(name, sizeof(name), "u%d-%d", second, i);
            scene->note.user = str_of(name);
            say_calls(scene, 1);
            assert_int_equal(count_of(scene->out, "event=call.done"), 1);
            assert_int_equal(count_of(scene->out, "left_out count=3"),
                             second == 1 && i == REQUEST_NOTES_PRINCIPALS - 1);
        }
    }
    scene->note.user = STR("anna"); /* beside one of them */
    say_calls(scene, REQUEST_NOTES_DONE_MAX + 3);
    assert_int_equal(count_of(scene->out, "event=call.done"),
                     REQUEST_NOTES_DONE_MAX - 1);
}

int main(void)
{
#define SCENE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)
    const struct CMUnitTest tests[] = {
        SCENE_TEST(changes_are_said_and_other_calls_are_not),
        SCENE_TEST(credentials_count_only_when_shown),
        SCENE_TEST(refusals_are_limited_and_counted),
        SCENE_TEST(changes_that_fail_are_limited_for_themselves),
        SCENE_TEST(changes_of_one_principal_are_limited_and_hide_nobody),
        SCENE_TEST(of_many_principals_who_was_first_gives_way),
    };

    return RUN_TESTS(tests);
}
