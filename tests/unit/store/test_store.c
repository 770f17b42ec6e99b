/*
 * store: what queries answer, by example.  Each test is one sentence of
 * store.h or of armada-api.md 1.8.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "elog/elog_memory.h"
#include "elog/sq.h"
#include "store_world.h"
#include "unit.h"

enum { T0 = 1000000 };

static struct job_id job_at(int64_t n)
{
    const uint8_t random[10] = {1};

    return job_id_make(T0 + n, random);
}

static void submit_as(struct store_world *world, int64_t n, const char *set,
                      const char *client_id, const char *uri)
{
    auto_strbuf spec = {0};
    auto_strbuf event = {0};
    struct event_scope scope = {STR("q"), str_of(set), STR("ann")};

    store_world_encode_submit(&spec, job_at(n), client_id, uri);
    log_put_submit(&event, T0 + n, strbuf_str(&spec), (struct str){0});
    log_batch_add_encoded(&world->batch, &scope, strbuf_str(&event));
}

static void submit(struct store_world *world, int64_t n)
{
    submit_as(world, n, "set", "", "");
}

/* An event about job `n`; its first run if it has one. */
static struct event about(enum event_type type, int64_t n, int64_t at_ms)
{
    return (struct event){.type = type,
                          .created_ms = at_ms,
                          .job = job_at(n),
                          .run = run_id_make(job_at(n), 0)};
}

static void add(struct store_world *world, struct event event)
{
    store_world_add(world, "set", &event);
}

static void lease(struct store_world *world, int64_t n, uint32_t attempt,
                  int64_t at_ms)
{
    struct event event = about(EVENT_LEASED, n, at_ms);

    event.run = run_id_make(job_at(n), attempt);
    event.leased.executor_id = STR("cluster");
    event.leased.node_name = STR("node");
    event.leased.pool = STR("pool");
    event.leased.attempt = attempt;
    add(world, event);
}

static struct stored_job job_of(struct store_world *world, int64_t n,
                                struct arena *arena)
{
    struct stored_job job = {0};

    assert_int_equal(store_job(world->reader, job_at(n), arena, &job, NULL), 1);
    return job;
}

#define assert_str(s, text) assert_true(str_equal((s), str_of(text)))

static int set_up(void **state)
{
    struct store_world *world = mem_alloc(sizeof(*world));

    store_world_init(world);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    store_world_fini((struct store_world *)*state);
    mem_free(*state);
    return 0;
}

static void a_submitted_job_is_queued(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};

    submit_as(world, 1, "set", "c1", "uri://x");
    store_world_apply(world);

    struct stored_job job = job_of(world, 1, &arena);
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
        store_job_state(world->reader, job_at(1), &only_state, NULL), 1);
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

    lease(world, 9, 0, T0); /* of a job that nobody submitted */
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job(r, job_at(9), &arena, &job, NULL), 0);
    assert_int_equal(store_job_state(r, job_at(9), &job_state, NULL), 0);
    assert_int_equal(store_runs_of_job(r, job_at(9), &arena, &runs, NULL), 0);
    assert_int_equal(
        store_run(r, run_id_make(job_at(9), 0), &arena, &run, NULL), 0);
    assert_int_equal(store_spec(r, job_at(9), &arena, &spec, NULL), 0);
    assert_int_equal(store_job_set(r, STR("q"), STR("other"), &key, NULL), 0);
}

