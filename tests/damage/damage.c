/*
 * damage - what becomes of a data directory of which one file is damaged.
 *
 * Method: a directory is copied, damaged by a seed, and opened as berthd opens
 * it; what is read afterwards is compared with what was there. Each outcome is
 * one of a few classes; none may be silent, and no job may be lost that log and
 * store both had.
 *
 *     damage [COUNT [FIRST_SEED [TABLE]]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "damage_kinds.h"
#include "damage_world.h"
#include "elog/elog_sqlite.h"
#include "elog/sq_sums.h"

enum { COUNT_USUAL = 80, KINDS_MAX = 200, RECOVER_STEPS = 4 };

enum outcome {
    HARMLESS, /* all is as it was */
    TOLD,     /* it goes on, and says what is missing */
    REFUSED,  /* at the start, or when all is taken up */
    FOUND,    /* it goes on; what reads it fails, or the scrub finds it */
    SILENT,
    OUTCOME_COUNT,
};

static const char *const outcome_names[] = {"harmless", "told", "refused",
                                            "found", "silent"};

/* A directory that was opened. */
struct start {
    const struct damage_world *world;
    char log_path[TMPDIR_PATH_BYTES_MAX], store_path[TMPDIR_PATH_BYTES_MAX];
    bool accepts_loss;
    bool has_note;
    struct elog *log;
    struct elog_reader *reader;
    struct store *store;
    bool is_other; /* something is not what it was */
    uint64_t next_seq;
    struct strbuf state;
    struct err err;
};

/* A row of the table. */
struct row {
    const char *world, *kind, *file;
    uint32_t counts[OUTCOME_COUNT];
};

struct tally {
    struct row rows[KINDS_MAX];
    uint32_t row_count;
    uint32_t counts[OUTCOME_COUNT];
    uint32_t lost_count;
};

static void make_start(struct start *start, const struct damage_world *world,
                       const struct tmpdir *dir)
{
    *start = (struct start){.world = world};
    tmpdir_path(dir, "log.db", start->log_path);
    tmpdir_path(dir, "store.db", start->store_path);
}

static void end_start(struct start *start)
{
    elog_reader_close(steal_ptr(start->reader));
    store_close(steal_ptr(start->store));
    elog_close(steal_ptr(start->log));
    strbuf_fini(&start->state);
}

static int add_piece(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    (void)about;
    strbuf_add_str(ctx, piece);
    return 0;
}

static int compare(void *ctx, const struct elog_record *record)
{
    struct start *start = ctx;

    start->is_other |= record->seq != start->next_seq ||
                       record->seq > start->world->head_seq ||
                       record->checksum != start->world->sums[record->seq];
    start->next_seq = record->seq + 1;
    return 0;
}

/* Read the log from `seq` on, as a leader takes it up. */
static int read_log(struct start *start, uint64_t seq)
{
    struct elog_range range = {.from_seq = seq};

    start->next_seq = seq;
    int rc = elog_read(start->reader, &range, compare, start, &start->err);
    return rc < 0 ? rc : 0;
}

static int take_up(struct start *start)
{
    const struct damage_world *world = start->world;
    struct elog_checkpoint about = {0};
    struct elog_bounds bounds;

    int rc = elog_bounds(start->reader, &bounds, &start->err);
    if (rc == 0) {
        rc = elog_checkpoint_get(start->reader, &about, add_piece,
                                 &start->state, &start->err);
    }
    if (rc < 0) {
        return rc;
    }
    start->is_other |=
        bounds.head_seq != world->head_seq ||
        (about.seq == world->checkpoint_seq &&
         !str_equal(strbuf_str(&start->state), strbuf_str(&world->state)));
    return read_log(start, about.seq + 1);
}

/* As berthd does, in its order. */
static int open_all(struct start *start)
{
    struct elog_sqlite_options options = {.accepts_loss = start->accepts_loss};
    struct elog_bounds bounds = {0};

    int rc =
        elog_sqlite_open(start->log_path, &options, &start->log, &start->err);
    if (rc == 0) {
        start->has_note = *elog_note(start->log) != 0;
        rc = elog_reader_open(start->log, &start->reader, &start->err);
    }
    if (rc == 0) {
        rc = store_sqlite_open(start->store_path, &start->store, &start->err);
    }
    if (rc == 0 && start->accepts_loss) {
        rc = store_rewind(start->store, start->reader, &start->err);
    }
    if (rc >= 0) {
        rc = store_check(start->store, start->reader, &start->err);
    }
    if (rc == 0) {
        rc = elog_bounds(start->reader, &bounds, &start->err);
    }
    /* berthd says that this store lacks what is older than the log. */
    start->has_note |=
        rc == 0 && store_seq(start->store) == 0 && bounds.first_seq > 1;
    return rc;
}

