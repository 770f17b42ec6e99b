/* The query store: what events make of jobs and runs. */
#include "store_fixture.h"

static void a_submitted_job_is_queued(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};

    store_submit_as(world, 1, "set", "c1", "uri://x");
    store_world_apply(world);

    struct stored_job job = store_job_of(world, 1, &arena);
    assert_int_equal(job.state, STORED_JOB_QUEUED);
    assert_str(job.queue, "q");
    assert_str(job.job_set, "set");
    assert_str(job.owner, "ann");
    assert_str(job.external_job_uri, "uri://x");
    assert_int_equal(job.priority, 5);
    assert_int_equal(job.submitted_ms, T0 + 1);
    assert_int_equal(job.last_transition_ms, T0 + 1);
    assert_true(key128_is_none(job.latest_run.v));
    assert_int_equal(job.run_count, 0);
    enum stored_job_state only_state;
    assert_int_equal(
        store_job_state(world->reader, store_job_at(1), &only_state, NULL), 1);
    assert_int_equal(only_state, STORED_JOB_QUEUED);
    assert_int_equal(store_seq(world->store), 1);
}

static void an_unknown_job_is_none(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job job;
    struct stored_run run;
    struct stored_run *runs;
    struct str spec;
    enum stored_job_state job_state;
    int64_t key;

    store_add_lease(world, 9, 0, T0); /* of a job that nobody submitted */
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job(r, store_job_at(9), &arena, &job, NULL), 0);
    assert_int_equal(store_job_state(r, store_job_at(9), &job_state, NULL), 0);
    assert_int_equal(store_runs_of_job(r, store_job_at(9), &arena, &runs, NULL),
                     0);
    assert_int_equal(
        store_run(r, run_id_make(store_job_at(9), 0), &arena, &run, NULL), 0);
    assert_int_equal(store_spec(r, store_job_at(9), &arena, &spec, NULL), 0);
    assert_int_equal(store_job_set(r, STR("q"), STR("other"), &key, NULL), 0);
}

/* Each event in a record of its own, or all in one: the rows are the same. */
static void run_to_success(struct store_world *world, int64_t n, bool is_one)
{
    enum event_type types[] = {EVENT_RUN_ASSIGNED, EVENT_RUN_RUNNING,
                               EVENT_RUN_SUCCEEDED, EVENT_SUCCEEDED};

    store_submit_plain(world, n);
    store_add_lease(world, n, 0, T0 + 10);
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        if (!is_one) {
            store_world_apply(world);
        }
        store_add_event(world,
                        store_event_about(types[i], n, T0 + 20 + (int64_t)i));
    }
    store_world_apply(world);
}

static void a_job_runs_to_its_end(void **state)
{
    struct store_world *world = (struct store_world *)*state;

    for (int64_t n = 1; n <= 2; n++) {
        auto_arena arena = {0};
        struct stored_run *runs;

        run_to_success(world, n, n == 1);

        struct stored_job job = store_job_of(world, n, &arena);
        assert_int_equal(job.state, STORED_JOB_SUCCEEDED);
        assert_int_equal(job.last_transition_ms, T0 + 23);
        assert_int_equal(job.run_count, 1);
        assert_int_equal(
            store_runs_of_job(world->reader, job.id, &arena, &runs, NULL), 1);
        assert_int_equal(
            key128_compare(runs[0].id.v, run_id_make(store_job_at(n), 0).v), 0);
        assert_int_equal(key128_compare(job.latest_run.v, runs[0].id.v), 0);
        assert_int_equal(runs[0].state, STORED_RUN_SUCCEEDED);
        assert_str(runs[0].cluster, "cluster");
        assert_str(runs[0].node, "node");
        assert_str(runs[0].pool, "pool");
        assert_int_equal(runs[0].leased_ms, T0 + 10);
        assert_int_equal(runs[0].pending_ms, T0 + 20);
        assert_int_equal(runs[0].started_ms, T0 + 21);
        assert_int_equal(runs[0].finished_ms, T0 + 22);
        struct stored_run run;
        assert_int_equal(
            store_run(world->reader, runs[0].id, &arena, &run, NULL), 1);
        assert_int_equal(run.started_ms, T0 + 21);
        assert_int_equal(key128_compare(run.job.v, job.id.v), 0);
    }
}

