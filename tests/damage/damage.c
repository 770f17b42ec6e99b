/*
 * damage - what becomes of a data directory of which one file is damaged.
 *
 * Method: a directory is copied, damaged by a seed, and opened as berthd opens
 * it; what is read afterwards is compared with what was there. Each outcome is
 * one of a few classes; none may be silent, and no job may be lost that log and
 * store both had.  Small files are read by what reads them (damage_small.h).
 *
 *     damage [COUNT_EACH [FIRST_SEED [TABLE]]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "damage_kinds.h"
#include "damage_small.h"
#include "damage_tally.h"
#include "damage_world.h"
#include "elog/elog_sqlite.h"
#include "elog/sq_sums.h"

enum { COUNT_USUAL = 8, RECOVER_STEPS = 4 };

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

/* Databases, what belongs to them, and what each may change places with. */
static const struct {
    const char *name, *twin;
} files[] = {
    {"log.db", "store.db"},
    {"log.db-wal", "store.db-wal"},
    {"log.db-end", NULL},
    {"log.db-shm", "store.db-shm"},
    {"log.db-lock", "store.db-lock"},
    {"store.db", "log.db"},
    {"store.db-wal", "log.db-wal"},
    {"store.db-shm", "log.db-shm"},
    {"store.db-lock", "log.db-lock"},
};

/* Damage a file of a world once; whether there was something to damage. */
static bool run_one(const struct damage_world *world,
                    const struct damage_world *other, uint32_t file,
                    uint64_t seed, struct tally *tally)
{
    auto_tmpdir dir = {""};
    struct start start;

    tmpdir_init(&dir);
    const struct damage_target target = {dir.path, files[file].name,
                                         files[file].twin, other->dir.path};
    copy_folder(&world->dir, &dir);
    struct damage damage = damage_do(&target, seed);
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
        (void)damage_do(&target, seed);
        lost = recover(world, &dir);
    }
    tally_note(tally, &(struct tally_one){world->name, &damage, seed, outcome,
                                          lost, start.err.text});
    return true;
}

/* Damage a small file once, likewise. */
static bool run_small(uint32_t file, uint64_t seed, struct tally *tally)
{
    struct damage damage;

    enum outcome outcome = damage_small_try(file, seed, &damage);
    if (damage.changed_it) {
        tally_note(tally,
                   &(struct tally_one){"small", &damage, seed, outcome, 0, ""});
    }
    return damage.changed_it;
}

static uint64_t number(int count, char **words, int index, uint64_t usual)
{
    return index < count ? strtoull(words[index], NULL, 10) : usual;
}

/* `wanted` damages of each file; some seeds find nothing to change. */
static void run_all(const struct damage_world *worlds, uint64_t wanted,
                    uint64_t first_seed, struct tally *tally)
{
    for (uint32_t file = 0; file < ARRAY_COUNT(files); file++) {
        for (uint64_t seed = first_seed, done = 0; done < wanted; seed++) {
            done += run_one(&worlds[seed % 2], &worlds[(seed + 1) % 2], file,
                            seed, tally);
        }
    }
    for (uint32_t file = 0; file < damage_small_count(); file++) {
        for (uint64_t seed = first_seed, done = 0; done < wanted; seed++) {
            done += run_small(file, seed, tally);
        }
    }
}

int main(int count, char **words)
{
    auto_mem struct tally *tally = mem_alloc(sizeof(*tally));
    auto_mem struct damage_world *worlds = mem_alloc(2 * sizeof(*worlds));

    /* Memory where there is some: it is not the disk that is tested. */
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 1);
    }
    damage_world_stopped(&worlds[0]);
    damage_world_killed(&worlds[1]);
    run_all(worlds, number(count, words, 1, COUNT_USUAL),
            number(count, words, 2, 1), tally);
    damage_world_fini(&worlds[0]);
    damage_world_fini(&worlds[1]);
    if (count > 3) {
        FILE *table = fopen(words[3], "we");
        ASSERT(table);
        tally_print(table, tally);
        (void)fclose(table);
    }
    return tally_report(tally) ? 0 : 1;
}
