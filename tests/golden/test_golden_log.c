/*
 * Reading a log of a former release gives what it gave then.
 *
 *     test_golden_log LOG.sql LOG.txt    compare
 *     test_golden_log LOG.sql            print
 */
#include <inttypes.h>
#include <stdio.h>

#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "store_world.h"

struct reading {
    struct strbuf text;
    struct store *store;
};

static void read_file(const char *path, struct strbuf *buf)
{
    FILE *file = fopen(path, "rb");
    char block[4096];
    size_t got;

    ASSERT(file);
    while ((got = fread(block, 1, sizeof(block), file)) > 0) {
        strbuf_add(buf, block, got);
    }
    fclose(file);
}

static void make_file(const char *sql_path, const char *path)
{
    struct sq_open how = {.path = path, .may_create = true};
    auto_strbuf sql = {0};
    sqlite3 *db = NULL;

    read_file(sql_path, &sql);
    int rc = sq_open(&how, &db, NULL);
    ASSERT(rc == 0);
    rc = sq_exec(db, strbuf_text(&sql), NULL);
    ASSERT(rc == 0);
    sq_close(db);
}

static int on_item(const struct log_item *item, void *ctx)
{
    struct reading *reading = (struct reading *)ctx;
    char job[ID_TEXT_BYTES_MAX];
    char run[ID_TEXT_BYTES_MAX];

    strbuf_addf(&reading->text,
                "  event %d at %" PRId64 " queue %.*s set %.*s user %.*s"
                " job %s run %s\n",
                (int)item->event.type, item->event.created_ms,
                STR_ARG(item->scope.queue), STR_ARG(item->scope.job_set),
                STR_ARG(item->scope.user), job_id_format(item->event.job, job),
                run_id_format(item->event.run, run));
    return 0;
}

static int on_record(void *ctx, const struct elog_record *record)
{
    struct reading *reading = (struct reading *)ctx;
    auto_arena arena = {0};

    strbuf_addf(&reading->text,
                "record %" PRIu64 " epoch %" PRIu64 " time %" PRId64
                " format %u checksum %016" PRIx64 " bytes %zu\n",
                record->seq, record->epoch, record->time_ms,
                record->format_version, record->checksum,
                record->payload.byte_count);
    int rc = log_decode(record->payload, &arena, on_item, reading, NULL);
    ASSERT(rc == 0);
    rc = store_apply(reading->store, record, 1, NULL, NULL, NULL);
    ASSERT(rc == 0);
    return 0;
}

static int on_piece(void *ctx, const struct elog_checkpoint *about,
                    struct str piece)
{
    strbuf_addf((struct strbuf *)ctx,
                "checkpoint after %" PRIu64 " format %u: %.*s\n", about->seq,
                about->format_version, STR_ARG(piece));
    return 0;
}

static void read_log(struct reading *reading, const char *path)
{
    auto_ptr(elog) log = NULL;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;
    struct elog_checkpoint about;
    struct err err = {""};

    int rc = elog_sqlite_open(path, NULL, &log, &err);
    ASSERT(rc == 0);
    rc = elog_reader_open(log, &reader, &err);
    ASSERT(rc == 0);
    rc = elog_bounds(reader, &bounds, &err);
    ASSERT(rc == 0);
    strbuf_addf(&reading->text,
                "note \"%s\" first %" PRIu64 " head %" PRIu64 "\n",
                elog_note(log), bounds.first_seq, bounds.head_seq);
    rc = elog_checkpoint_get(reader, &about, on_piece, &reading->text, &err);
    ASSERT(rc == 1);
    struct elog_range all = {.from_seq = bounds.first_seq};
    rc = elog_read(reader, &all, on_record, reading, &err);
    ASSERT(rc > 0);
}

static void show_jobs(struct reading *reading)
{
    auto_ptr(store_reader) reader = NULL;
    auto_arena arena = {0};
    struct store_filter filter = {.count_max = 100};
    struct stored_job *jobs;

    int rc = store_reader_open(reading->store, &reader, NULL);
    ASSERT(rc == 0);
    int count = store_list(reader, &filter, &arena, &jobs, NULL);
    for (int i = 0; i < count; i++) {
        char text[ID_TEXT_BYTES_MAX];

        strbuf_addf(&reading->text,
                    "job %s state %d runs %u error \"%.*s\" cancelled by"
                    " \"%.*s\" because \"%.*s\"\n",
                    job_id_format(jobs[i].id, text), (int)jobs[i].state,
                    jobs[i].run_count, STR_ARG(jobs[i].error),
                    STR_ARG(jobs[i].cancel_user),
                    STR_ARG(jobs[i].cancel_reason));
    }
}

int main(int argc, char **argv)
{
    auto_tmpdir dir = {""};
    char path[TMPDIR_PATH_BYTES_MAX];
    auto_strbuf expected = {0};
    struct reading reading = {.text = {0}};

    if (argc < 2) {
        return 2;
    }
    tmpdir_init(&dir);
    int rc = store_sqlite_open(tmpdir_path(&dir, "store", path), &reading.store,
                               NULL);
    ASSERT(rc == 0);
    make_file(argv[1], tmpdir_path(&dir, "log", path));
    read_log(&reading, path);
    show_jobs(&reading);
    store_close(reading.store);
    if (argc > 2) {
        read_file(argv[2], &expected);
    }
    bool is_same = str_equal(strbuf_str(&expected), strbuf_str(&reading.text));
    if (!is_same) {
        fputs(strbuf_text(&reading.text), stdout);
    }
    strbuf_fini(&reading.text);
    return argc > 2 && !is_same;
}
