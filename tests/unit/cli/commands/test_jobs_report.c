/*
 * report jobs: sums of what the server tells of each job.
 */
#include "berth/api.pb-c.h"
#include "script.h"

/* A job that ran for `hours` on two cores. */
struct told {
    Berth__Api__JobSummary summary;
    Berth__Api__JobUsage usage;
    Google__Protobuf__Timestamp submitted;
};

static Berth__Api__JobSummary *tell(struct told *told, char *queue, int day,
                                    int64_t hours, Api__JobState state)
{
    static char id[] = "01hf7yat00040g2081040g2081";

    berth__api__job_summary__init(&told->summary);
    berth__api__job_usage__init(&told->usage);
    google__protobuf__timestamp__init(&told->submitted);
    told->submitted.seconds = (int64_t)day * 86400;
    told->usage.core_milli = 2000;
    told->usage.ran_ms = hours * 3600000;
    told->usage.wasted_ms =
        state == API__JOB_STATE__FAILED ? told->usage.ran_ms : 0;
    told->summary.job_id = id;
    told->summary.queue = queue;
    told->summary.state = state;
    told->summary.submitted = &told->submitted;
    told->summary.usage = &told->usage;
    return &told->summary;
}

static void jobs_are_summed_by_what_is_named(void **state)
{
    struct script *script = *state;
    Berth__Api__ListJobsResponse page = BERTH__API__LIST_JOBS_RESPONSE__INIT;
    char a[] = "a", b[] = "b";
    struct told told[4];
    Berth__Api__JobSummary *jobs[] = {
        tell(&told[0], b, 20003, 1, API__JOB_STATE__SUCCEEDED),
        tell(&told[1], a, 20002, 2, API__JOB_STATE__FAILED),
        tell(&told[2], a, 20001, 3, API__JOB_STATE__SUCCEEDED),
        tell(&told[3], a, 20000, 4, API__JOB_STATE__SUCCEEDED),
    };

    page.jobs = jobs;
    page.n_jobs = ARRAY_COUNT(jobs);
    answer(script, &page.base);
    /* Day 20001 since 1970 is 2024-10-05; what is older is not asked for. */
    check(ASK(script, "", "report", "jobs", "--by", "queue", "--from",
              "2024-10-05", "-o", "csv"),
          CLI_OK,
          "queue,JOBS,SUCCEEDED,FAILED,OTHER,WAITED H,CORE H,WASTED,GPU H,"
          "GPU WASTED\n"
          "a,2,1,1,0,0.0000,10.0000,4.0000,0.0000,0.0000\n"
          "b,1,1,0,0,0.0000,2.0000,0.0000,0.0000,0.0000\n",
          "");
    answer(script, &page.base);
    check(ASK(script, "", "report", "jobs", "--by", "day", "--to", "2024-10-04",
              "-o", "csv"),
          CLI_OK,
          "day,JOBS,SUCCEEDED,FAILED,OTHER,WAITED H,CORE H,WASTED,GPU H,"
          "GPU WASTED\n"
          "2024-10-04,1,1,0,0,0.0000,8.0000,0.0000,0.0000,0.0000\n",
          "");
}

