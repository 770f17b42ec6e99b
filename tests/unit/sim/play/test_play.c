/*
 * play: a scenario on virtual time: the leader, its clusters and the tally
 * together; the same seed gives the same log.
 */
#include "played.h"
#include "sim/report/report.h"

static const char two_queues[] =
    "name: Two <queues>\n"
    "clusters:\n"
    "  - {name: a, startDelay: 2s, nodes: [{name: n, count: 4, "
    "resources: {cpu: 8}}]}\n"
    "  - {name: b, nodes: [{name: n, count: 4, resources: {cpu: 8}}], "
    "failures: {meanBetween: 2h, repair: 5m}}\n"
    "queues: [{name: p}, {name: q, weight: 0.5}]\n"
    "jobs:\n"
    "  - {name: many, queue: p, count: 500, resources: {cpu: 1}, "
    "runTime: {distribution: uniform, a: 1m, b: 9m}}\n"
    "  - {name: late, queue: q, arrivals: poisson, rate: 0.2, first: 10m, "
    "last: 40m, resources: {cpu: 2}, runTime: {distribution: exponential, a: "
    "3m}}\n"
    "  - {name: gang, queue: q, count: 3, resources: {cpu: 4}, gang: {size: "
    "4}}\n";

static void all_jobs_come_to_their_end(void **state)
{
    struct played played;

    (void)state;
    play_it(&played, two_queues, 1);
    const struct tally_result *result = &played.result;
    assert_true(result->submitted_count > 500 + 12);
    assert_int_equal(result->unstarted_count, 0);
    assert_int_equal(result->succeeded_count + result->failed_count,
                     result->submitted_count);
    assert_int_equal(played.tally.running_count, 0);
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        assert_int_equal(played.tally.used.v[r], 0);
    }
    assert_true(result->utilisation[1] > 0.3 && result->utilisation[1] <= 1);
    played_fini(&played);
}

static void the_same_seed_gives_the_same_log(void **state)
{
    struct played one, again, other;

    (void)state;
    play_it(&one, two_queues, 5);
    play_it(&again, two_queues, 5);
    play_it(&other, two_queues, 6);
    assert_true(played_digest(&one) == played_digest(&again));
    assert_true(played_digest(&one) != played_digest(&other));
    assert_true(one.result.wait_s.mean == again.result.wait_s.mean);
    played_fini(&one);
    played_fini(&again);
    played_fini(&other);
}

static void a_log_that_is_kept_has_the_same_digest(void **state)
{
    struct elog_memory_storage *storage = elog_memory_storage_create();
    struct played one, kept;

    (void)state;
    play_it(&one, two_queues, 5);
    play_into(&kept, two_queues, 5, elog_memory_open(storage));
    assert_true(played_digest(&one) == played_digest(&kept));
    played_fini(&one);
    played_fini(&kept);
    elog_memory_storage_destroy(storage);
}

static void forecasts_are_judged_and_change_nothing(void **state)
{
    struct play_options options = {.has_forecasts = true};
    struct played one, foreseen;

    (void)state;
    play_it(&one, two_queues, 5);
    play_with(&foreseen, two_queues, 5, &options);
    assert_true(played_digest(&one) == played_digest(&foreseen));
    const struct forecast_quality *quality = &foreseen.tally.forecasts;
    assert_true(quality->started_count > 100);
    assert_in_range(quality->within_p50_count, 1, quality->started_count - 1);
    assert_true(quality->within_p90_count > quality->within_p50_count);
    assert_true(quality->error_ms_sum < quality->wait_ms_sum);
    assert_int_equal(one.tally.forecasts.started_count, 0);
    played_fini(&one);
    played_fini(&foreseen);
}

