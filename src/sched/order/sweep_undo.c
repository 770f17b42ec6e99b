#include "sched/order/sweep_undo.h"

#include <string.h>

#include "sched/order/round.h"

void sweep_undo_clear(struct sched *sched)
{
    struct sweep_undo *undo = &sched->sweep_undo;

    undo->is_moved = undo->is_resumed = undo->has_jobs = false;
    undo->jobs.count = undo->notes.count = 0;
}

void sweep_undo_begin(struct sched *sched, enum round_kind kind,
                      bool is_resumed)
{
    const struct sweep *sweep = &sched->sweeps[kind];
    struct sweep_undo *undo = &sched->sweep_undo;

    undo->is_moved = true;
    undo->is_resumed = is_resumed;
    undo->kind = (uint8_t)kind;
    undo->pool_at = sweep->pool_at;
    undo->id = sweep->id;
    undo->version = sweep->version;
    undo->job_count = is_resumed ? (uint32_t)sweep->jobs.count : 0;
}

void sweep_undo_keep_jobs(struct sched *sched, enum round_kind kind)
{
    const struct sweep *sweep = &sched->sweeps[kind];
    struct sweep_undo *undo = &sched->sweep_undo;

    if (!undo->is_resumed || undo->has_jobs || undo->kind != kind) {
        return;
    }
    ASSERT(undo->job_count <= sweep->jobs.count);
    undo->has_jobs = true;
    for (uint32_t i = 0; i < undo->job_count; i++) {
        uint32_t job = sweep->jobs.items[i];
        if (sched->job_flags.items[job] & sweep_bit(kind)) {
            VEC_PUSH(&undo->jobs,
                     (struct swept_job){sched->jobs.items[job].id, job});
        }
    }
}

void sweep_undo_fini(struct sched *sched)
{
    VEC_FREE(&sched->sweep_undo.jobs);
    VEC_FREE(&sched->sweep_undo.notes);
}

/* Stamps. */

/* Where the stamps of a class or a gang are, by kind. */
static uint32_t *stamps_of(struct sched *sched, enum sweep_stamp stamp,
                           uint32_t index)
{
    bool is_gang = stamp >= SWEEP_GANG_MISSED;
    struct class *class = is_gang ? NULL : &sched->classes.items[index];
    struct gang *gang = is_gang ? &sched->gangs.items[index] : NULL;

    switch (stamp) {
    case SWEEP_CLASS_MISSED:
        return class->sweep;
    case SWEEP_CLASS_LENT:
        return class->lent_sweep;
    case SWEEP_CLASS_BARRED:
        return class->barred_sweep;
    case SWEEP_GANG_MISSED:
        return gang->sweep;
    case SWEEP_GANG_CUT:
        return gang->cut;
    }
    return NULL;
}

static void put_stamp(const struct round *round, enum sweep_stamp stamp,
                      uint32_t index)
{
    struct sched *sched = round->sched;
    uint32_t *at = &stamps_of(sched, stamp, index)[round->kind];

    ASSERT(round->sweep_id == sched->sweeps[round->kind].id);
    if (round->is_resumed && *at != round->sweep_id) {
        VEC_PUSH(&sched->sweep_undo.notes,
                 (struct sweep_note){index, (uint8_t)stamp});
    }
    *at = round->sweep_id;
}

void sweep_stamp_class(const struct round *round, const struct class *class,
                       enum sweep_stamp stamp)
{
    put_stamp(round, stamp, (uint32_t)(class - round->sched->classes.items));
}

void sweep_stamp_gang(const struct round *round, const struct gang *gang,
                      enum sweep_stamp stamp)
{
    put_stamp(round, stamp, (uint32_t)(gang - round->sched->gangs.items));
}

/* Putting back. */

static void put_back_jobs(struct sched *sched, const struct sweep_undo *undo)
{
    struct sweep *sweep = &sched->sweeps[undo->kind];
    uint8_t bit = sweep_bit((enum round_kind)undo->kind);
    size_t kept_count = undo->has_jobs ? 0 : undo->job_count;

    ASSERT(kept_count <= sweep->jobs.count);
    for (size_t i = kept_count; i < sweep->jobs.count; i++) {
        sched->job_flags.items[sweep->jobs.items[i]] &= (uint8_t)~bit;
    }
    sweep->jobs.count = kept_count;
    for (size_t i = 0; i < undo->jobs.count; i++) {
        const struct swept_job *swept = &undo->jobs.items[i];
        const struct job *job = &sched->jobs.items[swept->job];
        if (job->list != LIST_NONE &&
            key128_compare(job->id.v, swept->id.v) == 0) {
            sched->job_flags.items[swept->job] |= bit;
            VEC_PUSH(&sweep->jobs, swept->job);
        }
    }
}

/* What has another stamp by now, or none, is new. */
static void put_back_stamps(struct sched *sched, const struct sweep_undo *undo)
{
    for (size_t i = 0; i < undo->notes.count; i++) {
        const struct sweep_note *note = &undo->notes.items[i];
        uint32_t *at = &stamps_of(sched, (enum sweep_stamp)note->stamp,
                                  note->index)[undo->kind];
        *at = *at == undo->id ? 0 : *at;
    }
}

void sched_plan_forget(struct sched *sched)
{
    const struct sweep_undo *undo = &sched->sweep_undo;
    struct sweep *sweep = &sched->sweeps[undo->kind];

    if (!undo->is_moved) {
        return;
    }
    ASSERT(undo->id <= sweep->id_last); /* ids are given out once */
    put_back_jobs(sched, undo);
    put_back_stamps(sched, undo);
    sweep->is_open = undo->is_resumed;
    sweep->pool_at = undo->is_resumed ? undo->pool_at : 0;
    sweep->id = undo->id;
    sweep->version = undo->version;
    memset(sched->settled_version, 0, sizeof(sched->settled_version));
    sweep_undo_clear(sched);
}