/* What never started, or was stopped, has no exit code; 0 is none. */
static void only_what_ran_has_an_exit_code(void **state)
{
    static const struct {
        Api__JobState state;
        bool has_started;
        int32_t exit_code;
        const char *cell;
    } cases[] = {
        {API__JOB_STATE__SUCCEEDED, true, 0, "0"},
        {API__JOB_STATE__FAILED, true, 3, "3"},
        {API__JOB_STATE__FAILED, true, 0, "0"},
        {API__JOB_STATE__FAILED, false, 3, "3"},
        {API__JOB_STATE__FAILED, false, 0, ""},
        {API__JOB_STATE__REJECTED, false, 0, ""},
        {API__JOB_STATE__CANCELLED, true, 0, ""},
        {API__JOB_STATE__PREEMPTED, true, 0, ""},
    };
    struct script *script = *state;
    char queue[] = "q";

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        Berth__Api__ListJobsResponse page =
            BERTH__API__LIST_JOBS_RESPONSE__INIT;
        struct told told;
        Berth__Api__JobSummary *job =
            tell(&told, queue, 20001, 1, cases[i].state);
        job->finished = &told.submitted;
        job->started = cases[i].has_started ? &told.submitted : NULL;
        job->exit_code = cases[i].exit_code;
        page.jobs = &job;
        page.n_jobs = 1;
        answer(script, &page.base);
        struct run_result result =
            ASK(script, "", "report", "jobs", "-o", "csv");
        assert_non_null(strstr(result.out, "2024-10-05T00:00:00Z,"));
        const char *cell = strstr(result.out, "2024-10-05T00:00:00Z,") +
                           strlen("2024-10-05T00:00:00Z,");
        assert_int_equal(strcspn(cell, ","), strlen(cases[i].cell));
        assert_memory_equal(cell, cases[i].cell, strlen(cases[i].cell));
        free(result.out);
        free(result.err);
    }
}

static void headings_are_alike(void **state)
{
    struct script *script = *state;
    Berth__Api__ListJobsResponse page = BERTH__API__LIST_JOBS_RESPONSE__INIT;
    char queue[] = "q";
    struct told told;
    Berth__Api__JobSummary *job =
        tell(&told, queue, 20001, 1, API__JOB_STATE__SUCCEEDED);

    page.jobs = &job;
    page.n_jobs = 1;
    answer(script, &page.base);
    check(ASK(script, "", "report", "jobs", "--by", "queue,label:team"), CLI_OK,
          "QUEUE  LABEL:team  JOBS  SUCCEEDED  FAILED  OTHER  WAITED H  CORE H "
          " WASTED  GPU H   GPU WASTED\n"
          "q                  1     1          0       0      0.0000    2.0000 "
          " 0.0000  0.0000  0.0000\n",
          "");
}

/* The columns that rows are not by are not there, but for programs. */
static void usage_has_the_columns_that_it_is_by(void **state)
{
    struct script *script = *state;
    Berth__Api__Usage row = BERTH__API__USAGE__INIT, *rows[] = {&row};
    Berth__Api__GetUsageResponse response =
        BERTH__API__GET_USAGE_RESPONSE__INIT;
    char user[] = "anna";

    row.user = user;
    row.submitted = 2;
    response.usage = rows;
    response.n_usage = 1;
    answer(script, &response.base);
    struct run_result result =
        ASK(script, "", "report", "usage", "--by", "user");
    assert_memory_equal(result.out, "USER  JOBS  ", strlen("USER  JOBS  "));
    assert_non_null(strstr(result.out, "\nanna  2     "));
    free(result.out);
    free(result.err);
    answer(script, &response.base);
    result = ASK(script, "", "report", "usage", "--by", "user", "-o", "csv");
    assert_memory_equal(result.out, "DAY,QUEUE,USER,JOBS,",
                        strlen("DAY,QUEUE,USER,JOBS,"));
    assert_non_null(strstr(result.out, "\n,,anna,2,"));
    free(result.out);
    free(result.err);
}

static void a_label_has_a_key(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "report", "jobs", "--by", "label:"), CLI_USAGE, "",
          "berthctl: --by takes queue, user, jobset, name, day and label:KEY, "
          "not \"label:\"\n");
}

static void what_cannot_be_summed_by_is_refused(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "report", "jobs", "--by", "queue,colour"), CLI_USAGE,
          "",
          "berthctl: --by takes queue, user, jobset, name, day and label:KEY, "
          "not \"colour\"\n");
    assert_int_equal(script->call_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(jobs_are_summed_by_what_is_named),
        SERVED(only_what_ran_has_an_exit_code),
        SERVED(headings_are_alike),
        SERVED(usage_has_the_columns_that_it_is_by),
        SERVED(a_label_has_a_key),
        SERVED(what_cannot_be_summed_by_is_refused),
    };
    return RUN_TESTS(tests);
}
