#include "main/berthd/scrubber.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "elog/sq_sums.h"
#include "main/common/say.h"
#include "main/common/stopper.h"

enum {
    PIECE_PAGES = 64,
    PIECE_BYTES = 1 << 19, /* the same of records */
    PAUSE_MS_MAX = 10000,  /* between two pieces */
    FOUND_MAX = 100,       /* in a pass: then the disk needs no more words */
    THOUSAND = 1000,
};

struct scrubber {
    struct scrubber_options options;
    struct elog_reader *reader; /* owned; the thread's */
    struct stopper stopper;
    pthread_t thread;
    uint64_t pass_bytes;  /* about what this pass will read; 0: not known */
    uint64_t pass_done;   /* of them */
    uint32_t found_count; /* in this pass */
    atomic_uint_fast64_t pass_count, byte_count, damaged_count, per_mille;
};

static uint64_t size_of(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
}

/* Count a piece, and rest as long as its share of half a period; whether to go
 * on. */
static bool rest(struct scrubber *scrubber, uint64_t byte_count)
{
    uint64_t half_ms = (uint64_t)scrubber->options.period_ms / 2;
    uint64_t all = scrubber->pass_bytes > 0 ? scrubber->pass_bytes : 1;
    uint64_t pause_ms =
        (uint64_t)((double)half_ms * (double)byte_count / (double)all);

    scrubber->pass_done += byte_count;
    uint64_t done = scrubber->pass_done < all ? scrubber->pass_done : all;
    atomic_fetch_add(&scrubber->byte_count, byte_count);
    atomic_store(&scrubber->per_mille,
                 (uint64_t)((double)done * THOUSAND / (double)all));
    pause_ms = pause_ms < PAUSE_MS_MAX ? pause_ms : PAUSE_MS_MAX;
    return !stopper_wait(&scrubber->stopper, (int)pause_ms) &&
           scrubber->found_count < FOUND_MAX;
}

static void found(struct scrubber *scrubber, const char *text)
{
    scrubber->found_count++;
    atomic_fetch_add(&scrubber->damaged_count, 1);
    say(SAY_ERROR, "scrub.damaged", say_text("error", text),
        say_text("advice", "see docs/guide/backup.md"));
}

static void found_page(struct scrubber *scrubber, const char *path,
                       uint64_t page)
{
    struct err err;

    int rc = sq_sums_confirm(path, page, &err);
    if (rc == 1) {
        rc = err_set(&err, -ERR_CORRUPT, "page %llu of %s is damaged",
                     (unsigned long long)page, path);
    }
    if (rc == -ERR_CORRUPT) {
        found(scrubber, err.text);
    }
}

/* Look at all pages of a database; whether to go on. */
static bool read_pages(struct scrubber *scrubber, const char *path)
{
    struct sq_sums_scan scan = {0};
    uint64_t page = 0;
    struct err err;

    while (!scan.is_at_end) {
        if (sq_sums_scan(path, page, PIECE_PAGES, &scan, &err) < 0) {
            found(scrubber, err.text);
            return true;
        }
        page += scan.page_count;
        if (scan.bad_page > 0) {
            found_page(scrubber, path, scan.bad_page);
        }
        if (!rest(scrubber, scan.byte_count)) {
            return false;
        }
    }
    return true;
}

/* What was read of a piece. */
struct piece {
    uint64_t next_seq;
    uint64_t byte_count;
};

static int add_record(void *ctx, const struct elog_record *record)
{
    struct piece *piece = ctx;

    piece->next_seq = record->seq + 1;
    piece->byte_count += record->payload.byte_count;
    return 0;
}

/* Look at all records of the log; whether to go on. */
static bool read_records(struct scrubber *scrubber)
{
    struct elog_range range = {.from_seq = 1, .byte_count_max = PIECE_BYTES};
    struct elog_bounds bounds;
    struct err err;
    int rc = 1;

    while (rc != 0) {
        struct piece piece = {.next_seq = range.from_seq};

        rc = elog_bounds(scrubber->reader, &bounds, &err);
        if (rc == 0) {
            rc = elog_read(scrubber->reader, &range, add_record, &piece, &err);
        }
        range.from_seq = piece.next_seq;
        if (rc == -ERR_NOT_FOUND && bounds.first_seq > range.from_seq) {
            range.from_seq = bounds.first_seq; /* the rest was trimmed */
        } else if (rc < 0) {
            found(scrubber, err.text);
            range.from_seq++;
        }
        if (!rest(scrubber, piece.byte_count)) {
            return false;
        }
    }
    return true;
}

static void scrub(struct scrubber *scrubber)
{
    const struct scrubber_options *options = &scrubber->options;

    scrubber->pass_bytes =
        2 * size_of(options->log_path) + size_of(options->store_path);
    scrubber->pass_done = 0;
    scrubber->found_count = 0;
    if (!read_pages(scrubber, options->log_path) ||
        !read_pages(scrubber, options->store_path) || !read_records(scrubber)) {
        return; /* told to stop, or more than enough was found */
    }
    atomic_fetch_add(&scrubber->pass_count, 1);
    say(scrubber->found_count > 0 ? SAY_ERROR : SAY_INFO, "scrub.done",
        say_int("bytes", (int64_t)scrubber->pass_done),
        say_int("damaged", scrubber->found_count));
}

static void *run(void *ctx)
{
    struct scrubber *scrubber = ctx;
    const struct clock *clock = scrubber->options.clock;
    int64_t rest_ms = 0;

    while (!stopper_wait(&scrubber->stopper, (int)rest_ms)) {
        uint64_t begin_ns = clock->mono_ns(clock);
        scrub(scrubber);
        int64_t ms = (int64_t)((clock->mono_ns(clock) - begin_ns) / 1000000);
        rest_ms = scrubber->options.period_ms - ms;
        rest_ms = rest_ms > 0 ? rest_ms : 0;
    }
    return NULL;
}

static void release(struct scrubber *scrubber)
{
    elog_reader_close(scrubber->reader);
    stopper_close(&scrubber->stopper);
    mem_free(scrubber);
}

struct scrubber *scrubber_start(const struct scrubber_options *options,
                                struct err *err)
{
    struct scrubber *scrubber = mem_alloc(sizeof(*scrubber));

    scrubber->options = *options;
    scrubber->stopper.fd = -1;
    if (scrubber->options.period_ms == 0) {
        scrubber->options.period_ms = SCRUB_PERIOD_MS;
    }
    int rc = elog_reader_open(options->log, &scrubber->reader, err);
    if (rc == 0) {
        rc = stopper_open(&scrubber->stopper, err);
    }
    if (rc == 0 &&
        pthread_create(&scrubber->thread, NULL, run, scrubber) != 0) {
        rc = err_set(err, -ERR_IO, "cannot start a thread");
    }
    if (rc < 0) {
        release(scrubber);
        return NULL;
    }
    return scrubber;
}

void scrubber_stop(struct scrubber *scrubber)
{
    if (!scrubber) {
        return;
    }
    stopper_stop(&scrubber->stopper);
    (void)pthread_join(scrubber->thread, NULL);
    release(scrubber);
}

void scrubber_metrics(const struct scrubber *scrubber,
                      struct scrubber_metrics *ret_metrics)
{
    *ret_metrics = (struct scrubber_metrics){
        .pass_count = atomic_load(&scrubber->pass_count),
        .byte_count = atomic_load(&scrubber->byte_count),
        .damaged_count = atomic_load(&scrubber->damaged_count),
        .progress = (double)atomic_load(&scrubber->per_mille) / THOUSAND,
    };
}
