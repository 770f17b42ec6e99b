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
        SERVED(what_cannot_be_summed_by_is_refused),
    };
    return RUN_TESTS(tests);
}
