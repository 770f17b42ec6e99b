/* Changes of leases: they begin, reach their lifetime, move and end. */
#include "sched/apps/apps.h"
#include "sched/evict/evictable.h"
#include "sched/evict/losses.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/penalty.h"
#include "sched/fairness/rates.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/input/jobs.h"
#include "sched/state/distance_cap.h"

/* Starts that rate limits count. */
static void count_start(struct sched *sched, uint32_t index, int64_t now_ms)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    uint32_t p = sched->nodes.items[run->node].pool;

    if (!start_is_limited(sched, p)) {
        return;
    }
    struct start_rules rules = start_rules_of(sched, p);
    struct start_question start = {
        .queue = sched->lists.items[job->list].queue,
        .pool = p,
        .count = 1,
        .request = &jobs_class(sched, job)->request,
        .now_ms = now_ms,
    };

    start_take(sched, &rules, &start);
}

void sched_job_lease(struct sched *sched, uint32_t index, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted)
{
    struct job *job = jobs_at(sched, index);
    uint32_t run;

    ASSERT(job->run == NONE && node < sched->nodes.count &&
           sched->nodes.items[node].name);
    sched->version++;
    admitted_leave(sched, index);
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    job_unwait(sched, index);
    run = SLOTS_TAKE(&sched->runs);
    sched->runs.items[run] = (struct run){
        .job = index,
        .node = node,
        .priority = priority,
        .leased_ms = now_ms,
        .has_loss = losses_has(sched, index),
        .started_ms = INT64_MAX,
        .evicted_run = NONE,
    };
    job->run = run;
    run_link(sched, run);
    jobs_tell_app(sched, job, -1, 1, APP_ALLOCATED);
    jobs_mark_leased(sched, job, true);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    if (is_counted) {
        count_start(sched, run, now_ms);
    }
}

bool sched_job_started(struct sched *sched, uint32_t index)
{
    const struct job *job = jobs_at(sched, index);
    const struct class *class = jobs_class(sched, job);

    if (job->run == NONE ||
        sched->runs.items[job->run].started_ms != INT64_MAX) {
        return false;
    }
    evictable_age_from(sched, job->run, sched->now_ms);
    bool is_bound = class->deadline_ms != INT64_MAX;
    bool has_age =
        (class->lifetime_ms > 0 ||
         losses_of_run_ms(sched, &sched->runs.items[job->run]) > 0) &&
        class->lifetime_ms != LIFETIME_INFINITE;
    if (is_bound || has_age) {
        node_count_change(sched, sched->runs.items[job->run].node);
    }
    bool matters = has_age || (is_bound && admitted_is_any(sched));
    sched->version += matters;
    return matters;
}

void sched_job_age_from(struct sched *sched, uint32_t index, int64_t at_ms)
{
    const struct job *job = jobs_at(sched, index);

    ASSERT(job->run != NONE);
    evictable_age_from(sched, job->run, at_ms);
    node_count_change(sched, sched->runs.items[job->run].node);
    sched->version++;
}

int64_t sched_job_age_of(const struct sched *sched, uint32_t index)
{
    uint32_t run = sched->jobs.items[index].run;

    return run == NONE ? INT64_MAX : sched->runs.items[run].started_ms;
}

void jobs_drop_run(struct sched *sched, struct job *job)
{
    uint32_t run = job->run;

    /* A job and its run name each other. */
    ASSERT(&sched->jobs.items[sched->runs.items[run].job] == job);
    admitted_forget_revocable(sched, run);
    penalty_take(sched, &sched->runs.items[run]);
    run_unlink(sched, run);
    job->run = NONE;
    SLOTS_GIVE(&sched->runs, run);
}

void sched_job_requeue(struct sched *sched, uint32_t index, uint32_t avoid_node)
{
    struct job *job = jobs_at(sched, index);

    ASSERT(job->run != NONE);
    sched->version++;
    charge_refund(sched, index);
    if (avoid_node != NONE) {
        sched_job_avoid(sched, index, avoid_node);
    }
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
        distance_cap_requeued(sched, &sched->gangs.items[job->gang]);
    }
    jobs_drop_run(sched, job);
    losses_requeue(sched, index);
    job_wait(sched, index);
    jobs_tell_app(sched, job, 1, -1, APP_RELEASED);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

bool sched_job_repack(struct sched *sched, uint32_t index, uint32_t node)
{
    struct job *job = jobs_at(sched, index);

    ASSERT(job->run != NONE && node < sched->nodes.count);
    ASSERT(sched->runs.items[job->run].job == index); /* they name each other */
    uint32_t from = sched->runs.items[job->run].node;
    if (sched->nodes.items[node].pool != sched->nodes.items[from].pool) {
        return false;
    }
    if (from == node) {
        return true;
    }
    sched->version++;
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    sched->is_relinking = true;
    run_unlink(sched, job->run);
    sched->runs.items[job->run].node = node;
    run_link(sched, job->run);
    sched->is_relinking = false;
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    return true;
}

void sched_job_protect(struct sched *sched, uint32_t index, bool is_protected)
{
    ASSERT(index < sched->jobs.count &&
           sched->jobs.items[index].list != LIST_NONE);
    uint32_t at = sched->jobs.items[index].run;

    if (at == NONE || sched->runs.items[at].is_protected == is_protected) {
        return;
    }
    sched->runs.items[at].is_protected = is_protected;
    run_count_protected(sched, &sched->runs.items[at], is_protected ? 1 : -1);
    node_count_change(sched, sched->runs.items[at].node);
    sched->version++;
}
