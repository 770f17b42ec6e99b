/*
 * note: what is told of ends.
 */
#include "notify/note.h"
#include "unit.h"

static const struct stored_job job = {
    .id = {{1, 2}},
    .queue = {"physics", 7},
    .job_set = {"day", 3},
    .owner = {"anna", 4},
    .state = STORED_JOB_FAILED,
    .submitted_ms = 1000,
    .last_transition_ms = 61500,
    .run_count = 1,
    .error = {"disk \xff on \"fire\"", 16},
};

static void a_job_is_told_as_json_whatever_its_texts(void **state)
{
    const struct stored_run run = {.cluster = STR("local"), .exit_code = 3};
    auto_strbuf text = {0};

    (void)state;
    note_put_job(&job, &run, &text);
    assert_non_null(strstr(strbuf_text(&text), "{\"type\":\"job.ended\","
                                               "\"timestamp\":\"1970-01-01T"
                                               "00:01:01.500Z\",\"data\":{"
                                               "\"queue\":\"physics\""));
    assert_non_null(
        strstr(strbuf_text(&text), "\"reason\":\"disk \\\\xff on \\\"fire"));
    assert_non_null(strstr(strbuf_text(&text), "\"exitCode\":3"));
    strbuf_clear(&text);
    note_put_job(&job, NULL, &text);
    assert_null(strstr(strbuf_text(&text), "lastRun"));
}

/* A program may show the text to people as it is. */
static void nothing_in_a_text_moves_a_cursor_or_hides(void **state)
{
    struct stored_job odd = job;
    auto_strbuf text = {0};

    (void)state;
    odd.error = STR("M\xc3\xbcller \x1b[2J \xc2\x9b" /* CSI of C1 */
                    "31m \x7f \xe2\x80\xae"          /* turns text around */
                    "gnp.exe \xf3\xa0\x80\xa1");
    note_put_job(&odd, NULL, &text);
    assert_non_null(strstr(
        strbuf_text(&text),
        "\"reason\":\"M\xc3\xbcller \\u001B[2J \\u009b31m \\u007f \\u202e"
        "gnp.exe \\udb40\\udc21\""));
}

static void a_set_has_ended_when_all_its_jobs_have(void **state)
{
    struct stored_job_set set = {.queue = STR("q"), .name = STR("s")};

    (void)state;
    assert_false(note_set_has_ended(&set)); /* it has no jobs */
    set.counts[STORED_JOB_SUCCEEDED] = 2;
    assert_true(note_set_has_ended(&set));
    assert_int_equal(note_set_state(&set), STORED_JOB_SUCCEEDED);
    set.counts[STORED_JOB_CANCELLED] = 1;
    assert_int_equal(note_set_state(&set), STORED_JOB_CANCELLED);
    set.counts[STORED_JOB_PREEMPTED] = 1;
    assert_int_equal(note_set_state(&set), STORED_JOB_FAILED);
    set.counts[STORED_JOB_QUEUED] = 1;
    assert_false(note_set_has_ended(&set));
}

static void an_end_has_one_id_and_another_end_another(void **state)
{
    struct stored_job_set a = {STR("q"), STR("s"), {0}, 5};
    struct stored_job_set b = {STR("q"), STR("s"), {0}, 6};
    struct stored_job_set c = {STR("qs"), STR(""), {0}, 5};
    char ids[4][NOTE_ID_BYTES_MAX];

    (void)state;
    note_set_id(&a, ids[0]);
    note_set_id(&a, ids[1]);
    assert_string_equal(ids[0], ids[1]);
    note_set_id(&b, ids[1]);
    note_set_id(&c, ids[2]);
    note_job_id(&job, ids[3]);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(ids[i], ids[j]);
        }
    }
}

static void every_state_of_an_end_has_its_word(void **state)
{
    (void)state;
    for (int i = 0; i < STORED_JOB_STATES; i++) {
        const char *word = note_state_word((enum stored_job_state)i);
        assert_int_equal(note_state_of(str_of(word)), *word ? i : 0);
    }
    assert_int_equal(note_state_of(STR("running")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_is_told_as_json_whatever_its_texts),
        TEST(nothing_in_a_text_moves_a_cursor_or_hides),
        TEST(a_set_has_ended_when_all_its_jobs_have),
        TEST(an_end_has_one_id_and_another_end_another),
        TEST(every_state_of_an_end_has_its_word),
    };

    return RUN_TESTS(tests);
}
