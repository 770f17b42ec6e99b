/* Encodes the state of one moment while the table changes: a job is encoded in
 * its turn, or before it changes, whichever comes first. */
#include "job/table/jobs_encode.h"

/* The state of one moment, written while it changes: a job is written in its
 * turn, or before it changes, whichever comes first. */
struct snapshot {
    struct encoder encoder;
    uint64_t *written;  /* owned, a bit by row: done, or not there then */
    uint64_t *unproven; /* owned: as it was then */
    uint32_t next, end;
};

static void watch(struct intern *names, struct numbers *numbers)
{
    /* A name that is given up frees its index for another one. */
    names->watched = numbers ? numbers->of : NULL;
    names->watched_count = numbers ? intern_count(names) : 0;
}

static void watch_all(struct jobs *jobs, struct encoder *e)
{
    watch(&jobs->sets, e ? &e->sets : NULL);
    watch(&jobs->classes, e ? &e->classes : NULL);
    watch(&jobs->gangs, e ? &e->gangs : NULL);
    watch(&jobs->strings, e ? &e->strings : NULL);
    watch(&jobs->executors, e ? &e->executors : NULL);
}

void jobs_snapshot_begin(struct jobs *jobs, struct strbuf *buf)
{
    struct snapshot *snapshot = mem_alloc(sizeof(*snapshot));

    ASSERT(!jobs->snapshot);
    jobs->snapshot_no++;
    snapshot->encoder = encoder_make(jobs, buf);
    snapshot->end = (uint32_t)jobs->rows.count;
    snapshot->written =
        mem_alloc_array(snapshot->end / 64 + 1, sizeof(*snapshot->written));
    if (jobs->unproven.count) {
        snapshot->unproven =
            mem_dup(jobs->unproven.items,
                    jobs->unproven.count * sizeof(*snapshot->unproven));
    }
    snapshot->encoder.unproven = snapshot->unproven;
    watch_all(jobs, &snapshot->encoder);
    pack_u64(buf, JOBS_FORMAT_VERSION);
    pack_u64(buf, jobs->count);
    jobs->snapshot = snapshot;
}

/* Whether the snapshot is still to have the row; not after this. */
static bool take(struct snapshot *snapshot, uint32_t job)
{
    if (!snapshot || job < snapshot->next || job >= snapshot->end) {
        return false;
    }
    uint64_t bit = (uint64_t)1 << job % 64;
    bool is_taken = snapshot->written[job / 64] & bit;
    snapshot->written[job / 64] |= bit;
    return !is_taken;
}

void row_will_change(struct jobs *jobs, uint32_t job)
{
    if (take(jobs->snapshot, job) && jobs->rows.items[job].state != JOB_NONE) {
        encoder_put(&jobs->snapshot->encoder, job);
    }
}

bool snapshot_lacks_gang(const struct jobs *jobs, uint32_t gang)
{
    return jobs->snapshot && gang < jobs->gangs.watched_count &&
           jobs->snapshot->encoder.gangs.of[gang] == 0;
}

void row_is_new(struct jobs *jobs, uint32_t job)
{
    (void)take(jobs->snapshot, job);
}

bool jobs_snapshot_write(struct jobs *jobs, uint32_t count_max)
{
    struct snapshot *snapshot = jobs->snapshot;

    /* Rows of that moment are reused, and never go. */
    ASSERT(snapshot->end <= jobs->rows.count);
    for (uint32_t i = 0; i < count_max && snapshot->next < snapshot->end; i++) {
        row_will_change(jobs, snapshot->next);
        snapshot->next++;
    }
    return snapshot->next == snapshot->end;
}

void jobs_snapshot_end(struct jobs *jobs)
{
    struct snapshot *snapshot = jobs->snapshot;

    if (snapshot) {
        watch_all(jobs, NULL);
        encoder_fini(&snapshot->encoder);
        mem_free(snapshot->written);
        mem_free(snapshot->unproven);
        mem_free(snapshot);
        jobs->snapshot = NULL;
    }
}
