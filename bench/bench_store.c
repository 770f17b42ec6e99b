/*
 * bench_store - how fast the log appends and the query store follows.
 *
 *     bench_store [JOBS [JOBS_PER_RECORD]]
 *
 * Each job is submitted with a spec of 1,200 bytes, leased, assigned, running
 * and succeeded.  Printed: appends with acknowledged durability, the
 * projection of records that hold whole lives (coalesced) and of records that
 * hold one step each, look-ups, and first pages of lists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "elog/elog_sqlite.h"
#include "store/store_sqlite.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"

enum { SPEC_BYTES = 1200, STEP_COUNT = 5 };

static const enum event_type steps[STEP_COUNT] = {
    EVENT_SUBMIT, EVENT_LEASED, EVENT_RUN_ASSIGNED, EVENT_RUN_RUNNING,
    EVENT_SUCCEEDED};

struct bench {
    uint64_t job_count, per_record;
    char path[128];
    struct elog *log;
    uint64_t epoch, seq;
    struct log_batch batch;
};

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct job_id job_of(uint64_t n)
{
    uint8_t random[10] = {0};

    memcpy(random, &n, sizeof(n));
    return job_id_make((int64_t)(1700000000000 + n), random);
}

static void add_submit(struct bench *bench, uint64_t n)
{
    static char annotations[SPEC_BYTES];
    struct event_scope scope = {STR("queue"), STR("set"), STR("user")};
    char id[ID_TEXT_BYTES_MAX];
    auto_strbuf spec = {0};
    auto_strbuf event = {0};

    field_put_bytes(&spec, 2, str_of(job_id_format(job_of(n), id)));
    field_put_bytes(&spec, 5, str_make(annotations, SPEC_BYTES));
    field_put_bytes(&spec, 14, str_of(id));
    log_put_submit(&event, (int64_t)n, strbuf_str(&spec), (struct str){0});
    log_batch_add_encoded(&bench->batch, &scope, strbuf_str(&event));
}

static void add_step(struct bench *bench, uint64_t n, enum event_type type)
{
    struct event_scope scope = {STR("queue"), STR("set"), STR("user")};
    struct event event = {.type = type,
                          .created_ms = (int64_t)n,
                          .job = job_of(n),
                          .run = run_id_make(job_of(n), 0)};

    if (type == EVENT_SUBMIT) {
        add_submit(bench, n);
        return;
    }
    if (type == EVENT_LEASED) {
        event.leased.executor_id = STR("cluster");
        event.leased.node_name = STR("node-0001");
        event.leased.pool = STR("default");
    }
    log_batch_add(&bench->batch, &scope, &event);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    ASSERT(result == 0);
}

static void append(struct bench *bench)
{
    struct elog_record record = {
        .seq = ++bench->seq,
        .epoch = bench->epoch,
        .payload = log_batch_finish(&bench->batch),
    };

    int rc = elog_submit(bench->log, &record, on_done, NULL);
    ASSERT(rc == 0);
    elog_poll(bench->log, 0);
    log_batch_clear(&bench->batch);
}

/* Append all jobs, `step_count` of their steps in one record; the seconds
 * that appending took. */
static double append_lives(struct bench *bench, int step_count)
{
    double spent_s = 0;

    for (int first = 0; first < STEP_COUNT; first += step_count) {
        for (uint64_t n = 0; n < bench->job_count; n += bench->per_record) {
            for (int s = first; s < first + step_count; s++) {
                for (uint64_t i = n; i < n + bench->per_record; i++) {
                    add_step(bench, i, steps[s]);
                }
            }
            double begin_s = now_s();
            append(bench);
            spent_s += now_s() - begin_s;
        }
    }
    return spent_s;
}

static int apply(void *ctx, const struct elog_record *record)
{
    return store_apply((struct store *)ctx, record, 1, NULL, NULL, NULL);
}

static void project(struct bench *bench, struct store *store)
{
    struct elog_reader *reader = NULL;
    struct elog_range all = {.from_seq = 1};

    int rc = elog_reader_open(bench->log, &reader, NULL);
    ASSERT(rc == 0);
    rc = elog_read(reader, &all, apply, store, NULL);
    ASSERT(rc > 0);
    elog_reader_close(reader);
}

