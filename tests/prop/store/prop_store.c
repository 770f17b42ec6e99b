/*
 * store: rebuilt from the log, it is what it was when it lived through it.
 *
 * Method: draw a history of events about a few jobs, sensible or not, and cut
 * it into records.  One store gets record by record and is closed now and
 * then; another gets all at once.  All rows of all tables must be the same,
 * and what can be counted must be what it says.
 */
#include <stdio.h>

#include "elog/sq.h"
#include "model/digest.h"
#include "model/requirement.h"
#include "prop.h"
#include "store_world.h"

enum { JOB_COUNT = 4, RUN_COUNT = 3, RECORD_COUNT_MAX = 12 };

static const enum event_type types[] = {
    EVENT_SUBMIT,        EVENT_LEASED,        EVENT_RUN_ASSIGNED,
    EVENT_RUN_RUNNING,   EVENT_RUN_SUCCEEDED, EVENT_SUCCEEDED,
    EVENT_RUN_ERRORS,    EVENT_FAILED,        EVENT_REQUEUED,
    EVENT_CANCEL,        EVENT_CANCELLED,     EVENT_RUN_CANCELLED,
    EVENT_RUN_PREEMPTED, EVENT_REPRIORITISED, EVENT_DEBUG_INFO,
    EVENT_VALIDATED,
};

static const char *const sets[] = {"set-a", "set-b"};

static struct job_id job_of(uint64_t n)
{
    const uint8_t random[10] = {(uint8_t)n};

    return job_id_make((int64_t)(1000 + n), random);
}

static void fill(struct tape *tape, struct event *event)
{
    static const char *const pools[] = {"p0", "p1"};

    if (event->type == EVENT_LEASED) {
        event->leased.executor_id = STR("cluster");
        event->leased.node_name = STR("node");
        event->leased.pool = str_of(pools[draw(tape, 0, 1)]);
    } else if (event->type == EVENT_FAILED || event->type == EVENT_RUN_ERRORS) {
        static const enum error_kind kinds[] = {
            ERROR_POD, ERROR_LEASE_RETURNED, ERROR_PREEMPTED, ERROR_REJECTED};
        event->error.kind = kinds[draw(tape, 0, 3)];
        event->error.is_terminal = draw(tape, 0, 1);
        event->error.message = STR("text");
    } else if (event->type == EVENT_CANCEL || event->type == EVENT_CANCELLED) {
        event->cancel.reason = draw(tape, 0, 1) ? STR("reason") : STR("");
    } else if (event->type == EVENT_REPRIORITISED) {
        event->reprioritise.priority = (uint32_t)draw(tape, 0, 9);
    }
}

static void add_submit(struct log_batch *batch, const struct event_scope *scope,
                       struct job_id job, int64_t at_ms)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), 500 * (int64_t)(job.v.lo % 7 + 1)},
        {STR("nvidia.com/gpu"), 1000 * (int64_t)(job.v.lo % 3)}};
    struct requirement requirement = {.requests = {amounts, 2}};
    auto_strbuf spec = {0}, event = {0}, class = {0}, digest = {0};

    requirement_pack(&class, &requirement);
    digest_pack(&digest, &(struct job_digest){.class_key = strbuf_str(&class),
                                              .gang_cardinality = 1,
                                              .gang_minimum = 1});

    store_world_encode_submit(&spec, job, job.v.lo & 1 ? "client" : "",
                              job.v.lo & 2 ? "uri" : "");
    log_put_submit(&event, at_ms, strbuf_str(&spec), strbuf_str(&digest));
    log_batch_add_encoded(batch, scope, strbuf_str(&event));
}

static void add_event(struct tape *tape, struct log_batch *batch, int64_t at_ms)
{
    uint64_t n = draw(tape, 0, JOB_COUNT - 1);
    struct event event = {
        .type = types[draw(tape, 0, ARRAY_COUNT(types) - 1)],
        .created_ms = at_ms,
        .job = job_of(n),
        .run = run_id_make(job_of(n), (uint32_t)draw(tape, 0, RUN_COUNT - 1)),
    };
    struct event_scope scope = {STR("q"), str_of(sets[n % 2]), STR("ann")};

    if (event.type == EVENT_SUBMIT) {
        add_submit(batch, &scope, event.job, at_ms);
        return;
    }
    fill(tape, &event);
    log_batch_add(batch, &scope, &event);
}

struct history {
    struct elog_record records[RECORD_COUNT_MAX];
    struct log_batch batches[RECORD_COUNT_MAX];
    uint32_t count;
};

static void draw_history(struct tape *tape, struct history *history)
{
    int64_t now_ms = 2000, pace_ms = draw(tape, 0, 1) ? 1 : 20000000;

    history->count = (uint32_t)draw(tape, 1, RECORD_COUNT_MAX);
    for (uint32_t i = 0; i < history->count; i++) {
        uint64_t event_count = draw(tape, 0, 12);

        for (uint64_t j = 0; j < event_count; j++) {
            add_event(tape, &history->batches[i], now_ms);
            now_ms += pace_ms;
        }
        history->records[i] = (struct elog_record){
            .seq = i + 1,
            .epoch = 1,
            .checksum = i * 17,
            .payload = log_batch_finish(&history->batches[i]),
        };
    }
}

static void free_history(struct history *history)
{
    for (uint32_t i = 0; i < history->count; i++) {
        log_batch_fini(&history->batches[i]);
    }
}