static void a_log_with_records_is_refused(void **state)
{
    struct elog_memory_storage *storage = elog_memory_storage_create();
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct played played;
    struct err err;

    (void)state;
    play_into(&played, two_queues, 5, elog_memory_open(storage));
    played_fini(&played);
    policy_defaults(policy);
    struct world_config config = {.policy = policy,
                                  .log = elog_memory_open(storage)};
    assert_null(world_create(&config, &err));
    assert_non_null(strstr(err.text, "has records already"));
    elog_memory_storage_destroy(storage);
}

static void a_job_that_runs_alone_waits_for_the_start_of_its_pod(void **state)
{
    struct played played;

    (void)state;
    play_it(&played,
            "clusters: [{name: a, startDelay: 2s, nodes: [{name: n, "
            "resources: {cpu: 1}}]}]\n"
            "queues: [{name: q}]\n"
            "sample: 1s\n"
            "jobs: [{name: j, queue: q, count: 1, resources: {cpu: 1}, "
            "runTime: {a: 60s}}]\n",
            1);
    assert_true(played.result.wait_s.max >= 2);
    assert_true(played.result.wait_s.max < 2.1);
    assert_true(played.result.end_ms >= 62000 && played.result.end_ms < 62100);
    played_fini(&played);
}

static void reports_say_what_was_tallied(void **state)
{
    struct played played;
    auto_strbuf text = {0}, json = {0}, csv = {0}, svg = {0};

    (void)state;
    play_it(&played, two_queues, 1);
    struct report report = {.title = STR("Two <queues>"),
                            .tally = &played.tally,
                            .result = played.result};
    report_text(&report, &text);
    report_json(&report, &json);
    report_csv(&report, &csv);
    report_svg(&report, &svg);
    assert_non_null(strstr(strbuf_text(&text), "never started"));
    assert_non_null(strstr(strbuf_text(&json), "\"never_started\": 0"));
    assert_ptr_equal(strstr(strbuf_text(&csv), "time_s,running,queued"),
                     strbuf_text(&csv));
    assert_non_null(strstr(strbuf_text(&csv),
                           ",p due,p obtained,q due,q obtained\n60.000,"));
    assert_non_null(strstr(strbuf_text(&svg), ">Shares of queues"));
    assert_non_null(strstr(strbuf_text(&svg), "Two &lt;queues&gt;"));
    assert_non_null(strstr(strbuf_text(&svg), "</svg>"));
    played_fini(&played);
}

static void shares_are_told_for_each_pool_apart(void **state)
{
    struct played played;
    auto_strbuf csv = {0}, svg = {0};

    (void)state;
    play_it(
        &played,
        "duration: 2m\n"
        "clusters:\n"
        "  - {name: a, pool: big, nodes: [{name: n, resources: {cpu: 4}}]}\n"
        "  - {name: b, pool: old, nodes: [{name: n, resources: {cpu: 1}}]}\n"
        "queues: [{name: q}, {name: \"r,s\"}]\n"
        "jobs:\n"
        "  - {name: j, queue: q, count: 2, resources: {cpu: 1}, runTime: "
        "{a: 1h}, pool: old}\n"
        "  - {name: k, queue: \"r,s\", count: 1, resources: {cpu: 3}, "
        "runTime: {a: 1h}, pool: big}\n"
        "scheduling: {pools: [{name: big}, {name: old}]}\n",
        1);
    struct report report = {.tally = &played.tally, .result = played.result};
    report_csv(&report, &csv);
    report_svg(&report, &svg);
    assert_non_null(strstr(
        strbuf_text(&csv),
        "capacity,\"r,s due in big\",\"r,s obtained in big\",q due in old,"
        "q obtained in old\n60.000,2,1,4,5,0.75,0.75,1,1\n"));
    assert_non_null(strstr(strbuf_text(&svg), "(dashed: due) in big<"));
    assert_non_null(strstr(strbuf_text(&svg), "(dashed: due) in old<"));
    played_fini(&played);
}

/* The numbers of the queues and the letters of the pools make up for one
 * another: 1 in `b` and 2 in `a` were one row. */
