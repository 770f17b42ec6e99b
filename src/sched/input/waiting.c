/* Counts a waiting job in its list or gang, and in its account and queue. */
#include "sched/input/jobs.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"

void jobs_count_of_queue(struct sched *sched, uint32_t queue, uint32_t *count,
                         int sign)
{
    ASSERT(sign > 0 || *count > 0); /* a queue loses only jobs that it has */
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
    ASSERT(sign > 0 || account->queued_count > 0); /* it was counted here */
    account->queued_count += (uint32_t)sign;
    borrowed_count_waiting(sched, index, sign);
    jobs_count_of_queue(sched, list->queue,
                        &sched->queues.items[list->queue].waiting_count, sign);
}

/* Put a job among those of its gang or list that wait, or take it off. */
static void count_in(struct sched *sched, uint32_t index, int sign)
{
    const struct job *job = &sched->jobs.items[index];
    struct gang *gang =
        job->gang == NONE ? NULL : &sched->gangs.items[job->gang];
    struct seq *seq =
        gang ? &gang->waiting : &sched->lists.items[job->list].seq;

    if (sign > 0) {
        seq_insert(seq, index, job_less, sched);
    } else {
        seq_remove(seq, index, job_less, sched);
    }
    if (gang) {
        amounts_count(&gang->waiting_sum, &jobs_class(sched, job)->request,
                      sign);
        ASSERT_SLOW(gang->waiting.count > 0 || /* nobody asks for anything */
                    amounts_are_none(&gang->waiting_sum));
        gang->least_count = 0;
    } else {
        list_refresh(sched, job->list);
    }
}

void job_wait(struct sched *sched, uint32_t index)
{
    count_waiting(sched, &sched->jobs.items[index], 1);
    if (!sub_groups_wait(sched, index)) {
        count_in(sched, index, 1);
    }
}

void job_unwait(struct sched *sched, uint32_t index)
{
    count_waiting(sched, &sched->jobs.items[index], -1);
    if (!sub_groups_unwait(sched, index)) {
        count_in(sched, index, -1);
    }
}