static void a_returned_lease_is_followed_by_another_run(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_run *runs;
    struct event returned = store_event_about(EVENT_RUN_ERRORS, 1, T0 + 20);

    returned.error.kind = ERROR_LEASE_RETURNED;
    returned.error.is_terminal = true;
    returned.error.message = STR("no room");
    returned.error.debug_message = STR("debug");
    store_submit_plain(world, 1);
    store_add_lease(world, 1, 0, T0 + 10);
    store_world_apply(world);
    store_add_event(world, returned);
    store_add_event(world, store_event_about(EVENT_REQUEUED, 1, T0 + 21));
    store_world_apply(world);
    assert_int_equal(store_job_of(world, 1, &arena).state, STORED_JOB_QUEUED);
    store_add_lease(world, 1, 1, T0 + 30);
    /* A late report about the old run moves nothing. */
    store_add_event(world, store_event_about(EVENT_RUN_RUNNING, 1, T0 + 31));
    store_world_apply(world);

    assert_int_equal(store_job_of(world, 1, &arena).state, STORED_JOB_LEASED);
    assert_int_equal(
        store_runs_of_job(world->reader, store_job_at(1), &arena, &runs, NULL),
        2);
    assert_int_equal(runs[0].state, STORED_RUN_LEASED);
    assert_int_equal(runs[0].leased_ms, T0 + 30);
    assert_int_equal(runs[1].state, STORED_RUN_LEASE_RETURNED);
    assert_str(runs[1].error, "no room");
    assert_str(runs[1].debug, "debug");
}

static void a_run_keeps_its_ingress_addresses(void **state)
{
    /* Port 80 is at "a:1", port 81 at "b:2". */
    const struct str addresses[] = {STR("\x08\x50\x12\x03"
                                        "a:1"),
                                    STR("\x08\x51\x12\x03"
                                        "b:2")};
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_run run;
    struct event told = store_event_about(EVENT_INGRESS_INFO, 1, T0 + 20);

    told.ingress.addresses = addresses;
    told.ingress.address_count = ARRAY_COUNT(addresses);
    store_submit_plain(world, 1);
    store_add_lease(world, 1, 0, T0 + 10);
    store_add_event(world, told);
    store_world_apply(world);
    assert_int_equal(store_run(world->reader, told.run, &arena, &run, NULL), 1);
    assert_str(run.ingress, "\x5a\x07\x08\x50\x12\x03"
                            "a:1"
                            "\x5a\x07\x08\x51\x12\x03"
                            "b:2");
    assert_int_equal(run.state, STORED_RUN_LEASED);
}

static void objects_and_addresses_are_told_apart(void **state)
{
    const struct str address = STR("\x08\x50\x12\x03"
                                   "a:1");
    const struct str object = STR("\x08\x02");
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_run run;
    struct event told = store_event_about(EVENT_INGRESS_INFO, 1, T0 + 20);

    store_submit_plain(world, 1);
    store_add_lease(world, 1, 0, T0 + 10);
    told.ingress.objects = &object;
    told.ingress.object_count = 1;
    store_add_event(world, told);
    store_world_apply(world);
    told = store_event_about(EVENT_INGRESS_INFO, 1, T0 + 30);
    told.ingress.addresses = &address;
    told.ingress.address_count = 1;
    store_add_event(world, told);
    store_world_apply(world);
    assert_int_equal(store_run(world->reader, told.run, &arena, &run, NULL), 1);
    /* Objects are field 1000. */
    assert_str(run.ingress, "\xc2\x3e\x02\x08\x02"
                            "\x5a\x07\x08\x50\x12\x03"
                            "a:1");
}

static void fail_with(struct store_world *world, int64_t n,
                      enum error_kind kind, bool is_terminal)
{
    struct event failed = store_event_about(EVENT_FAILED, n, T0 + 50);

