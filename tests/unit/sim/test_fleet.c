/*
 * fleet: what a row of the Philly trace says, and what becomes of it: virtual
 * clusters are queues, and a job larger than a node is a gang.
 *
 * The trace is not part of the project: its folder is $BERTH_TRACES, and
 * without it that test is skipped.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "sim/fleet.h"
#include "unit.h"

static const char rows[] = "timestamp,duration,num_gpus,gpu_time,cluster\n"
                           "2017-11-05 03:00:00,60.0,1,60.0,b\n"
                           "2017-11-04 23:00:00,100.0,12,1200.0,a\n"
                           "2017-11-05 03:00:00,30.0,8,240.0,a\n"
                           "\n";

static void rows_are_put_in_order_of_real_time(void **state)
{
    struct fleet_trace trace = {0};
    struct err err;

    (void)state;
    int rc = fleet_parse(str_of(rows), &trace, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(trace.jobs.count, 3);
    assert_int_equal(trace.jobs.items[0].gpu_count, 12);
    assert_int_equal(trace.jobs.items[0].submit_s, 0);
    /* Between them the clocks were put back by an hour. */
    assert_int_equal(trace.jobs.items[1].submit_s, 5 * 3600);
    assert_true(str_equal(trace.jobs.items[1].queue, STR("b")));
    assert_int_equal(trace.jobs.items[2].gpu_count, 8);
    fleet_trace_fini(&trace);
    rc = fleet_parse(STR("timestamp,duration\n2017-11-05 03:00:00,1,x,1,c\n"),
                     &trace, &err);
    assert_int_equal(rc, -ERR_INVALID);
    assert_non_null(strstr(err.text, "line 2"));
}

static struct tally_result play_it(const struct fleet_trace *trace,
                                   uint64_t job_limit, uint32_t *ret_queues)
{
    struct fleet_options options = {.gpu_count = 448,
                                    .profile = PROFILE_BERTH,
                                    .job_limit = job_limit,
                                    .sample_ms = 600000};
    struct tally tally = {0};
    struct tally_result result;
    struct world *world = NULL;
    struct err err;

    if (fleet_play(trace, &options, &tally, &world, &err) < 0) {
        fail_msg("%s", err.text);
    }
    tally_finish(&tally, &result);
    *ret_queues = (uint32_t)tally.queues.count;
    tally_fini(&tally);
    world_destroy(world);
    return result;
}

static void large_jobs_are_gangs_and_clusters_are_queues(void **state)
{
    struct fleet_trace trace = {0};
    struct err err;
    uint32_t queue_count;

    (void)state;
    int rc = fleet_parse(str_of(rows), &trace, &err);
    assert_int_equal(rc, 0);
    struct tally_result result = play_it(&trace, 0, &queue_count);
    assert_int_equal(result.submitted_count, 2 + 1 + 1);
    assert_int_equal(result.succeeded_count, 4);
    assert_int_equal(queue_count, 2);
    fleet_trace_fini(&trace);
}

static void the_first_thousands_of_the_real_trace_all_run(void **state)
{
    const char *folder = getenv("BERTH_TRACES");
    struct fleet_trace trace = {0};
    auto_strbuf path = {0};
    struct err err;
    uint32_t queue_count;

    (void)state;
    if (!folder) {
        print_message("skipped: $BERTH_TRACES names no folder\n");
        skip();
    }
    strbuf_addf(&path, "%s/philly-2017/philly.csv.gz", folder);
    if (fleet_read(strbuf_text(&path), &trace, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(trace.jobs.count, 82247);
    struct tally_result result = play_it(&trace, 2000, &queue_count);
    assert_true(result.submitted_count >= 2000);
    assert_int_equal(result.unstarted_count, 0);
    fleet_trace_fini(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_put_in_order_of_real_time),
        cmocka_unit_test(large_jobs_are_gangs_and_clusters_are_queues),
        cmocka_unit_test(the_first_thousands_of_the_real_trace_all_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
