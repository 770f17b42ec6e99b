/* Whether work that requests GPUs waits, so that nodes are kept free for it. */
#include "sched/growth/growth.h"

bool growth_asks_for_gpu(const struct sched *sched,
                         const struct resource_vec *request)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((sched->gpu_columns >> r & 1) && request->v[r] > 0) {
            return true;
        }
    }
    return false;
}

/* Whether what is left of a gang, once the plan is acted on, may start: who
 * loses a place of one without terms does not wait again. */
static bool is_left_to_wait(const struct sched *sched, const struct gang *gang)
{
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(&gang->leased, at)].run;
        if (gang_has_terms(gang) ||
            sched->runs.items[run].state != RUN_PREEMPTED) {
            return true;
        }
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        if (sched->jobs.items[seq_get(&gang->waiting, at)].was_leased) {
            return true;
        }
    }
    return gang_has_terms(gang) || gang->waiting.count >= gang->cardinality;
}

/* Whether a gang asks for a GPU and waits yet, not for another pool; also one
 * of which the plan started some, or took some surplus (model.md 4.6). */
static bool gang_waits_for_gpu(const struct round *round,
                               const struct gang *gang)
{
    const struct sched *sched = round->sched;
    uint32_t pool = gang_pool(sched, gang);

    if (!growth_asks_for_gpu(sched, &gang->waiting_sum) ||
        (pool != NONE && pool != round->p)) {
        return false;
    }
    if (gang->planned != sched->plan_count) {
        return true;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t job = seq_get(&gang->waiting, at);
        if (!(sched->job_flags.items[job] & JOB_PLANNED) &&
            growth_asks_for_gpu(
                sched,
                &sched->classes.items[class_of_job(sched, job)].request)) {
            return is_left_to_wait(sched, gang);
        }
    }
    return false;
}

/* Whether something of a list waits yet, and asks for a GPU. */
static bool waits_for_gpu(const struct round *round, const struct list *list)
{
    const struct sched *sched = round->sched;
    bool is_gangs = list->class_index == NONE;

    if (list->pool != NONE && list->pool != round->p) {
        return false;
    }
    if (!is_gangs &&
        !growth_asks_for_gpu(
            sched, &sched->classes.items[list->class_index].request)) {
        return false;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        uint32_t item = seq_get(&list->seq, at);
        if (is_gangs ? gang_waits_for_gpu(round, &sched->gangs.items[item])
                     : !(sched->job_flags.items[item] & JOB_PLANNED)) {
            return true;
        }
    }
    return false;
}

bool growth_is_off_gpus(const struct round *round)
{
    const struct sched *sched = round->sched;

    if (!growth_asks_for_gpu(sched, &round->pool->total)) {
        return false;
    }
    for (uint32_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->use_count && list->seq.count &&
            !sched->queues.items[list->queue].is_cordoned &&
            waits_for_gpu(round, list)) {
            return true;
        }
    }
    return false;
}
