/*
 * elog: the log in a file does what the log in memory does, and a file whose
 * bytes were changed never lies.
 *
 * Method: for the first, draw operations of two writers, right and wrong, run
 * them on both backends and compare every answer.  For the second, write a
 * small log, spoil some bytes of the file, and read: any record that is given
 * must be as it was written; all else is an error with a text.
 */
#include <stdio.h>

#include "base/strbuf.h"
#include "elog/elog_memory.h"
#include "elog/elog_sqlite.h"
#include "prop.h"
#include "tmpdir.h"

enum { OPS_MAX = 40, BACKEND_COUNT = 2, WRITER_COUNT = 2 };

/* One backend with two writers on it, and what it answered. */
struct side {
    struct elog *writers[WRITER_COUNT];
    uint64_t epochs[WRITER_COUNT];
    struct elog_reader *reader;
    struct strbuf answers;
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    strbuf_addf((struct strbuf *)ctx, "done %llu %d\n", (unsigned long long)seq,
                result);
}

static int on_record(void *ctx, const struct elog_record *record)
{
    strbuf_addf((struct strbuf *)ctx, "%llu %llu %lld %llx %.*s\n",
                (unsigned long long)record->seq,
                (unsigned long long)record->epoch, (long long)record->time_ms,
                (unsigned long long)record->checksum, STR_ARG(record->payload));
    return 0;
}

static int on_piece(void *ctx, const struct elog_checkpoint *about,
                    struct str piece)
{
    strbuf_addf((struct strbuf *)ctx, "checkpoint %llu %.*s\n",
                (unsigned long long)about->seq, STR_ARG(piece));
    return 0;
}

enum op { OP_ACQUIRE, OP_SUBMIT, OP_POLL, OP_READ, OP_PUT, OP_TRIM, OP_LAST };

struct step {
    enum op op;
    uint64_t writer, number, count;
};

static void submit(struct side *side, const struct step *step)
{
    static const char letters[] = "abcdefgh";
    struct elog_bounds bounds = {0};

    if (side->epochs[step->writer] == 0) {
        return;
    }
    int rc = elog_bounds(side->reader, &bounds, NULL);
    struct elog *log = side->writers[step->writer];
    struct elog_record record = {
        /* Mostly right. */
        .seq = bounds.head_seq + 1 + elog_in_flight_count(log) +
               (step->number == 7),
        .epoch = side->epochs[step->writer],
        .time_ms = (int64_t)step->number,
        .payload = str_make(letters, step->count),
    };
    rc = rc < 0 ? rc : elog_submit(log, &record, on_done, &side->answers);
    strbuf_addf(&side->answers, "submit %d\n", rc);
}

static void look(struct side *side, const struct step *step)
{
    struct elog_range range = {.from_seq = step->number + 1,
                               .record_count_max = (uint32_t)step->count};
    struct elog_bounds bounds = {0};
    struct elog_checkpoint about = {0};

    int rc = elog_read(side->reader, &range, on_record, &side->answers, NULL);
    strbuf_addf(&side->answers, "read %d\n", rc);
    rc = elog_bounds(side->reader, &bounds, NULL);
    strbuf_addf(&side->answers, "bounds %d %llu %llu\n", rc,
                (unsigned long long)bounds.first_seq,
                (unsigned long long)bounds.head_seq);
    rc = elog_checkpoint_get(side->reader, &about, on_piece, &side->answers,
                             NULL);
    strbuf_addf(&side->answers, "get %d %llu\n", rc,
                (unsigned long long)about.seq);
}

static void acquire(struct side *side, const struct step *step)
{
    struct elog *log = side->writers[step->writer];

    if (elog_in_flight_count(log) > 0) {
        return;
    }
    int rc = elog_acquire(log, &side->epochs[step->writer], NULL);
    strbuf_addf(&side->answers, "acquire %d %llu\n", rc,
                (unsigned long long)side->epochs[step->writer]);
}

static void put_or_trim(struct side *side, const struct step *step)
{
    struct elog *log = side->writers[step->writer];
    uint64_t first_seq = 0;
    int rc;

    if (step->op == OP_PUT) {
        rc = elog_checkpoint_put(log, step->number + 1, 1, STR("state"), NULL);
    } else {
        rc = elog_trim(log, step->number, &first_seq, NULL);
    }
    strbuf_addf(&side->answers, "%d: %d %llu\n", (int)step->op, rc,
                (unsigned long long)first_seq);
}

static void run(struct side *side, const struct step *step)
{
    switch (step->op) {
    case OP_ACQUIRE:
        acquire(side, step);
        break;
    case OP_SUBMIT:
        submit(side, step);
        break;
    case OP_POLL:
        elog_poll(side->writers[step->writer], 0);
        break;
    case OP_READ:
        look(side, step);
        break;
    case OP_PUT:
    case OP_TRIM:
    case OP_LAST:
        put_or_trim(side, step);
        break;
    }
}

static bool open_side(struct side *side, struct elog_memory_storage *storage,
                      const char *path)
{
    struct elog_sqlite_options options = {.is_unlocked = true};

    *side = (struct side){.epochs = {0}};
    for (int i = 0; i < WRITER_COUNT; i++) {
        if (!storage &&
            elog_sqlite_open(path, &options, &side->writers[i], NULL) < 0) {
            return false;
        }
        if (storage) {
            side->writers[i] = elog_memory_open(storage);
        }
    }
    return elog_reader_open(side->writers[0], &side->reader, NULL) == 0;
}

