/* submit --when: what a forecast says, in words. */
#include "script.h"
#include "unit.h"

#define FILE_OF_ONE                                                       \
    "{\"queue\": \"q\", \"jobSetId\": \"s\", \"jobs\": [{\"namespace\": " \
    "\"default\", \"podSpec\": {\"containers\": [{\"name\": \"main\", "   \
    "\"image\": \"none\", \"command\": [\"true\"], \"resources\": "       \
    "{\"requests\": {\"cpu\": \"1\", \"memory\": \"1Gi\"}, \"limits\": "  \
    "{\"cpu\": \"1\", \"memory\": \"1Gi\"}}}]}}]}"

/* Let the server forecast a start after so many ms, and why not before. */
static void set_forecast(struct script *script, int64_t started_ms,
                         const char *why)
{
    static char node[] = "n1";
    auto_arena arena = {0};
    Berth__Api__WhatIfOutcome outcome = BERTH__API__WHAT_IF_OUTCOME__INIT;
    Berth__Api__WhatIfSubmitted job = BERTH__API__WHAT_IF_SUBMITTED__INIT;
    Berth__Api__WhatIfSubmitted *jobs[] = {&job};
    Berth__Api__WhatIfResponse response = BERTH__API__WHAT_IF_RESPONSE__INIT;

    outcome.started_ms = started_ms;
    outcome.node = node;
    job.fate = &outcome;
    job.why = arena_strdup(&arena, str_of(why));
    response.submitted = jobs;
    response.n_submitted = 1;
    answer(script, &response.base);
}

static void check_when(struct script *script, const char *expected)
{
    struct run_result result =
        ASK(script, FILE_OF_ONE, "submit", "-", "--when");

    assert_string_equal(result.err, "");
    assert_int_equal(result.code, CLI_OK);
    assert_non_null(strstr(result.out, expected));
    free(result.out);
    free(result.err);
}

static void only_the_first_moment_is_at_once(void **state)
{
    struct script *script = *state;

    set_forecast(script, 0, "");
    check_when(script, "\njobs[0] would start at once, on node n1\n");
    set_forecast(script, 7, "Every node where it could run is full.\n");
    check_when(script, "\njobs[0] would start after about 1s, on node n1\n"
                       "  Every node where it could run is full.\n");
    set_forecast(script, 1500, "");
    check_when(script, "\njobs[0] would start after about 2s, on node n1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(only_the_first_moment_is_at_once),
    };

    return RUN_TESTS(tests);
}