static bool live_through(struct tape *tape, struct store_world *world,
                         const struct history *history)
{
    for (uint32_t i = 0; i < history->count; i++) {
        if (draw(tape, 0, 3) == 3) {
            store_world_reopen(world);
        }
        if (store_apply(world->store, &history->records[i], 1, NULL, NULL,
                        NULL) < 0) {
            return false;
        }
    }
    return true;
}

/* No row of what should not be: an ended job that is active, a run without a
 * job, a count that is off. */
static bool rows_are_sound(const char *path)
{
    static const char *const wrong[] = {
        "SELECT count(*) FROM run WHERE job_number NOT IN"
        " (SELECT number FROM job)",
        "SELECT count(*) FROM job WHERE (ended_ms > 0) <>"
        " (state IN (4, 5, 6, 7, 9))",
        "SELECT count(*) FROM job j WHERE run_count <>"
        " (SELECT count(*) FROM run WHERE job_number = j.number)",
        "SELECT coalesce(sum(job_count), 0) <> (SELECT count(*) FROM job"
        " WHERE state IN (2, 3, 8)) FROM active",
        "SELECT count(*) FROM active a WHERE job_count <> (SELECT count(*)"
        " FROM job WHERE pool = a.pool AND state IN (2, 3, 8))",
        "SELECT count(*) <> (SELECT count(*) FROM job) FROM spec",
        "SELECT count(*) FROM set_count c WHERE job_count <> (SELECT count(*)"
        " FROM job WHERE set_key = c.set_key AND state = c.state)",
        "SELECT coalesce(sum(job_count), 0) <> (SELECT count(*) FROM job)"
        " FROM set_count",
        /* Usage is the integral over the runs that ended. */
        "SELECT coalesce(sum(core_used), 0) <> (SELECT coalesce(sum("
        "core_milli * (finished_ms - leased_ms)), 0) FROM run JOIN job"
        " ON job.number = job_number WHERE finished_ms > 0) FROM usage",
        "SELECT coalesce(sum(gpu_used), 0) <> (SELECT coalesce(sum("
        "gpu_milli * (finished_ms - leased_ms)), 0) FROM run JOIN job"
        " ON job.number = job_number WHERE finished_ms > 0) FROM usage",
        "SELECT coalesce(sum(core_preempted), 0) <> (SELECT coalesce(sum("
        "core_milli * (finished_ms - leased_ms)), 0) FROM run JOIN job"
        " ON job.number = job_number WHERE run.state = 6) FROM usage",
        "SELECT coalesce(sum(core_wasted + core_cancelled + core_preempted),"
        " 0) <> (SELECT coalesce(sum(core_milli * (finished_ms - leased_ms)),"
        " 0) FROM run JOIN job ON job.number = job_number"
        " WHERE finished_ms > 0 AND run.state <> 3) FROM usage",
        "SELECT coalesce(sum(runs), 0) <> (SELECT count(*) FROM run"
        " WHERE finished_ms > 0) FROM usage",
        "SELECT coalesce(sum(submitted), 0) <> (SELECT count(*) FROM job)"
        " OR coalesce(sum(succeeded), 0) <> (SELECT count(*) FROM job"
        " WHERE state = 4) OR coalesce(sum(failed), 0) <> (SELECT count(*)"
        " FROM job WHERE state IN (5, 9)) OR coalesce(sum(cancelled), 0) <>"
        " (SELECT count(*) FROM job WHERE state = 6) FROM usage",
        "SELECT count(*) FROM job_set s WHERE changed_ms <> coalesce((SELECT"
        " max(transition_ms) FROM job WHERE set_key = s.key), 0)",
    };
    struct sq_open how = {.path = path, .is_read_only = true};
    sqlite3 *db = NULL;
    bool is_sound = sq_open(&how, &db, NULL) == 0;

    for (size_t i = 0; is_sound && i < ARRAY_COUNT(wrong); i++) {
        int64_t count = -1;
        is_sound = sq_get_int(db, wrong[i], &count, NULL) == 1 && count == 0;
        if (!is_sound) {
            printf("%s: %lld\n", wrong[i], (long long)count);
        }
    }
    sq_close(db);
    return is_sound;
}

static bool rebuilt_is_lived_through(struct tape *tape)
{
    struct history history = {.count = 0};
    struct store_world lived;
    struct store_world rebuilt;
    auto_strbuf lived_rows = {0};
    auto_strbuf rebuilt_rows = {0};

    draw_history(tape, &history);
    store_world_init(&lived);
    store_world_init(&rebuilt);
    bool is_good = live_through(tape, &lived, &history) &&
                   store_apply(rebuilt.store, history.records, history.count,
                               NULL, NULL, NULL) == 0;
    store_world_dump(lived.path, &lived_rows);
    store_world_dump(rebuilt.path, &rebuilt_rows);
    is_good = is_good &&
              str_equal(strbuf_str(&lived_rows), strbuf_str(&rebuilt_rows)) &&
              rows_are_sound(lived.path);
    store_world_fini(&lived);
    store_world_fini(&rebuilt);
    free_history(&history);
    return is_good;
}

int main(void)
{
    return prop_check("rebuilt_is_lived_through", rebuilt_is_lived_through, 60,
                      0)
               ? 0
               : 1;
}