/* Each event in a record of its own, or all in one: the rows are the same. */
static void run_to_success(struct store_world *world, int64_t n, bool is_one)
{
    enum event_type types[] = {EVENT_RUN_ASSIGNED, EVENT_RUN_RUNNING,
                               EVENT_RUN_SUCCEEDED, EVENT_SUCCEEDED};

    submit(world, n);
    lease(world, n, 0, T0 + 10);
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        if (!is_one) {
            store_world_apply(world);
        }
        add(world, about(types[i], n, T0 + 20 + (int64_t)i));
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

        struct stored_job job = job_of(world, n, &arena);
        assert_int_equal(job.state, STORED_JOB_SUCCEEDED);
        assert_int_equal(job.last_transition_ms, T0 + 23);
        assert_int_equal(job.run_count, 1);
        assert_int_equal(
            store_runs_of_job(world->reader, job.id, &arena, &runs, NULL), 1);
        assert_int_equal(
            key128_compare(runs[0].id.v, run_id_make(job_at(n), 0).v), 0);
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
    struct event returned = about(EVENT_RUN_ERRORS, 1, T0 + 20);

    returned.error.kind = ERROR_LEASE_RETURNED;
    returned.error.is_terminal = true;
    returned.error.message = STR("no room");
    returned.error.debug_message = STR("debug");
    submit(world, 1);
    lease(world, 1, 0, T0 + 10);
    store_world_apply(world);
    add(world, returned);
    add(world, about(EVENT_REQUEUED, 1, T0 + 21));
    store_world_apply(world);
    assert_int_equal(job_of(world, 1, &arena).state, STORED_JOB_QUEUED);
    lease(world, 1, 1, T0 + 30);
    /* A late report about the old run moves nothing. */
    add(world, about(EVENT_RUN_RUNNING, 1, T0 + 31));
    store_world_apply(world);

    assert_int_equal(job_of(world, 1, &arena).state, STORED_JOB_LEASED);
    assert_int_equal(
        store_runs_of_job(world->reader, job_at(1), &arena, &runs, NULL), 2);
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
    struct event told = about(EVENT_INGRESS_INFO, 1, T0 + 20);

    told.ingress.addresses = addresses;
    told.ingress.address_count = ARRAY_COUNT(addresses);
    submit(world, 1);
    lease(world, 1, 0, T0 + 10);
    add(world, told);
    store_world_apply(world);
    assert_int_equal(store_run(world->reader, told.run, &arena, &run, NULL), 1);
    assert_str(run.ingress, "\x5a\x07\x08\x50\x12\x03"
                            "a:1"
                            "\x5a\x07\x08\x51\x12\x03"
                            "b:2");
    assert_int_equal(run.state, STORED_RUN_LEASED);
}

/* A copy is made what format 1 was: without the addresses. */
static void a_store_of_format_1_is_brought_up_to_date(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    char path[TMPDIR_PATH_BYTES_MAX];
    struct stored_run run;
    struct store *copy = NULL;
    struct store_reader *reader = NULL;
    struct err err;
    sqlite3 *db;

    submit(world, 1);
    lease(world, 1, 0, T0 + 10);
    store_world_apply(world);
    tmpdir_path(&world->dir, "old", path);
    assert_int_equal(store_backup(world->store, path, &err), 0);
    assert_int_equal(sq_open(&(struct sq_open){.path = path}, &db, &err), 0);
    assert_int_equal(sq_exec(db,
                             "ALTER TABLE run DROP COLUMN ingress;"
                             "PRAGMA user_version = 1",
                             &err),
                     0);
    sq_close(db);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_sqlite_open(path, &copy, &err), 0);
        assert_int_equal(store_reader_open(copy, &reader, &err), 0);
        assert_int_equal(
            store_run(reader, run_id_make(job_at(1), 0), &arena, &run, NULL),
            1);
        assert_int_equal(run.ingress.byte_count, 0);
        store_reader_close(reader);
        store_close(copy);
        reader = NULL;
        copy = NULL;
    }
}

static void fail_with(struct store_world *world, int64_t n,
                      enum error_kind kind, bool is_terminal)
{
    struct event failed = about(EVENT_FAILED, n, T0 + 50);

    failed.error.kind = kind;
    failed.error.is_terminal = is_terminal;
    failed.error.message = STR("because");
    submit(world, n);
    lease(world, n, 0, T0 + 10);
    add(world, failed);
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

    assert_int_equal(job_of(world, 1, &arena).state, STORED_JOB_FAILED);
    assert_str(job_of(world, 1, &arena).error, "because");
    assert_int_equal(job_of(world, 2, &arena).state, STORED_JOB_PREEMPTED);
    assert_int_equal(job_of(world, 3, &arena).state, STORED_JOB_REJECTED);
    assert_int_equal(job_of(world, 4, &arena).state, STORED_JOB_LEASED);
}

