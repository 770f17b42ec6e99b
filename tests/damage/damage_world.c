#include "damage_world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "wire/message/field.h"

enum {
    SPEC_BYTES_MAX = 20000,
    STATE_BYTES = 30000,
    T0 = 1000000,
    MAIN_OBJECT = 5, /* of a SubmitJob */
};

/* A log and a store while they live. */
struct life {
    struct damage_world *world;
    struct tmpdir dir; /* of the living ones */
    struct elog *log;
    struct elog_reader *reader;
    struct store *store;
    uint64_t epoch;
};

struct job_id damage_job(uint64_t seq)
{
    const uint8_t random[10] = {7};

    return job_id_make((int64_t)(T0 + seq), random);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    ASSERT(result == 0);
}

static void put_submit(struct log_batch *batch, const struct event_scope *scope,
                       uint64_t seq)
{
    auto_strbuf spec = {0}, event = {0}, object = {0};

    for (size_t i = hash_mix(seq) % SPEC_BYTES_MAX; i > 0; i--) {
        strbuf_add_char(&object, (char)(i * seq));
    }
    store_world_encode_submit(&spec, damage_job(seq), "", "");
    field_put_bytes(&spec, MAIN_OBJECT, strbuf_str(&object));
    log_put_submit(&event, (int64_t)(T0 + seq), strbuf_str(&spec),
                   (struct str){0});
    log_batch_add_encoded(batch, scope, strbuf_str(&event));
}

/* Record `seq` submits a job, and an earlier one goes on. */
static void append(struct life *life, uint64_t seq)
{
    struct log_batch batch = {0};
    struct event_scope scope = {STR("q"), seq % 3 ? STR("a") : STR("b"),
                                STR("ann")};
    uint64_t other = seq - seq % 7;

    put_submit(&batch, &scope, seq);
    if (seq % 7 > 0 && other > 0) {
        struct event event = {.type =
                                  seq % 7 == 1 ? EVENT_LEASED : EVENT_SUCCEEDED,
                              .created_ms = (int64_t)(T0 + seq),
                              .job = damage_job(other),
                              .run = run_id_make(damage_job(other), 0)};
        if (event.type == EVENT_LEASED) {
            event.leased.executor_id = STR("cluster");
            event.leased.node_name = STR("node");
            event.leased.pool = STR("pool");
        }
        if (seq % 7 < 3) {
            log_batch_add(&batch, &scope, &event);
        }
    }
    struct elog_record record = {.seq = seq,
                                 .epoch = life->epoch,
                                 .time_ms = (int64_t)(T0 + seq),
                                 .format_version = 1,
                                 .payload = log_batch_finish(&batch)};
    int rc = elog_submit(life->log, &record, on_done, NULL);
    ASSERT(rc == 0);
    elog_poll(life->log, 0);
    log_batch_fini(&batch);
}

static void put_checkpoint(struct life *life, uint64_t seq)
{
    struct strbuf *state = &life->world->state;

    strbuf_clear(state);
    for (size_t i = 0; i < STATE_BYTES; i++) {
        strbuf_add_char(state, (char)(i * seq));
    }
    int rc = elog_checkpoint_put(life->log, seq, 1, strbuf_str(state), NULL);
    ASSERT(rc == 0);
    life->world->checkpoint_seq = seq;
}

static void open_files(struct life *life)
{
    char path[TMPDIR_PATH_BYTES_MAX];

    int rc = elog_sqlite_open(tmpdir_path(&life->dir, "log.db", path), NULL,
                              &life->log, NULL);
    ASSERT(rc == 0);
    rc = elog_reader_open(life->log, &life->reader, NULL);
    ASSERT(rc == 0);
    rc = store_sqlite_open(tmpdir_path(&life->dir, "store.db", path),
                           &life->store, NULL);
    ASSERT(rc == 0);
}

static void acquire(struct life *life)
{
    int rc = elog_acquire(life->log, &life->epoch, NULL);

    ASSERT(rc == 0);
}

static void begin(struct life *life, struct damage_world *world,
                  const char *name)
{
    *world = (struct damage_world){.name = name, .first_seq = 1};
    *life = (struct life){.world = world};
    tmpdir_init(&world->dir);
    tmpdir_init(&life->dir);
    open_files(life);
    acquire(life);
}