static int follow(struct start *start)
{
    int rc = 1;

    while (rc > 0) {
        rc = store_follow(start->store, start->reader, NULL, NULL, &start->err);
    }
    return rc;
}

/* Whether the scrub finds something. */
static bool is_found(struct start *start)
{
    struct sq_sums_scan scan;
    const char *const paths[] = {start->log_path, start->store_path};

    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        if (sq_sums_scan(paths[i], 0, UINT64_MAX, &scan, NULL) < 0 ||
            scan.bad_page > 0) {
            return true;
        }
    }
    return false;
}

/* What is there once all has started. */
static enum outcome look(struct start *start)
{
    auto_strbuf rows = {0};
    bool is_readable = read_log(start, start->world->first_seq) == 0;

    store_close(steal_ptr(start->store));
    is_readable =
        damage_dump(start->store_path, &rows, &start->err) == 0 && is_readable;
    bool is_same =
        is_readable && !start->is_other &&
        str_equal(strbuf_str(&rows), strbuf_str(&start->world->rows));
    elog_reader_close(steal_ptr(start->reader));
    elog_close(steal_ptr(start->log));
    if (is_same) {
        return HARMLESS;
    }
    if (!is_readable) {
        return FOUND;
    }
    return start->has_note ? TOLD : is_found(start) ? FOUND : SILENT;
}

static enum outcome try_start(struct start *start)
{
    if (open_all(start) < 0 || take_up(start) < 0 || follow(start) < 0) {
        return REFUSED;
    }
    return look(start);
}

static void remove_file(const char *path, const char *ending)
{
    char name[TMPDIR_PATH_BYTES_MAX + 8];

    snprintf(name, sizeof(name), "%s%s", path, ending);
    (void)unlink(name);
}

static void remove_db(const char *path)
{
    remove_file(path, "");
    remove_file(path, "-wal");
    remove_file(path, "-shm");
}

static int note_job(void *ctx, const struct elog_record *record)
{
    bool *has_job = ctx;

    has_job[record->seq] = true;
    return 0;
}

/* How many jobs that log and store both had are in neither now. */
static uint32_t count_lost(struct start *start)
{
    const struct damage_world *world = start->world;
    bool has_job[DAMAGE_JOBS_MAX + 1] = {false};
    auto_ptr(store_reader) reader = NULL;
    uint32_t count = 0;

    for (uint64_t seq = world->first_seq; seq <= world->head_seq; seq++) {
        struct elog_range one = {.from_seq = seq, .record_count_max = 1};
        (void)!elog_read(start->reader, &one, note_job, has_job, NULL);
    }
    int rc = store_reader_open(start->store, &reader, NULL);
    for (uint64_t seq = world->first_seq; seq <= world->stored_seq; seq++) {
        enum stored_job_state state;
        bool is_stored = rc == 0 && store_job_state(reader, damage_job(seq),
                                                    &state, NULL) == 1;
        count += !is_stored && !has_job[seq];
    }
    return count;
}

/* After a refusal, do what its text and the manual say, and count: accept the
 * loss, and move away what cannot be read even then. */
static uint32_t recover(const struct damage_world *world,
                        const struct tmpdir *dir)
{
    uint32_t lost = UINT32_MAX;

    for (int step = 0; step < RECOVER_STEPS && lost == UINT32_MAX; step++) {
        struct start start;

        make_start(&start, world, dir);
        start.accepts_loss = true;
        if (open_all(&start) == 0 && take_up(&start) == 0 &&
            follow(&start) == 0) {
            lost = count_lost(&start);
        }
        bool is_log_open = start.log != NULL;
        end_start(&start);
        if (lost == UINT32_MAX) {
            remove_db(is_log_open ? start.store_path : start.log_path);
        }
    }
    return lost;
}

static void copy_folder(const struct tmpdir *from, const struct tmpdir *to)
{
    char command[4 * TMPDIR_PATH_BYTES_MAX];

    snprintf(command, sizeof(command), "rm -rf %s && cp -r %s %s", to->path,
             from->path, to->path);
    int rc = system(command);
    ASSERT(rc == 0);
}

