/*
 * What explain says of places that are promised: to whom a run gives its place
 * up, and from when on; and what metrics say of those that wait for one.
 */
#include <stdlib.h>

#include "leader_stage.h"
#include "unit.h"
#include "wire/text/rfc3339.h"

enum { HOUR_MS = 3600000 };

static void assert_says(struct str text, struct str expected)
{
    auto_mem char *copy = str_dup(text);
    auto_mem char *part = str_dup(expected);

    if (!strstr(copy, part)) {
        fail_msg("no \"%s\" in \"%s\"", part, copy);
    }
}

/* Beside a job of a queue one of `mine` waits for more than is free, and its
 * turn has come. */
static struct job_id make_head(struct stage *s, const char *queue,
                               const char *priority_class)
{
    struct stage_job like = {.priority_class = priority_class,
                             .cpu_milli = 6000};

    stage_queue(s, "mine");
    (void)stage_submit(s, queue, like);
    stage_settle(s);
    like.cpu_milli = 8000;
    struct job_id head = stage_submit(s, "mine", like);
    stage_settle(s);
    return head;
}

/* It went to free room, and gives it up as soon as that helps. */
static void what_backfills_says_for_whom_it_goes(void **state)
{
    struct stage *s = stage_begin(1);
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    struct job_id head = make_head(s, "q", "armada-default");
    struct job_id passer =
        stage_leased(s, (struct stage_job){.cpu_milli = 4000});
    auto_strbuf expected = {0};
    strbuf_addf(
        &expected,
        "It was placed ahead of job %s of queue mine and may be preempted "
        "for it at any time.\n",
        job_id_format(head, id));
    assert_says(stage_explain(s, passer)->explain.text, strbuf_str(&expected));
    strbuf_clear(&expected);
    strbuf_addf(&expected, "\"yields\":{\"toJob\":\"%s\",\"fromMs\":0}", id);
    assert_says(stage_explain(s, passer)->explain.json, strbuf_str(&expected));
    stage_end(s);
}

/* It took its place for fairness, and has it for an hour. */
static void what_took_a_place_says_how_long_it_has_it(void **state)
{
    struct stage *s = stage_begin(1);
    char from[WIRE_RFC3339_TEXT_BYTES_MAX];

    (void)state;
    int64_t since_ms = s->wall_ms;
    (void)make_head(s, "mine", NULL);
    struct job_id taker =
        stage_submit(s, "q", (struct stage_job){.cpu_milli = 5000});
    stage_settle(s);
    stage_pass(s, 5000);
    (void)stage_explain(s, taker);
    auto_mem char *json = str_dup(s->answer->explain.json);
    const char *at = strstr(json, "\"fromMs\":");
    assert_non_null(at);
    int64_t from_ms = strtoll(at + strlen("\"fromMs\":"), NULL, 10);
    assert_in_range(from_ms, since_ms + HOUR_MS, s->wall_ms + HOUR_MS);
    auto_strbuf expected = {0};
    strbuf_addf(
        &expected, " of queue mine and may be preempted for it from %s on",
        wire_rfc3339_format(from_ms / 1000, (int32_t)(from_ms % 1000) * 1000000,
                            3, from));
    assert_says(s->answer->explain.text, strbuf_str(&expected));
    stage_end(s);
}

static const struct pool_admitted *ask_admitted(struct stage *s)
{
    stage_do(s, command_create(COMMAND_QUERY_QUEUES));
    assert_int_equal(s->answer->queues.admitted_count, 1);
    return &s->answer->queues.admitted[0];
}

/* Its place is free when the job there must have ended. */
static void metrics_say_when_the_head_has_room(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    int64_t since_ms = s->wall_ms;
    assert_int_equal(ask_admitted(s)->count, 0);
    assert_int_equal(ask_admitted(s)->start_ms, INT64_MAX);
    struct stage_job like = {.priority_class = "armada-default",
                             .cpu_milli = 6000,
                             .deadline_ms = HOUR_MS};
    stage_queue(s, "mine");
    (void)stage_submit(s, "mine", like);
    stage_settle(s);
    like.cpu_milli = 8000;
    struct job_id head = stage_submit(s, "q", like);
    stage_settle(s);
    assert_int_equal(ask_admitted(s)->count, 1);
    assert_in_range(ask_admitted(s)->start_ms, since_ms + HOUR_MS,
                    s->wall_ms + HOUR_MS);
    stage_cancel(s, head);
    stage_settle(s);
    assert_int_equal(ask_admitted(s)->count, 0);
    assert_int_equal(ask_admitted(s)->start_ms, INT64_MAX);
    stage_end(s);
}

/* Nothing says when the other one ends. */
static void metrics_say_no_time_that_nothing_bounds(void **state)
{
    struct stage *s = stage_begin(1);

    (void)state;
    (void)make_head(s, "q", "armada-default");
    assert_int_equal(ask_admitted(s)->count, 1);
    assert_int_equal(ask_admitted(s)->start_ms, INT64_MAX);
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_backfills_says_for_whom_it_goes),
        TEST(what_took_a_place_says_how_long_it_has_it),
        TEST(metrics_say_when_the_head_has_room),
        TEST(metrics_say_no_time_that_nothing_bounds),
    };

    return RUN_TESTS(tests);
}