static void shares_of_queues_are_told_apart_in_pools_of_any_name(void **state)
{
    struct played played;
    auto_strbuf csv = {0};

    (void)state;
    play_it(&played,
            "duration: 2m\n"
            "clusters:\n"
            "  - {name: x, pool: a, nodes: [{name: n, resources: {cpu: 4}}]}\n"
            "  - {name: y, pool: b, nodes: [{name: n, resources: {cpu: 4}}]}\n"
            "queues: [{name: q}, {name: r}]\n"
            "jobs:\n"
            "  - {name: j, queue: q, count: 1, resources: {cpu: 1}, runTime: "
            "{a: 1h}, pool: b}\n"
            "  - {name: k, queue: r, count: 1, resources: {cpu: 3}, runTime: "
            "{a: 1h}, pool: a}\n"
            "scheduling: {pools: [{name: a}, {name: b}]}\n",
            1);
    struct report report = {.tally = &played.tally, .result = played.result};
    report_csv(&report, &csv);
    assert_non_null(strstr(strbuf_text(&csv),
                           "capacity,r due in a,r obtained in a,q due in b,"
                           "q obtained in b\n60.000,2,0,4,8,"
                           "0.75,0.75,0.25,0.25\n"));
    played_fini(&played);
}

/* What people are told of it, and what programs are. */
static void show(const struct played *played, struct strbuf *text,
                 struct strbuf *json)
{
    struct report report = {.tally = &played->tally, .result = played->result};

    report_text(&report, text);
    report_json(&report, json);
}

static void without_samples_to_compare_there_is_no_jain_index(void **state)
{
    struct played played;
    auto_strbuf text = {0}, json = {0};

    (void)state;
    play_it(&played,
            "clusters: [{name: a, nodes: [{name: n, resources: {cpu: 1}}]}]\n"
            "queues: [{name: q}]\n"
            "jobs: [{name: j, queue: q, count: 1, resources: {cpu: 1}}]\n",
            1);
    show(&played, &text, &json);
    assert_false(played.result.has_jain);
    assert_non_null(strstr(strbuf_text(&text), "Jain's index  -\n"));
    assert_non_null(strstr(strbuf_text(&json), "\"jain\": null, "));
    played_fini(&played);
}

static void jobs_that_fit_nowhere_are_rejected_and_said_why(void **state)
{
    struct played played;
    auto_strbuf text = {0}, json = {0};

    (void)state;
    play_it(&played,
            "clusters: [{name: a, nodes: [{name: n, resources: {cpu: 1}}]}]\n"
            "queues: [{name: q}]\n"
            "jobs:\n"
            "  - {name: j, queue: q, count: 1, resources: {cpu: 1}}\n"
            "  - {name: big, queue: q, count: 3, resources: {cpu: 2}}\n",
            1);
    show(&played, &text, &json);
    assert_int_equal(played.result.rejected_count, 3);
    assert_int_equal(played.result.unstarted_count, 0);
    assert_int_equal(played.result.succeeded_count, 1);
    assert_non_null(strstr(strbuf_text(&text),
                           "3 rejected, 0 cancelled, 0 never started\n"
                           "first reason  The job does"));
    assert_non_null(strstr(strbuf_text(&json), "\"rejected\": 3, "));
    assert_non_null(
        strstr(strbuf_text(&json), "\"first_rejection\": \"The job does"));
    played_fini(&played);
}

/* The leader fails what a gang started without, here as elsewhere. */
static void members_that_a_gang_started_without_fail(void **state)
{
    struct played played;

    (void)state;
    play_it(&played,
            "clusters: [{name: a, nodes: [{name: n, count: 4, resources: {cpu: "
            "1}}]}]\n"
            "queues: [{name: q}]\n"
            "jobs: [{name: j, queue: q, count: 1, resources: {cpu: 1}, gang: "
            "{size: 6, minimum: 3}}]\n",
            1);
    assert_int_equal(played.result.succeeded_count, 4);
    assert_int_equal(played.result.failed_count, 2);
    assert_int_equal(played.result.unstarted_count, 0);
    played_fini(&played);
}