static void follow(struct life *life)
{
    int rc = 1;

    while (rc > 0) {
        rc = store_follow(life->store, life->reader, NULL, NULL, NULL);
    }
    ASSERT(rc == 0);
    life->world->stored_seq = store_seq(life->store);
}

static void keep_files(struct life *life)
{
    char command[3 * TMPDIR_PATH_BYTES_MAX];

    snprintf(command, sizeof(command), "cp %s/* %s", life->dir.path,
             life->world->dir.path);
    int rc = system(command);
    ASSERT(rc == 0);
}

static int keep_sum(void *ctx, const struct elog_record *record)
{
    struct damage_world *world = ctx;

    world->sums[record->seq] = record->checksum;
    return 0;
}

static void stop(struct life *life)
{
    elog_reader_close(steal_ptr(life->reader));
    store_close(steal_ptr(life->store));
    elog_close(steal_ptr(life->log));
}

/* Note what is there to be found. */
static void note_truth(struct life *life)
{
    struct damage_world *world = life->world;
    struct elog_range all = {.from_seq = world->first_seq};
    struct elog_bounds bounds;
    char path[TMPDIR_PATH_BYTES_MAX];
    uint64_t stored_seq = world->stored_seq;

    int rc = elog_bounds(life->reader, &bounds, NULL);
    ASSERT(rc == 0);
    world->head_seq = bounds.head_seq;
    rc = elog_read(life->reader, &all, keep_sum, world, NULL);
    ASSERT(rc > 0);
    follow(life);
    world->stored_seq = stored_seq;
    stop(life);
    rc = damage_dump(tmpdir_path(&life->dir, "store.db", path), &world->rows,
                     NULL);
    ASSERT(rc == 0);
    tmpdir_fini(&life->dir);
}

void damage_world_stopped(struct damage_world *world)
{
    struct life life;

    begin(&life, world, "stopped");
    for (uint64_t seq = 1; seq <= 60; seq++) {
        append(&life, seq);
        if (seq % 25 == 0) {
            put_checkpoint(&life, seq);
        }
    }
    follow(&life);
    stop(&life);
    keep_files(&life);
    open_files(&life);
    note_truth(&life);
}

void damage_world_killed(struct damage_world *world)
{
    struct life life;

    begin(&life, world, "killed");
    for (uint64_t seq = 1; seq <= 90; seq++) {
        append(&life, seq);
        if (seq % 30 == 0 && seq < 90) {
            put_checkpoint(&life, seq);
        }
        if (seq == 40 || seq == 80) {
            follow(&life);
        }
        if (seq == 50) { /* all is in the databases now */
            stop(&life);
            open_files(&life);
            acquire(&life);
        }
    }
    int rc = elog_trim(life.log, 20, &world->first_seq, NULL);
    ASSERT(rc == 0);
    keep_files(&life);
    note_truth(&life);
}

void damage_world_fini(struct damage_world *world)
{
    strbuf_fini(&world->state);
    strbuf_fini(&world->rows);
    tmpdir_fini(&world->dir);
}

static void dump_row(sqlite3_stmt *row, struct strbuf *buf)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        struct str value = sq_column_str(row, i);

        strbuf_addf(
            buf, "%zu:%016llx ", value.byte_count,
            (unsigned long long)hash_bytes(value.p, value.byte_count, 0));
    }
    strbuf_add_char(buf, '\n');
}

int damage_dump(const char *path, struct strbuf *buf, struct err *err)
{
    static const char *const tables[] = {"progress",  "job_set", "job",
                                         "spec",      "run",     "set_record",
                                         "client_id", "active",  "set_count"};
    struct sq_open how = {.path = path, .is_read_only = true};
    sqlite3 *db = NULL;

    int rc = sq_open(&how, &db, err);
    for (size_t i = 0; rc >= 0 && i < ARRAY_COUNT(tables); i++) {
        char sql[100];
        sqlite3_stmt *stmt = NULL;

        snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1, 2", tables[i]);
        rc = sq_prepare(db, sql, &stmt, err);
        strbuf_addf(buf, "%s\n", tables[i]);
        while (rc >= 0 && (rc = sq_step(stmt, err)) == 1) {
            dump_row(stmt, buf);
        }
        sqlite3_finalize(stmt);
    }
    sq_close(db);
    return rc < 0 ? rc : 0;
}