    failed.error.kind = kind;
    failed.error.is_terminal = is_terminal;
    failed.error.message = STR("because");
    store_submit_plain(world, n);
    store_add_lease(world, n, 0, T0 + 10);
    store_add_event(world, failed);
    store_world_apply(world);
}

static void a_failure_says_how_by_its_kind(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};

    fail_with(world, 1, ERROR_POD, true);
    fail_with(world, 2, ERROR_PREEMPTED, true);
    fail_with(world, 3, ERROR_REJECTED, true);
    fail_with(world, 4, ERROR_POD, false);

    assert_int_equal(store_job_of(world, 1, &arena).state, STORED_JOB_FAILED);
    assert_str(store_job_of(world, 1, &arena).error, "because");
    assert_int_equal(store_job_of(world, 2, &arena).state,
                     STORED_JOB_PREEMPTED);
    assert_int_equal(store_job_of(world, 3, &arena).state, STORED_JOB_REJECTED);
    assert_int_equal(store_job_of(world, 4, &arena).state, STORED_JOB_LEASED);
}

static void a_cancelled_job_keeps_reason_and_user(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct event wish = store_event_about(EVENT_CANCEL, 1, T0 + 5);

    wish.cancel.reason = STR("not needed");
    store_submit_plain(world, 1);
    store_add_lease(world, 1, 0, T0 + 3);
    store_add_event(world, wish);
    store_add_event(world, store_event_about(EVENT_CANCELLED, 1, T0 + 6));
    store_add_event(world, store_event_about(EVENT_RUN_CANCELLED, 1, T0 + 6));
    store_add_event(world, store_event_about(EVENT_RUN_SUCCEEDED, 1,
                                             T0 + 7)); /* too late */
    store_world_apply(world);

    struct stored_job job = store_job_of(world, 1, &arena);
    assert_int_equal(job.state, STORED_JOB_CANCELLED);
    assert_int_equal(job.cancelled_ms, T0 + 6);
    assert_str(job.cancel_reason, "not needed");
    assert_str(job.cancel_user, "ann");
    struct stored_run run;
    assert_int_equal(
        store_run(world->reader, job.latest_run, &arena, &run, NULL), 1);
    assert_int_equal(run.state, STORED_RUN_CANCELLED);
    assert_int_equal(run.finished_ms, T0 + 6);
}

static void a_long_error_text_is_cut_between_characters(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct event failed = store_event_about(EVENT_FAILED, 1, T0 + 2);

    strbuf_add_char(&text, 'x');
    while (text.byte_count <= STORE_TEXT_BYTES_MAX) {
        strbuf_add_text(&text, "\xc3\xa9");
    }
    failed.error.kind = ERROR_POD;
    failed.error.is_terminal = true;
    failed.error.message = strbuf_str(&text);
    store_submit_plain(world, 1);
    store_add_event(world, failed);
    store_world_apply(world);

    struct str error = store_job_of(world, 1, &arena).error;
    assert_int_equal(error.byte_count, STORE_TEXT_BYTES_MAX - 1);
    assert_int_equal((unsigned char)error.p[error.byte_count - 1], 0xa9);
}

static void the_spec_is_as_it_was_submitted(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    auto_strbuf expected = {0};
    struct str spec;

    store_submit_as(world, 1, "set", "c1", "");
    store_world_apply(world);

    store_world_encode_submit(&expected, store_job_at(1), "c1", "");
    assert_int_equal(
        store_spec(world->reader, store_job_at(1), &arena, &spec, NULL), 1);
    assert_true(str_starts_with(spec, strbuf_str(&expected)));
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, store_set_up, store_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_submitted_job_is_queued),
        CASE(an_unknown_job_is_none),
        CASE(a_job_runs_to_its_end),
        CASE(a_returned_lease_is_followed_by_another_run),
        CASE(a_run_keeps_its_ingress_addresses),
        CASE(objects_and_addresses_are_told_apart),
        CASE(a_failure_says_how_by_its_kind),
        CASE(a_cancelled_job_keeps_reason_and_user),
        CASE(a_long_error_text_is_cut_between_characters),
        CASE(the_spec_is_as_it_was_submitted),
    };
    return RUN_TESTS(tests);
}