static void look_up(struct bench *bench, struct store *store)
{
    struct store_reader *reader = NULL;
    auto_arena arena = {0};
    struct stored_job job;
    struct str spec;

    int rc = store_reader_open(store, &reader, NULL);
    ASSERT(rc == 0);
    double begin_s = now_s();
    for (uint64_t n = 0; n < bench->job_count; n++) {
        rc = store_job(reader, job_of(n * 7919 % bench->job_count), &arena,
                       &job, NULL);
        ASSERT(rc == 1);
        rc = store_spec(reader, job.id, &arena, &spec, NULL);
        ASSERT(rc == 1);
        arena_reset(&arena);
    }
    printf("%-40s %12.0f /s\n", "store: job and spec by id",
           (double)bench->job_count / (now_s() - begin_s));
    store_reader_close(reader);
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first page of a list, however few of all jobs match: the slowest of
 * these, each the median of several times. */
static void list(struct store *store)
{
    enum { PAGE = 100, TIMES = 20 };
    const struct store_filter filters[] = {
        {.count_max = PAGE},
        {.states = 1u << STORED_JOB_RUNNING, .count_max = PAGE},
        {.states = 1u << STORED_JOB_FAILED, .count_max = PAGE},
        {.queue = STR("none"), .count_max = PAGE},
        {.owner = STR("user"), .count_max = PAGE},
        {.owner = STR("nobody"), .count_max = PAGE},
        {.queue = STR("queue"), .job_set = STR("set"), .count_max = PAGE},
    };
    struct store_reader *reader = NULL;
    double worst_s = 0, spent_s[TIMES];

    int rc = store_reader_open(store, &reader, NULL);
    ASSERT(rc == 0);
    for (size_t i = 0; i < ARRAY_COUNT(filters); i++) {
        for (int t = 0; t < TIMES; t++) {
            auto_arena arena = {0};
            struct stored_job *jobs;
            double begin_s = now_s();
            rc = store_list(reader, &filters[i], &arena, &jobs, NULL);
            ASSERT(rc >= 0);
            spent_s[t] = now_s() - begin_s;
        }
        qsort(spent_s, TIMES, sizeof(spent_s[0]), compare_times);
        worst_s = spent_s[TIMES / 2] > worst_s ? spent_s[TIMES / 2] : worst_s;
    }
    printf("%-40s %12.2f ms\n", "store: first page, slowest filter",
           worst_s * 1e3);
    store_reader_close(reader);
}

/* A database with all that lies beside it. */
static void remove_file(const char *path)
{
    static const char *const endings[] = {"-lock", "-end"};
    char beside[200];

    int rc = store_sqlite_remove(path, NULL);
    ASSERT(rc == 0);
    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        snprintf(beside, sizeof(beside), "%s%s", path, endings[i]);
        unlink(beside);
    }
}

static void run(struct bench *bench, const char *name, int step_count)
{
    char log_path[160];
    char store_path[160];
    struct store *store = NULL;

    snprintf(log_path, sizeof(log_path), "%s/log-%d", bench->path, step_count);
    snprintf(store_path, sizeof(store_path), "%s/store-%d", bench->path,
             step_count);
    bench->seq = 0;
    int rc = elog_sqlite_open(log_path, NULL, &bench->log, NULL);
    ASSERT(rc == 0);
    rc = elog_acquire(bench->log, &bench->epoch, NULL);
    ASSERT(rc == 0);
    double append_s = append_lives(bench, step_count);
    printf("%-40s %12.0f events/s\n", "log: append, durable",
           (double)bench->job_count * STEP_COUNT / append_s);
    rc = store_sqlite_open(store_path, &store, NULL);
    ASSERT(rc == 0);
    double begin_s = now_s();
    project(bench, store);
    printf("%-40s %12.0f jobs/s\n", name,
           (double)bench->job_count / (now_s() - begin_s));
    look_up(bench, store);
    list(store);
    store_close(store);
    elog_close(bench->log);
    remove_file(log_path);
    remove_file(store_path);
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .job_count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000,
        .per_record = argc > 2 ? strtoull(argv[2], NULL, 10) : 100,
    };

    snprintf(bench.path, sizeof(bench.path), "/tmp/bench-store-XXXXXX");
    if (bench.per_record == 0 || !mkdtemp(bench.path)) {
        return 2;
    }
    bench.job_count -= bench.job_count % bench.per_record;
    run(&bench, "store: whole lives in one record", STEP_COUNT);
    run(&bench, "store: each step in a record", 1);
    log_batch_fini(&bench.batch);
    return rmdir(bench.path) == 0 ? 0 : 1;
}
