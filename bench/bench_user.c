/*
 * bench_user - what people wait for: lists, reports, and jobs that wait for
 * others.
 *
 *     bench_user DIR [JOBS]
 *
 * DIR is made and must not exist.  JOBS (1,000,000) are in the store for lists;
 * one in a thousand has a label of its own kind.  Figures:
 *
 *     store.first_page_p99_ms  the slowest of several lists of 100 jobs
 *     report.usage_year_s      usage by queue and day, of a year of 25 queues
 *                              and 40 users
 *     deps.release_per_s       jobs that wait for others: from the end of these
 *                              to what the leader logs; without the log
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "job/due/job_action.h"
#include "job/table/jobs.h"
#include "measure.h"
#include "store/store_sqlite.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"

enum {
    JOBS = 1000000,
    JOBS_PER_RECORD = 1000,
    SPEC_BYTES = 600,
    PAGE = 100,
    TIMES = 100, /* so that the p99 is the second slowest */
    DAYS = 365,
    GATES = 1000, /* that the others wait for */
    WAITING = 200000,
    FIRST_MS = 1000000,
};

static void say(const char *name, const char *unit, double value)
{
    measure_print(&(struct figure){.name = name, .unit = unit}, value);
}

static struct job_id job_of(uint64_t n)
{
    uint8_t random[10] = {0};

    memcpy(random, &n, sizeof(n));
    return job_id_make((int64_t)(FIRST_MS + n), random);
}

/* Lists. */

static void add_submit(struct log_batch *batch, uint64_t n)
{
    static const char pod[SPEC_BYTES];
    char queue[24], id[ID_TEXT_BYTES_MAX];
    auto_strbuf entry = {0}, meta = {0}, spec = {0}, event = {0};
    int length = snprintf(queue, sizeof(queue), "queue-%d", (int)(n % 10));
    struct event_scope scope = {str_make(queue, (size_t)length), STR("set"),
                                STR("anna")};

    field_put_bytes(&entry, 1, STR("kind"));
    field_put_bytes(&entry, 2, n % 1000 ? STR("usual") : STR("rare"));
    field_put_bytes(&meta, 6, strbuf_str(&entry));
    field_put_bytes(&spec, 4, strbuf_str(&meta));
    field_put_bytes(&spec, 5, str_make(pod, sizeof(pod)));
    field_put_bytes(&spec, 14, str_of(job_id_format(job_of(n), id)));
    log_put_submit(&event, (int64_t)(FIRST_MS + n), strbuf_str(&spec),
                   (struct str){0});
    log_batch_add_encoded(batch, &scope, strbuf_str(&event));
}

static void fill(struct store *store, uint64_t job_count)
{
    struct log_batch batch = {0};
    struct elog_record record = {.seq = store_seq(store), .epoch = 1};
    struct err err;

    for (uint64_t n = 0; n < job_count; n += JOBS_PER_RECORD) {
        for (uint64_t i = n; i < n + JOBS_PER_RECORD; i++) {
            add_submit(&batch, i);
        }
        record.seq++;
        record.payload = log_batch_finish(&batch);
        int rc = store_apply(store, &record, 1, NULL, NULL, &err);
        ASSERT(rc == 0);
        log_batch_clear(&batch);
    }
    log_batch_fini(&batch);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double page_p99_ms(struct store_reader *reader,
                          const struct store_filter *filter)
{
    double spent_s[TIMES];

    for (int i = 0; i < TIMES; i++) {
        auto_arena arena = {0};
        struct stored_job *jobs;
        struct err err;
        double begin_s = measure_now_s();
        int rc = store_list(reader, filter, &arena, &jobs, &err);
        ASSERT(rc >= 0);
        spent_s[i] = measure_now_s() - begin_s;
    }
    qsort(spent_s, TIMES, sizeof(*spent_s), compare);
    return spent_s[TIMES - 2] * 1e3;
}

static void measure_lists(struct store *store)
{
    const struct store_filter filters[] = {
        {.count_max = PAGE},
        {.states = 1u << STORED_JOB_RUNNING, .count_max = PAGE},
        {.states = 1u << STORED_JOB_QUEUED, .count_max = PAGE},
        {.queue = STR("queue-3"), .count_max = PAGE},
        {.queue = STR("queue-3"), .job_set = STR("set"), .count_max = PAGE},
        {.owner = STR("nobody"), .count_max = PAGE},
        {.label_key = STR("kind"),
         .label_value = STR("rare"),
         .count_max = PAGE},
        {.label_key = STR("kind"),
         .label_value = STR("none"),
         .count_max = PAGE},
    };
    auto_ptr(store_reader) reader = NULL;
    struct err err;
    double worst_ms = 0;

    int rc = store_reader_open(store, &reader, &err);
    ASSERT(rc == 0);
    for (size_t i = 0; i < ARRAY_COUNT(filters); i++) {
        double ms = page_p99_ms(reader, &filters[i]);
        worst_ms = ms > worst_ms ? ms : worst_ms;
    }
    say("store.first_page_p99_ms", "ms", worst_ms);
}

/* Usage. */

/* As ten million jobs leave it: they end up in a row for each day, queue and
 * user. */
static void fill_usage(const char *path)
{
    struct sq_open how = {.path = path};
    sqlite3 *db = NULL;
    char sql[400];
    struct err err;

    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
             " WHERE i < %d) INSERT INTO usage SELECT i / 1000,"
             " 'queue-' || (i / 40 %% 25), 'user-' || (i %% 40),"
             " 27, 26, 1, 0, 0, 27, 1000, 2000, 3000, 1, 0, 0, 0, 0, 0, 0"
             " FROM n",
             DAYS * 1000 - 1);
    int rc = sq_open(&how, &db, &err);
    rc = rc < 0 ? rc : sq_exec(db, sql, &err);
    if (rc < 0) {
        fprintf(stderr, "bench_user: %s\n", err.text);
        exit(1);
    }
    sq_close(db);
}