static void note(struct tally *tally, const struct damage_world *world,
                 const struct damage *damage, enum outcome outcome)
{
    uint32_t i = 0;

    while (i < tally->row_count &&
           (strcmp(tally->rows[i].kind, damage->kind) != 0 ||
            strcmp(tally->rows[i].file, damage->file) != 0 ||
            tally->rows[i].world != world->name)) {
        i++;
    }
    ASSERT(i < KINDS_MAX);
    if (i == tally->row_count) {
        tally->rows[tally->row_count++] =
            (struct row){world->name, damage->kind, damage->file, {0}};
    }
    tally->rows[i].counts[outcome]++;
    tally->counts[outcome]++;
}

/* Damage once; whether there was something to damage. */
static bool run_one(const struct damage_world *world,
                    const struct damage_world *other, uint64_t seed,
                    struct tally *tally)
{
    auto_tmpdir dir = {""};
    struct start start;

    tmpdir_init(&dir);
    copy_folder(&world->dir, &dir);
    struct damage damage = damage_do(dir.path, other->dir.path, seed);
    if (!damage.changed_it) {
        return false;
    }
    make_start(&start, world, &dir);
    enum outcome outcome = try_start(&start);
    end_start(&start);
    uint32_t lost = 0;
    /* What changed places is put back by hand. */
    if (outcome == REFUSED && !damage.is_swap) {
        copy_folder(&world->dir, &dir);
        (void)damage_do(dir.path, other->dir.path, seed);
        lost = recover(world, &dir);
    }
    if (outcome == SILENT || lost > 0) {
        printf("seed %" PRIu64 ": %s, %s of %s: %s, %" PRIu32
               " jobs lost: %s\n",
               seed, damage.kind, damage.file, world->name,
               outcome_names[outcome], lost, start.err.text);
    }
    if (getenv("DAMAGE_VERBOSE")) {
        printf("seed %" PRIu64 ": %s, %s of %s: %s: %s\n", seed, damage.kind,
               damage.file, world->name, outcome_names[outcome],
               start.err.text);
    }
    tally->lost_count += lost > 0;
    note(tally, world, &damage, outcome);
    return true;
}

static void print_row(FILE *file, const char *name, const uint32_t *counts)
{
    fprintf(file, "%s", name);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        fprintf(file, "\t%" PRIu32, counts[i]);
    }
    fprintf(file, "\n");
}

static void print(FILE *file, const struct tally *tally)
{
    fprintf(file, "directory\tdamage\tfile");
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        fprintf(file, "\t%s", outcome_names[i]);
    }
    fprintf(file, "\n");
    for (uint32_t i = 0; i < tally->row_count; i++) {
        const struct row *row = &tally->rows[i];
        fprintf(file, "%s\t%s\t", row->world, row->kind);
        print_row(file, row->file, row->counts);
    }
    print_row(file, "all\t\t", tally->counts);
}

static uint64_t number(int count, char **words, int index, uint64_t usual)
{
    return index < count ? strtoull(words[index], NULL, 10) : usual;
}

int main(int count, char **words)
{
    auto_mem struct tally *tally = mem_alloc(sizeof(*tally));
    auto_mem struct damage_world *worlds = mem_alloc(2 * sizeof(*worlds));
    uint64_t wanted = number(count, words, 1, COUNT_USUAL);
    uint64_t seed = number(count, words, 2, 1);

    /* Memory where there is some: it is not the disk that is tested. */
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 1);
    }
    damage_world_stopped(&worlds[0]);
    damage_world_killed(&worlds[1]);
    for (uint64_t done = 0; done < wanted; seed++) {
        done +=
            run_one(&worlds[seed % 2], &worlds[(seed + 1) % 2], seed, tally);
    }
    damage_world_fini(&worlds[0]);
    damage_world_fini(&worlds[1]);
    if (count > 3) {
        FILE *table = fopen(words[3], "we");
        ASSERT(table);
        print(table, tally);
        (void)fclose(table);
    }
    print_row(stdout, "harmless, told, refused, found, silent", tally->counts);
    printf("losing jobs that had another copy: %" PRIu32 "\n",
           tally->lost_count);
    return tally->counts[SILENT] > 0 || tally->lost_count > 0;
}