static void a_cancelled_job_keeps_reason_and_user(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct event wish = about(EVENT_CANCEL, 1, T0 + 5);

    wish.cancel.reason = STR("not needed");
    submit(world, 1);
    lease(world, 1, 0, T0 + 3);
    add(world, wish);
    add(world, about(EVENT_CANCELLED, 1, T0 + 6));
    add(world, about(EVENT_RUN_CANCELLED, 1, T0 + 6));
    add(world, about(EVENT_RUN_SUCCEEDED, 1, T0 + 7)); /* too late */
    store_world_apply(world);

    struct stored_job job = job_of(world, 1, &arena);
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
    struct event failed = about(EVENT_FAILED, 1, T0 + 2);

    strbuf_add_char(&text, 'x');
    while (text.byte_count <= STORE_TEXT_BYTES_MAX) {
        strbuf_add_text(&text, "\xc3\xa9");
    }
    failed.error.kind = ERROR_POD;
    failed.error.is_terminal = true;
    failed.error.message = strbuf_str(&text);
    submit(world, 1);
    add(world, failed);
    store_world_apply(world);

    struct str error = job_of(world, 1, &arena).error;
    assert_int_equal(error.byte_count, STORE_TEXT_BYTES_MAX - 1);
    assert_int_equal((unsigned char)error.p[error.byte_count - 1], 0xa9);
}

static void the_spec_is_as_it_was_submitted(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    auto_strbuf expected = {0};
    struct str spec;

    submit_as(world, 1, "set", "c1", "");
    store_world_apply(world);

    store_world_encode_submit(&expected, job_at(1), "c1", "");
    assert_int_equal(store_spec(world->reader, job_at(1), &arena, &spec, NULL),
                     1);
    assert_true(str_starts_with(spec, strbuf_str(&expected)));
}

static void a_list_is_newest_first_and_pages(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job *jobs;

    for (int64_t n = 1; n <= 6; n++) {
        submit_as(world, n, n % 2 ? "odd" : "even", "", "");
    }
    store_world_apply(world);
    lease(world, 4, 0, T0 + 50);
    store_world_apply(world);

    struct store_filter any = {.count_max = 4};
    assert_int_equal(store_list(world->reader, &any, &arena, &jobs, NULL), 4);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 6);
    any.older_than = jobs[3].id;
    assert_int_equal(store_list(world->reader, &any, &arena, &jobs, NULL), 2);
    assert_int_equal(job_id_time_ms(jobs[1].id), T0 + 1);
    struct store_filter even = {
        .queue = STR("q"), .job_set = STR("even"), .count_max = 10};
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 3);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 6);
    even.states = 1u << STORED_JOB_LEASED;
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 1);
    even.queue = STR("");
    assert_int_equal(store_list(world->reader, &even, &arena, &jobs, NULL), 1);
    assert_int_equal(job_id_time_ms(jobs[0].id), T0 + 4);
    struct store_filter none = {.queue = STR("other"), .count_max = 10};
    assert_int_equal(store_list(world->reader, &none, &arena, &jobs, NULL), 0);
}

static void jobs_are_found_by_their_uri(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct job_id *ids;

    submit_as(world, 1, "set", "", "u");
    submit_as(world, 2, "set", "", "u");
    submit_as(world, 3, "other", "", "u");
    submit_as(world, 4, "set", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_jobs_by_uri(r, STR("q"), STR("set"), STR("u"),
                                       &arena, &ids, NULL),
                     2);
    assert_int_equal(job_id_time_ms(ids[0]), T0 + 1);
    assert_int_equal(
        store_jobs_by_uri(r, STR("q"), STR("set"), STR(""), &arena, &ids, NULL),
        0);
}

static void a_queue_is_active_while_its_jobs_hold_resources(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_active_queue *pairs;

    submit(world, 1);
    submit(world, 2);
    store_world_apply(world);
    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     0);
    lease(world, 1, 0, T0 + 5);
    lease(world, 2, 0, T0 + 5);
    store_world_apply(world);
    add(world, about(EVENT_SUCCEEDED, 1, T0 + 6));
    store_world_apply(world);
    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     1);
    assert_str(pairs[0].pool, "pool");
    assert_str(pairs[0].queue, "q");
    add(world, about(EVENT_CANCELLED, 2, T0 + 7));
    store_world_apply(world);

    assert_int_equal(store_active_queues(world->reader, &arena, &pairs, NULL),
                     0);
}