static void measure_usage(struct store *store)
{
    const struct store_usage_filter filter = {.to_day = DAYS,
                                              .by_day = true,
                                              .by_queue = true,
                                              .count_max = STORE_LIST_MAX};
    auto_ptr(store_reader) reader = NULL;
    auto_arena arena = {0};
    struct stored_usage *rows;
    struct err err;

    int rc = store_reader_open(store, &reader, &err);
    ASSERT(rc == 0);
    double begin_s = measure_now_s();
    int count = store_usage(reader, &filter, &arena, &rows, &err);
    ASSERT(count == DAYS * 25);
    say("report.usage_year_s", "s", measure_now_s() - begin_s);
}

/* Jobs that wait. */

static const struct event_scope scope = {{"q", 1}, {"set", 3}, {"anna", 4}};

static void submit(struct jobs *jobs, uint64_t n, const struct job_wait *wait)
{
    auto_strbuf key = {0}, waits = {0}, bytes = {0};
    struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS};
    struct event event = {
        .type = EVENT_SUBMIT, .created_ms = 1, .job = job_of(n)};
    struct jobs_change change;

    requirement_pack(&key, &requirement);
    struct job_digest digest = {.class_key = strbuf_str(&key),
                                .gang_cardinality = 1,
                                .gang_minimum = 1};
    if (wait) {
        job_waits_pack(&waits, wait, 1);
        digest.waits = strbuf_str(&waits);
    }
    digest_pack(&bytes, &digest);
    event.submit.digest = strbuf_str(&bytes);
    enum jobs_answer answer = jobs_apply(jobs, &scope, &event, &change);
    ASSERT(answer == JOBS_APPLIED);
}

/* Say all that is due; how many jobs are not held any more by it. */
static uint32_t settle(struct jobs *jobs, struct arena *arena)
{
    struct job_rules rules = {.now_ms = 5};
    uint32_t released = 0;

    while (jobs_has_dirty(jobs)) {
        uint32_t count;
        auto_mem uint32_t *dirty = jobs_take_dirty(jobs, 0, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct job_decisions decisions;
            struct jobs_change change;
            job_due(jobs, dirty[i], &rules, arena, &decisions);
            for (uint32_t k = 0; k < decisions.event_count; k++) {
                released += decisions.events[k].type == EVENT_HOLD_CHANGED &&
                            jobs_apply(jobs, &scope, &decisions.events[k],
                                       &change) == JOBS_APPLIED;
            }
        }
        arena_reset(arena);
    }
    return released;
}

static void measure_releases(void)
{
    struct jobs *jobs = jobs_create();
    struct event event = {.type = EVENT_CANCELLED, .created_ms = 2};
    struct policy policy;
    auto_arena arena = {0};
    uint32_t released = 0;

    policy_defaults(&policy);
    jobs_set_policy(jobs, &policy);
    for (uint64_t n = 0; n < GATES + WAITING; n++) {
        struct job_wait wait = {job_of(n % GATES), JOB_WANT_ENDED};
        submit(jobs, n, n < GATES ? NULL : &wait);
    }
    (void)settle(jobs, &arena);
    double begin_s = measure_now_s();
    for (uint64_t n = 0; n < GATES; n++) {
        struct jobs_change change;
        event.job = job_of(n);
        (void)jobs_apply(jobs, &scope, &event, &change);
        released += settle(jobs, &arena);
    }
    ASSERT(released == WAITING);
    say("deps.release_per_s", "jobs/s", released / (measure_now_s() - begin_s));
    jobs_destroy(jobs);
}

static struct store *open_store(const char *path)
{
    struct store *store = NULL;
    struct err err;

    if (store_sqlite_open(path, &store, &err) < 0) {
        fprintf(stderr, "bench_user: %s\n", err.text);
        exit(1);
    }
    return store;
}

int main(int argc, char **argv)
{
    uint64_t job_count = argc > 2 ? strtoull(argv[2], NULL, 10) : JOBS;
    auto_strbuf path = {0};

    if (argc < 2 || mkdir(argv[1], 0700) < 0) {
        fprintf(stderr, "usage: bench_user DIR [JOBS], DIR a new folder\n");
        return 2;
    }
    strbuf_addf(&path, "%s/store", argv[1]);
    measure_releases();
    struct store *store = open_store(strbuf_text(&path));
    fill(store, job_count);
    measure_lists(store);
    store_close(store); /* nobody else may have its file open */
    fill_usage(strbuf_text(&path));
    store = open_store(strbuf_text(&path));
    measure_usage(store);
    store_close(store);
    return 0;
}
