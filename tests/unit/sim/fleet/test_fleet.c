/*
 * fleet: what a row of the Philly trace says, and what becomes of it: virtual
 * clusters are queues, and a job larger than a node is a gang.
 *
 * The trace is not part of the project (support/traces.h), and without it that
 * test is skipped.
 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "sim/fleet/fleet.h"
#include "traces.h"
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
    rc = fleet_parse(STR("timestamp,duration,num_gpus,gpu_time,cluster\n"),
                     &trace, &err);
    assert_int_equal(rc, -ERR_INVALID);
    assert_non_null(strstr(err.text, "no job"));
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

static const char inventory[] = "m1,T4,96,512,2\n"
                                "m2,P100,64,512,2\n"
                                "m3,CPU,96,512,0\n"
                                "m4,T4,96,512,8\r\n"
                                "m5,T4,96,512,2\n";

static void machines_are_kept_by_type_in_parts(void **state)
{
    struct fleet_machines machines = {0};
    struct err err;

    (void)state;
    int rc = fleet_machines_parse(str_of(inventory), 2, &machines, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(machines.type_count, 2);
    assert_true(str_equal(machines.types[0].name, STR("P100")));
    assert_int_equal(machines.types[0].machine_count, 1);
    /* Of the three T4 the first and the third. */
    assert_int_equal(machines.types[1].machine_count, 2);
    assert_int_equal(machines.types[1].gpu_count, 4);
    assert_int_equal(machines.types[1].gpus_min, 2);
    assert_int_equal(machines.items.count, 3);
    assert_true(str_equal(machines.items.items[2].name, STR("m5")));
    fleet_machines_fini(&machines);
}

static void a_bad_inventory_is_refused_with_its_line(void **state)
{
    struct fleet_machines machines = {0};
    struct err err;

    (void)state;
    int rc = fleet_machines_parse(STR("m1,T4,96,512,2\nm2,T4,x,512,2\n"), 1,
                                  &machines, &err);
    assert_int_equal(rc, -ERR_INVALID);
    assert_non_null(strstr(err.text, "line 2"));
    rc = fleet_machines_parse(STR("m3,CPU,96,512,0\n"), 1, &machines, &err);
    assert_int_equal(rc, -ERR_INVALID);
    assert_non_null(strstr(err.text, "GPU"));
}

static void a_part_without_a_job_is_refused(void **state)
{
    struct fleet_trace trace = {0};
    struct fleet_options options = {.gpu_count = 16,
                                    .profile = PROFILE_BERTH,
                                    .from_s = 100 * 3600,
                                    .sample_ms = 60000};
    struct tally tally = {0};
    struct world *world = NULL;
    struct err err;

    (void)state;
    assert_int_equal(fleet_parse(str_of(rows), &trace, &err), 0);
    assert_int_equal(fleet_play(&trace, &options, &tally, &world, &err),
                     -ERR_INVALID);
    assert_non_null(strstr(err.text, "from 100 h on; the last is after 5 h"));
    fleet_trace_fini(&trace);
}

/* Each virtual cluster has a pool of its own; what is too much for one runs
 * in the other. */
static void pools_of_an_inventory_lend_to_one_another(void **state)
{
    static const char two_clusters[] = "2017-11-04 23:00:00,1000.0,4,0,a\n"
                                       "2017-11-04 23:00:00,1000.0,2,0,a\n"
                                       "2017-11-04 23:10:00,10.0,1,0,b\n";
    struct fleet_machines machines = {0};
    struct fleet_trace trace = {0};
    struct fleet_options options = {
        .profile = PROFILE_BERTH, .machines = &machines, .sample_ms = 10000};
    struct tally tally = {0};
    struct tally_result result;
    struct world *world = NULL;
    struct err err;

    (void)state;
    assert_int_equal(fleet_parse(str_of(two_clusters), &trace, &err), 0);
    assert_int_equal(
        fleet_machines_parse(STR("machine,gpu_type,cap_cpu,cap_mem,cap_gpu\nm1,"
                                 "A,8,64,4\nm2,B,8,64,2\n"),
                             1, &machines, &err),
        0);
    assert_int_equal(fleet_play(&trace, &options, &tally, &world, &err), 0);
    tally_finish(&tally, &result);
    assert_int_equal(result.succeeded_count, 3);
    /* The small job of `a` borrowed m2, and lost it to b's own. */
    assert_int_equal(result.preemption_count, 1);
    assert_true(result.wait_s.max < 60);
    tally_fini(&tally);
    world_destroy(world);
    fleet_machines_fini(&machines);
    fleet_trace_fini(&trace);
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
    auto_mem char *path = trace_path("philly-2017/philly.csv.gz");
    struct fleet_trace trace = {0};
    struct err err;
    uint32_t queue_count;

    (void)state;
    if (!path) {
        skip();
    }
    if (fleet_read(path, &trace, &err) < 0) {
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
        cmocka_unit_test(machines_are_kept_by_type_in_parts),
        cmocka_unit_test(a_bad_inventory_is_refused_with_its_line),
        cmocka_unit_test(a_part_without_a_job_is_refused),
        cmocka_unit_test(pools_of_an_inventory_lend_to_one_another),
        cmocka_unit_test(large_jobs_are_gangs_and_clusters_are_queues),
        cmocka_unit_test(the_first_thousands_of_the_real_trace_all_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