static void every_job_is_in_one_count_of_a_day_that_breaks_off(void **state)
{
    struct played played;
    auto_strbuf text = {0}, json = {0};

    (void)state;
    play_it(&played,
            "duration: 5m\n"
            "clusters: [{name: a, nodes: [{name: n, resources: {cpu: 4}}]}]\n"
            "scheduling: {pools: [{name: default, preemptionPrice: 0}]}\n"
            "queues: [{name: q}, {name: r}]\n"
            "jobs:\n"
            "  - {name: j, queue: q, count: 4, resources: {cpu: 1}, runTime: "
            "{a: 1h}, requeue: false}\n"
            "  - {name: k, queue: r, count: 1, resources: {cpu: 1}, first: 1m, "
            "runTime: {a: 1h}}\n"
            "  - {name: s, queue: r, count: 1, resources: {cpu: 1}, first: 2m, "
            "runTime: {a: 1m}}\n",
            1);
    const struct tally_result *result = &played.result;
    show(&played, &text, &json);
    assert_int_equal(result->submitted_count, 6);
    assert_int_equal(result->succeeded_count, 1);
    assert_int_equal(result->unstarted_count, 0);
    assert_int_equal(result->lost_count, 2);
    assert_int_equal(result->unended_count, 3);
    assert_non_null(
        strstr(strbuf_text(&text),
               "0 never started, 2 preempted for good, 3 not ended\n"));
    assert_non_null(strstr(strbuf_text(&json),
                           "\"preempted_for_good\": 2, \"not_ended\": 3, "));
    played_fini(&played);
}

/* One machine, a backlog of one queue for which it is reserved, and a job of
 * another now and then, which is due its place: it runs to its end, at the cost
 * of one run each, and not of its own as well. */
static void what_a_share_gives_on_a_reserved_machine_is_kept(void **state)
{
    static const char TEXT[] =
        "name: One machine that a reservation fills\n"
        "duration: 2h\n"
        "clusters:\n"
        "  - {name: a, nodes: [{name: n, resources: {cpu: 4}}]}\n"
        "queues: [{name: q}, {name: r}]\n"
        "jobs:\n"
        "  - {name: backlog, queue: q, count: 150, requeue: false, "
        "resources: {cpu: 1}, runTime: {distribution: uniform, a: 5m, b: "
        "15m}}\n"
        "  - {name: single, queue: r, arrivals: steady, rate: 0.0016, "
        "first: 2m, last: 2h, requeue: false, resources: {cpu: 1}, "
        "runTime: {a: 10m}}\n";
    struct played played;

    (void)state;
    play_it(&played, TEXT, 1);
    const struct tally_queue *r = &played.tally.queues.items[1];
    assert_true(r->started_count >= 10);
    assert_int_equal(r->preempted_count, 0);
    assert_true(played.result.lost_count <= r->started_count);
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_jobs_come_to_their_end),
        TEST(the_same_seed_gives_the_same_log),
        TEST(a_log_that_is_kept_has_the_same_digest),
        TEST(forecasts_are_judged_and_change_nothing),
        TEST(a_log_with_records_is_refused),
        TEST(a_job_that_runs_alone_waits_for_the_start_of_its_pod),
        TEST(reports_say_what_was_tallied),
        TEST(jobs_that_fit_nowhere_are_rejected_and_said_why),
        TEST(every_job_is_in_one_count_of_a_day_that_breaks_off),
        TEST(shares_are_told_for_each_pool_apart),
        cmocka_unit_test(members_that_a_gang_started_without_fail),
        cmocka_unit_test(shares_of_queues_are_told_apart_in_pools_of_any_name),
        TEST(what_a_share_gives_on_a_reserved_machine_is_kept),
        TEST(without_samples_to_compare_there_is_no_jain_index),
    };

    return RUN_TESTS(tests);
}