static void a_job_set_finds_its_records(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    uint64_t seqs[8];
    int64_t key;

    submit_as(world, 1, "a", "", "");
    submit_as(world, 2, "b", "", "");
    submit_as(world, 3, "a", "", "");
    store_world_apply(world);
    submit_as(world, 4, "b", "", "");
    store_world_apply(world);
    submit_as(world, 5, "a", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job_set(r, STR("q"), STR("a"), &key, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 0, seqs, 8, NULL), 2);
    assert_int_equal(seqs[0], 1);
    assert_int_equal(seqs[1], 3);
    assert_int_equal(store_job_set_seqs(r, key, 1, seqs, 8, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 0, seqs, 1, NULL), 1);
    assert_int_equal(store_job_set_seqs(r, key, 3, seqs, 8, NULL), 0);
}

static void a_client_id_leads_to_its_job(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct job_id job;

    submit_as(world, 1, "set", "c", "");
    submit_as(world, 2, "set", "c", ""); /* in the same request */
    submit_as(world, 3, "set", "", "");
    store_world_apply(world);

    struct store_reader *r = world->reader;
    assert_int_equal(store_client_id(r, STR("q"), STR("c"), &job, NULL), 1);
    assert_int_equal(job_id_time_ms(job), T0 + 2);
    assert_int_equal(store_client_id(r, STR("q"), STR(""), &job, NULL), 0);
    assert_int_equal(store_client_id(r, STR("p"), STR("c"), &job, NULL), 0);
}

struct told {
    uint32_t count;
    uint64_t seq;
};

static void on_changed(void *ctx, struct str queue, struct str job_set,
                       uint64_t seq)
{
    struct told *told = (struct told *)ctx;

    assert_str(queue, "q");
    assert_true(job_set.byte_count > 0);
    told->count++;
    told->seq = seq;
}

static void each_touched_job_set_is_told_once(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct told told = {0};

    submit_as(world, 1, "a", "", "");
    submit_as(world, 2, "b", "", "");
    submit_as(world, 3, "a", "", "");
    struct str payload = log_batch_finish(&world->batch);
    struct elog_record records[] = {{.seq = 1, .payload = payload},
                                    {.seq = 2, .payload = payload}};
    assert_int_equal(
        store_apply(world->store, records, 2, on_changed, &told, NULL), 0);

    assert_int_equal(told.count, 2);
    assert_int_equal(told.seq, 2);
}

static void records_come_in_order(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct elog_record record = {.seq = 3};
    struct err err;

    submit(world, 1);
    store_world_apply(world);

    assert_int_equal(store_apply(world->store, &record, 1, NULL, NULL, &err),
                     -ERR_CONFLICT);
    assert_int_equal(store_seq(world->store), 1);
}

static void a_damaged_record_changes_nothing(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job job;
    struct err err;

    submit(world, 1);
    struct elog_record records[] = {
        {.seq = 1, .payload = log_batch_finish(&world->batch)},
        {.seq = 2, .payload = STR("\xff\xff\xff")}};

    assert_int_equal(store_apply(world->store, records, 2, NULL, NULL, &err),
                     -ERR_CORRUPT);
    assert_int_equal(store_seq(world->store), 0);
    assert_int_equal(store_job(world->reader, job_at(1), &arena, &job, NULL),
                     0);
    assert_int_equal(store_apply(world->store, records, 1, NULL, NULL, &err),
                     0);
    assert_int_equal(store_job(world->reader, job_at(1), &arena, &job, NULL),
                     1);
}

static void a_reopened_store_goes_on(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    uint64_t seq;

    submit(world, 1);
    store_world_apply(world);
    store_world_reopen(world);
    assert_int_equal(store_seq(world->store), 1);
    lease(world, 1, 0, T0 + 9);
    submit(world, 2);
    store_world_apply(world);

    assert_int_equal(job_of(world, 1, &arena).state, STORED_JOB_LEASED);
    assert_int_equal(store_reader_seq(world->reader, &seq, NULL), 0);
    assert_int_equal(seq, 2);
}

