/* Counts a waiting job in its list or gang, and in its account and queue. */
#include "sched/input/jobs.h"
#include "sched/state/sub_groups.h"

void jobs_count_of_queue(struct sched *sched, uint32_t queue, uint32_t *count,
                         int sign)
{
    *count += (uint32_t)sign;
    if (*count <= 1) {
        queue_refresh(sched, queue);
    }
}

/* Count a waiting job in (+1) or out (-1). */
static void count_waiting(struct sched *sched, const struct job *job, int sign)
{
    const struct list *list = &sched->lists.items[job->list];
    struct account *account = &sched->accounts.items[list->account];
    uint32_t index = (uint32_t)(job - sched->jobs.items);

    if (!sub_groups_is_member(
            sched, index)) { /* else what is asked for is demand, not all */
        amounts_count(&account->queued, &jobs_class(sched, job)->request, sign);
    }
    account->queued_count += (uint32_t)sign;
    sched->borrowed_waiting_count += list->is_borrowed ? (uint32_t)sign : 0;
    jobs_count_of_queue(sched, list->queue,
                        &sched->queues.items[list->queue].waiting_count, sign);
}

void job_wait(struct sched *sched, uint32_t index)
{
    struct job *job = &sched->jobs.items[index];

    count_waiting(sched, job, 1);
    if (sub_groups_wait(sched, index)) {
        return;
    }
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        amounts_add(&gang->waiting_sum, &jobs_class(sched, job)->request);
        gang->least_count = 0;
        seq_insert(&gang->waiting, index, job_less, sched);
    } else {
        seq_insert(&sched->lists.items[job->list].seq, index, job_less, sched);
        list_refresh(sched, job->list);
    }
}

void job_unwait(struct sched *sched, uint32_t index)
{
    struct job *job = &sched->jobs.items[index];

    count_waiting(sched, job, -1);
    if (sub_groups_unwait(sched, index)) {
        return;
    }
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        amounts_subtract(&gang->waiting_sum, &jobs_class(sched, job)->request);
        gang->least_count = 0;
        seq_remove(&gang->waiting, index, job_less, sched);
    } else {
        seq_remove(&sched->lists.items[job->list].seq, index, job_less, sched);
        list_refresh(sched, job->list);
    }
}
