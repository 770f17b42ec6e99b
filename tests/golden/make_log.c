/*
 * make_log - writes the log that is kept as elog-v1.sql; see README.md.
 *
 * Two leaders, three jobs: one succeeds, one is returned and fails, one is
 * cancelled; then a checkpoint, and the first record trimmed away.
 */
#include <stdio.h>

#include "elog/elog_sqlite.h"
#include "store_world.h"

enum { T0 = 1700000000 };

struct maker {
    struct elog *log;
    uint64_t epoch;
    uint64_t seq;
    struct log_batch batch;
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    ASSERT(result == 0);
}

static void append(struct maker *maker)
{
    struct elog_record record = {
        .seq = ++maker->seq,
        .epoch = maker->epoch,
        .time_ms = (int64_t)T0 * 1000 + (int64_t)maker->seq,
        .format_version = 1,
        .payload = log_batch_finish(&maker->batch),
    };

    int rc = elog_submit(maker->log, &record, on_done, NULL);
    ASSERT(rc == 0);
    elog_poll(maker->log, 0);
    log_batch_clear(&maker->batch);
}

static struct job_id job_of(int n)
{
    const uint8_t random[10] = {(uint8_t)n, 7};

    return job_id_make((int64_t)T0 * 1000 + n, random);
}

static void add(struct maker *maker, struct event event)
{
    struct event_scope scope = {STR("queue-a"), STR("set-1"), STR("alice")};

    event.created_ms = (int64_t)T0 * 1000 + (int64_t)maker->seq * 10;
    log_batch_add(&maker->batch, &scope, &event);
}

static void submit(struct maker *maker, int n)
{
    struct event_scope scope = {STR("queue-a"), STR("set-1"), STR("alice")};
    auto_strbuf spec = {0};
    auto_strbuf event = {0};

    store_world_encode_submit(&spec, job_of(n), "client", "uri");
    log_put_submit(&event, (int64_t)T0 * 1000 + n, strbuf_str(&spec),
                   (struct str){0});
    log_batch_add_encoded(&maker->batch, &scope, strbuf_str(&event));
}

static struct event about(enum event_type type, int n, uint32_t attempt)
{
    return (struct event){
        .type = type, .job = job_of(n), .run = run_id_make(job_of(n), attempt)};
}

static void lease(struct maker *maker, int n, uint32_t attempt)
{
    struct event event = about(EVENT_LEASED, n, attempt);

    event.leased.executor_id = STR("cluster-1");
    event.leased.node_name = STR("node-1");
    event.leased.pool = STR("default");
    event.leased.attempt = attempt;
    add(maker, event);
}

static void fail(struct maker *maker, int n)
{
    struct event event = about(EVENT_RUN_ERRORS, n, 0);

    event.error.kind = ERROR_LEASE_RETURNED;
    event.error.is_terminal = true;
    event.error.message = STR("no room on the node");
    add(maker, event);
    event.type = EVENT_FAILED;
    event.error.kind = ERROR_MAX_RUNS_EXCEEDED;
    event.error.message = STR("Maximum number of attempts (1) reached");
    add(maker, event);
}

static void live(struct maker *maker)
{
    struct event started = {.type = EVENT_LEADER_STARTED};

    log_batch_add(&maker->batch, &(struct event_scope){.queue = STR("")},
                  &started);
    append(maker);
    submit(maker, 1);
    submit(maker, 2);
    submit(maker, 3);
    append(maker);
    lease(maker, 1, 0);
    lease(maker, 2, 0);
    append(maker);
    add(maker, about(EVENT_RUN_ASSIGNED, 1, 0));
    add(maker, about(EVENT_RUN_RUNNING, 1, 0));
    fail(maker, 2);
    append(maker);
    int rc = elog_acquire(maker->log, &maker->epoch, NULL);
    ASSERT(rc == 0);
    struct event cancelled = about(EVENT_CANCELLED, 3, 0);
    cancelled.cancel.reason = STR("not needed");
    cancelled.cancel.requestor = STR("bob");
    add(maker, cancelled);
    append(maker);
    add(maker, about(EVENT_RUN_SUCCEEDED, 1, 0));
    add(maker, about(EVENT_SUCCEEDED, 1, 0));
    append(maker);
}

int main(int argc, char **argv)
{
    struct maker maker = {0};
    uint64_t first_seq;

    if (argc != 2 || elog_sqlite_open(argv[1], NULL, &maker.log, NULL) < 0 ||
        elog_acquire(maker.log, &maker.epoch, NULL) < 0) {
        fprintf(stderr, "usage: make_log NEW_FILE\n");
        return 2;
    }
    live(&maker);
    int rc = elog_checkpoint_put(maker.log, 3, 1, STR("the state"), NULL);
    ASSERT(rc == 0);
    rc = elog_trim(maker.log, 2, &first_seq, NULL);
    ASSERT(rc == 0);
    log_batch_fini(&maker.batch);
    elog_close(maker.log);
    return 0;
}
