#include "sched/order/sweep.h"

#include "sched/order/round.h"
#include "sched/order/sweep_undo.h"

/* Jobs that were missed by themselves are looked at again. */
static void forget_jobs(struct sched *sched, enum round_kind kind)
{
    struct sweep *sweep = &sched->sweeps[kind];
    uint8_t bit = sweep_bit(kind);

    sweep_undo_keep_jobs(sched, kind);
    for (size_t i = 0; i < sweep->jobs.count; i++) {
        sched->job_flags.items[sweep->jobs.items[i]] &= (uint8_t)~bit;
    }
    sweep->jobs.count = 0;
}

uint32_t sweep_open(struct sched *sched, enum round_kind kind,
                    bool *ret_is_resumed)
{
    struct sweep *sweep = &sched->sweeps[kind];

    *ret_is_resumed =
        sweep->is_open && sweep->pool_at < sched->policy->pool_count;
    sweep_undo_begin(sched, kind, *ret_is_resumed);
    if (!*ret_is_resumed) {
        forget_jobs(sched, kind);
        sweep->is_open = false;
        sweep->pool_at = 0;
        sweep->version = sched->version;
    }
    return sweep->pool_at;
}

void sweep_begin_pool(struct round *round, bool is_resumed)
{
    struct sched *sched = round->sched;
    struct sweep *sweep = &sched->sweeps[round->kind];

    if (!is_resumed && !round_is_what_if(round)) {
        forget_jobs(sched, round->kind);
        sweep->id = ++sweep->id_last;
    }
    ASSERT(sweep->id <= sweep->id_last);
    round->sweep_id = sweep->id;
    round->is_resumed = is_resumed;
}

void sweep_end_pool(struct round *round, uint32_t pool_at)
{
    struct sweep *sweep = &round->sched->sweeps[round->kind];

    ASSERT(pool_at < round->sched->policy->pool_count);
    if (round_is_what_if(round)) {
        return;
    }
    sweep->is_open |= round->is_spent;
    sweep->pool_at =
        round->is_spent || round->is_truncated ? pool_at : pool_at + 1;
}

bool sweep_close(struct sched *sched, enum round_kind kind)
{
    struct sweep *sweep = &sched->sweeps[kind];

    forget_jobs(sched, kind);
    sweep->is_open = false;
    sweep->pool_at = 0;
    return sweep->version == sched->version;
}

void sched_sweep_reset(struct sched *sched)
{
    sweep_undo_clear(sched);
    (void)sweep_close(sched, ROUND_FAST);
    (void)sweep_close(sched, ROUND_BALANCE);
    for (size_t i = 0; i < sched->gangs.count; i++) {
        sched->gangs.items[i].fitted_no = 0;
    }
}

uint64_t sweep_work(const struct sched_counters *counters)
{
    return counters->nodes_examined + counters->steps * SWEEP_STEP_WORK;
}

static uint64_t work_of(const struct round *round)
{
    return sweep_work(round->counters);
}

static uint64_t work_max_of(const struct round *round)
{
    const struct sched *sched = round->sched;
    uint64_t most = (uint64_t)sched->policy->round_work_max;

    return round->what_if && (most == 0 || round->what_if->work_max < most)
               ? round->what_if->work_max
               : most;
}

void sweep_step(struct round *round)
{
    round->counters->steps++;
    round->is_spent =
        work_max_of(round) > 0 && work_of(round) >= work_max_of(round);
}

/* Whether a gang's try has all the time that it may have: it is the plan's
 * first, or was left once in this sweep. */
static bool is_last_try(const struct round *round, const struct gang *gang)
{
    return round->counters->steps == 0 || round_is_what_if(round) ||
           gang->cut[round->kind] == round->sweep_id;
}

uint64_t sweep_gang_end(const struct round *round, const struct gang *gang)
{
    uint64_t more = work_max_of(round);

    if (more == 0) {
        return UINT64_MAX;
    }
    if (round->what_if && more == round->what_if->work_max) {
        return more;
    }
    if (is_last_try(round, gang) && more < SWEEP_GANG_WORK) {
        more = SWEEP_GANG_WORK;
    }
    return work_of(round) + more;
}

bool sweep_is_past(const struct round *round, uint64_t work)
{
    return work_of(round) >= work;
}

bool sweep_gang_is_cut(struct round *round, struct gang *gang)
{
    if (is_last_try(round, gang)) {
        return false;
    }
    sweep_stamp_gang(round, gang, SWEEP_GANG_CUT);
    round->is_spent = true;
    return true;
}

void sweep_miss_class(const struct round *round, struct class *class)
{
    if (!round_is_what_if(round)) {
        sweep_stamp_class(round, class, SWEEP_CLASS_MISSED);
    }
}

void sweep_bar_class(const struct round *round, struct class *class)
{
    class->is_barred = true;
    if (!round_is_what_if(round)) {
        sweep_stamp_class(round, class, SWEEP_CLASS_BARRED);
    }
}

void sweep_miss_job(struct round *round, uint32_t job)
{
    struct sched *sched = round->sched;
    uint8_t bit = sweep_bit(round->kind);

    if (!round_is_what_if(round) && !(sched->job_flags.items[job] & bit)) {
        sched->job_flags.items[job] |= bit;
        VEC_PUSH(&sched->sweeps[round->kind].jobs, job);
    }
}

void sweep_miss_gang(const struct round *round, struct gang *gang)
{
    if (!round_is_what_if(round)) {
        sweep_stamp_gang(round, gang, SWEEP_GANG_MISSED);
    }
}

bool sweep_missed_class(const struct round *round, const struct class *class)
{
    return round->is_resumed && class->sweep[round->kind] == round->sweep_id;
}

bool sweep_barred_class(const struct round *round, const struct class *class)
{
    return round->is_resumed &&
           class->barred_sweep[round->kind] == round->sweep_id;
}

bool sweep_missed_job(const struct round *round, uint32_t job)
{
    return round->is_resumed &&
           round->sched->job_flags.items[job] & sweep_bit(round->kind);
}

bool sweep_missed_gang(const struct round *round, const struct gang *gang)
{
    return round->is_resumed && gang->sweep[round->kind] == round->sweep_id;
}

bool sweep_is_before(const struct sched *sched, uint32_t job)
{
    uint32_t c = sched->lists.items[sched->jobs.items[job].list].class_index;
    const struct sweep *sweep = &sched->sweeps[ROUND_BALANCE];

    return sweep->is_open &&
           sched->classes.items[c].sweep[ROUND_BALANCE] != sweep->id;
}