static void prune_all(struct store_world *world, int64_t before_ms)
{
    int rc;

    for (int i = 0; i < 100; i++) {
        rc = store_prune(world->store, before_ms, before_ms, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            return;
        }
    }
    fail_msg("pruning does not end");
}

static void pruning_takes_what_ended_long_ago(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job job;
    struct str spec;
    struct job_id found;
    int64_t key;

    for (int64_t n = 1; n <= 3; n++) {
        submit_as(world, n, "set", n == 1 ? "c1" : "c2", "");
        lease(world, n, 0, T0 + 10);
    }
    submit_as(world, 4, "gone", "", "");
    store_world_apply(world);
    add(world, about(EVENT_SUCCEEDED, 1, T0 + 20));
    add(world, about(EVENT_SUCCEEDED, 2, T0 + 40));
    struct event gone = about(EVENT_CANCELLED, 4, T0 + 20);
    store_world_add(world, "gone", &gone);
    store_world_apply(world);
    prune_all(world, T0 + 30);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job(r, job_at(1), &arena, &job, NULL), 0);
    assert_int_equal(store_spec(r, job_at(1), &arena, &spec, NULL), 0);
    assert_int_equal(store_job(r, job_at(2), &arena, &job, NULL), 1);
    assert_int_equal(store_job(r, job_at(3), &arena, &job, NULL), 1);
    assert_int_equal(store_client_id(r, STR("q"), STR("c1"), &found, NULL), 0);
    assert_int_equal(store_job_set(r, STR("q"), STR("set"), &key, NULL), 1);
    /* The last job of its set takes the set along. */
    assert_int_equal(store_job_set(r, STR("q"), STR("gone"), &key, NULL), 0);
}

static void a_backup_is_a_store(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    auto_ptr(store) copy = NULL;
    struct err err;

    submit(world, 1);
    store_world_apply(world);
    tmpdir_path(&world->dir, "copy", path);
    assert_int_equal(store_backup(world->store, path, &err), 0);

    assert_int_equal(store_backup(world->store, path, &err), -ERR_CONFLICT);
    assert_int_equal(store_sqlite_open(path, &copy, &err), 0);
    assert_int_equal(store_seq(copy), 1);
}

static void a_second_writer_is_refused_by_name(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct store *second = NULL;
    struct err err;
    char pid[32];

    assert_int_equal(store_sqlite_open(world->path, &second, &err),
                     -ERR_CONFLICT);
    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(err.text, pid));
}

static void append(struct elog *log, uint64_t epoch, uint64_t seq,
                   elog_done_fn *done)
{
    struct elog_record record = {.seq = seq, .epoch = epoch, .time_ms = 1};

    assert_int_equal(elog_submit(log, &record, done, NULL), 0);
    elog_poll(log, 0);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

struct applied {
    struct store *store;
};

static int apply_one(void *ctx, const struct elog_record *record)
{
    struct applied *applied = (struct applied *)ctx;

    return store_apply(applied->store, record, 1, NULL, NULL, NULL);
}

static void a_store_that_is_not_of_this_log_is_noticed(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog_memory_storage) other = elog_memory_storage_create();
    struct elog *log = elog_memory_open(storage);
    struct elog *other_log = elog_memory_open(other);
    struct elog_reader *reader = NULL;
    struct elog_reader *other_reader = NULL;
    struct applied applied = {world->store};
    struct elog_range all = {.from_seq = 1};
    uint64_t epoch;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    append(log, epoch, 1, on_done);
    append(log, epoch, 2, on_done);
    assert_int_equal(elog_acquire(other_log, &epoch, NULL), 0);
    assert_int_equal(elog_acquire(other_log, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    assert_int_equal(elog_reader_open(other_log, &other_reader, NULL), 0);
    assert_int_equal(store_check(world->store, reader, NULL), 0);
    assert_int_equal(elog_read(reader, &all, apply_one, &applied, NULL), 2);

    assert_int_equal(store_check(world->store, reader, NULL), 0);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_CONFLICT); /* ahead */
    append(other_log, epoch, 1, on_done);
    append(other_log, epoch, 2, on_done);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_CONFLICT); /* another record 2 */
    append(other_log, epoch, 3, on_done);
    append(other_log, epoch, 4, on_done);
    assert_int_equal(elog_checkpoint_put(other_log, 4, 1, STR("x"), NULL), 0);
    uint64_t first;
    assert_int_equal(elog_trim(other_log, 4, &first, NULL), 0);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_NOT_FOUND); /* record 3 is gone */
    elog_reader_close(reader);
    elog_reader_close(other_reader);
    elog_close(log);
    elog_close(other_log);
}