static void close_side(struct side *side)
{
    elog_reader_close(side->reader);
    for (int i = 0; i < WRITER_COUNT; i++) {
        elog_close(side->writers[i]);
    }
    strbuf_fini(&side->answers);
}

static bool file_does_what_memory_does(struct tape *tape)
{
    auto_tmpdir dir = {""};
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    char path[TMPDIR_PATH_BYTES_MAX];
    struct side sides[BACKEND_COUNT];

    tmpdir_init(&dir);
    bool is_good = open_side(&sides[0], storage, NULL) &&
                   open_side(&sides[1], NULL, tmpdir_path(&dir, "log", path));
    uint64_t step_count = draw(tape, 0, OPS_MAX);
    for (uint64_t i = 0; is_good && i < step_count; i++) {
        struct step step = {
            .op = (enum op)draw(tape, 0, OP_LAST - 1),
            .writer = draw(tape, 0, WRITER_COUNT - 1),
            .number = draw(tape, 0, 7),
            .count = draw(tape, 0, 4),
        };
        for (int s = 0; s < BACKEND_COUNT; s++) {
            run(&sides[s], &step);
        }
    }
    is_good = is_good && str_equal(strbuf_str(&sides[0].answers),
                                   strbuf_str(&sides[1].answers));
    if (!is_good) {
        printf("memory:\n%s\nfile:\n%s\n", strbuf_text(&sides[0].answers),
               strbuf_text(&sides[1].answers));
    }
    close_side(&sides[0]);
    close_side(&sides[1]);
    return is_good;
}

/* A spoiled file. */

enum { SPOILED_RECORDS = 12, RECORD_BYTES = 900 };

static void fill_record(uint64_t seq, char bytes[RECORD_BYTES])
{
    memset(bytes, (int)('a' + seq % 26), RECORD_BYTES);
}

static void ignore_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)result;
    (void)seq;
}

static bool write_log(const char *path)
{
    auto_ptr(elog) log = NULL;
    char bytes[RECORD_BYTES];
    uint64_t epoch;

    if (elog_sqlite_open(path, NULL, &log, NULL) < 0 ||
        elog_acquire(log, &epoch, NULL) < 0) {
        return false;
    }
    for (uint64_t seq = 1; seq <= SPOILED_RECORDS; seq++) {
        fill_record(seq, bytes);
        struct elog_record record = {
            .seq = seq,
            .epoch = epoch,
            .payload = str_make(bytes, RECORD_BYTES),
        };
        if (elog_submit(log, &record, ignore_done, NULL) < 0 ||
            elog_poll(log, 0) != 1) {
            return false;
        }
    }
    return elog_checkpoint_put(log, 4, 1, STR("four"), NULL) == 0;
}

static bool spoil_file(struct tape *tape, const char *path)
{
    FILE *file = fopen(path, "r+b");

    if (!file) {
        return false;
    }
    fseek(file, 0, SEEK_END);
    long byte_count = ftell(file);
    uint64_t spoil_count = draw(tape, 0, 20);
    for (uint64_t i = 0; i < spoil_count; i++) {
        fseek(file, (long)draw(tape, 0, (uint64_t)byte_count - 1), SEEK_SET);
        fputc((int)draw(tape, 0, 255), file);
    }
    return fclose(file) == 0;
}

static int check_record(void *ctx, const struct elog_record *record)
{
    char bytes[RECORD_BYTES];
    bool *is_good = (bool *)ctx;

    fill_record(record->seq, bytes);
    *is_good &= str_equal(record->payload, str_make(bytes, RECORD_BYTES));
    return 0;
}

static int check_state(void *ctx, const struct elog_checkpoint *about,
                       struct str piece)
{
    bool *is_good = (bool *)ctx;

    *is_good &= about->seq == 4 && str_equal(piece, STR("four"));
    return 0;
}

/* Any failure is fine that has a text; what is given must be right. */
static bool read_spoiled(const char *path)
{
    auto_ptr(elog) log = NULL;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range all = {.from_seq = 1};
    struct elog_checkpoint about;
    struct err err = {""};
    bool is_good = true;

    if (elog_sqlite_open(path, NULL, &log, &err) < 0 ||
        elog_reader_open(log, &reader, &err) < 0) {
        return strlen(err.text) > 0;
    }
    int rc = elog_read(reader, &all, check_record, &is_good, &err);
    is_good &= rc >= 0 || strlen(err.text) > 0;
    rc = elog_checkpoint_get(reader, &about, check_state, &is_good, &err);
    return is_good && (rc >= 0 || strlen(err.text) > 0);
}

static bool a_spoiled_file_never_lies(struct tape *tape)
{
    auto_tmpdir dir = {""};
    char path[TMPDIR_PATH_BYTES_MAX];

    tmpdir_init(&dir);
    tmpdir_path(&dir, "log", path);
    return write_log(path) && spoil_file(tape, path) && read_spoiled(path);
}

int main(void)
{
    bool is_good = prop_check("file_does_what_memory_does",
                              file_does_what_memory_does, 60, 0);

    is_good &= prop_check("a_spoiled_file_never_lies",
                          a_spoiled_file_never_lies, 60, 0);
    return is_good ? 0 : 1;
}