static void following_ends_at_the_head(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog) log = elog_memory_open(storage);
    auto_ptr(elog_reader) reader = NULL;
    struct err err;
    uint64_t epoch;
    uint64_t first;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 0);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        append(log, epoch, seq, on_done);
    }
    /* An empty store begins with what there is. */
    assert_int_equal(elog_checkpoint_put(log, 4, 1, STR("x"), NULL), 0);
    assert_int_equal(elog_trim(log, 3, &first, NULL), 0);

    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 3);
    assert_int_equal(store_seq(world->store), 5);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 0);
    append(log, epoch, 6, on_done);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 1);
    append(log, epoch, 7, on_done);
    append(log, epoch, 8, on_done);
    assert_int_equal(elog_checkpoint_put(log, 8, 1, STR("x"), NULL), 0);
    assert_int_equal(elog_trim(log, 8, &first, NULL), 0);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err),
                     -ERR_NOT_FOUND);
}

enum { PAIR_COUNT = 150 };

struct watcher {
    struct store *store;
    bool is_good;
};

/* Records hold two jobs each: an odd number is half a record. */
static void *watch(void *ctx)
{
    struct watcher *watcher = (struct watcher *)ctx;
    auto_ptr(store_reader) reader = NULL;
    struct store_filter filter = {.count_max = STORE_LIST_MAX};
    int count = 0;

    watcher->is_good = store_reader_open(watcher->store, &reader, NULL) == 0;
    while (watcher->is_good && count < 2 * PAIR_COUNT) {
        auto_arena arena = {0};
        struct stored_job *jobs;
        int last_count = count;

        count = store_list(reader, &filter, &arena, &jobs, NULL);
        watcher->is_good = count >= last_count && count % 2 == 0;
    }
    return NULL;
}

static void a_reader_sees_whole_records(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct watcher watcher = {.store = world->store};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
    for (int64_t n = 0; n < PAIR_COUNT; n++) {
        submit(world, 2 * n);
        submit(world, 2 * n + 1);
        store_world_apply(world);
    }
    pthread_join(thread, NULL);

    assert_true(watcher.is_good);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_submitted_job_is_queued),
        CASE(an_unknown_job_is_none),
        CASE(a_job_runs_to_its_end),
        CASE(a_returned_lease_is_followed_by_another_run),
        CASE(a_run_keeps_its_ingress_addresses),
        CASE(a_store_of_format_1_is_brought_up_to_date),
        CASE(a_failure_says_how_by_its_kind),
        CASE(a_cancelled_job_keeps_reason_and_user),
        CASE(a_long_error_text_is_cut_between_characters),
        CASE(the_spec_is_as_it_was_submitted),
        CASE(a_list_is_newest_first_and_pages),
        CASE(jobs_are_found_by_their_uri),
        CASE(a_queue_is_active_while_its_jobs_hold_resources),
        CASE(a_job_set_finds_its_records),
        CASE(a_client_id_leads_to_its_job),
        CASE(each_touched_job_set_is_told_once),
        CASE(records_come_in_order),
        CASE(a_damaged_record_changes_nothing),
        CASE(a_reopened_store_goes_on),
        CASE(pruning_takes_what_ended_long_ago),
        CASE(a_backup_is_a_store),
        CASE(a_second_writer_is_refused_by_name),
        CASE(a_store_that_is_not_of_this_log_is_noticed),
        CASE(following_ends_at_the_head),
        CASE(a_reader_sees_whole_records),
    };
    return RUN_TESTS(tests);
}
