/* Changes a job's class. */
#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"

static uint32_t class_of(const struct sched *sched, const struct job *job)
{
    return sched->lists.items[job->list].class_index;
}

static int32_t priority_of(const struct sched *sched, uint32_t class_index)
{
    uint8_t priority_class = sched->classes.items[class_index].priority_class;

    return sched->policy->classes[priority_class].priority;
}

/* Put a job into the list of its new class. */
static void move_list(struct sched *sched, struct job *job,
                      uint32_t class_index)
{
    struct list list = sched->lists.items[job->list];

    list.level = sched->classes.items[class_index].level;
    uint32_t to = list_get(sched, list.queue, class_index, list_level(&list),
                           list.pool, list.app);
    list_put(sched, job->list);
    job->list = to & LIST_NONE;
}

/* The gang is as urgent as the member reported last. */
static void move_gang(struct sched *sched, struct gang *gang,
                      uint32_t class_index)
{
    struct list list = sched->lists.items[gang->list];

    list.level = sched->classes.items[class_index].level;
    uint32_t to = list_get(sched, list.queue, NONE, list_level(&list),
                           list.pool, list.app);
    list_put(sched, gang->list);
    gang->list = to;
}

/* A run that goes by its class is as urgent as that is now. */
static void set_priority(const struct sched *sched, struct run *run,
                         uint32_t old_class, uint32_t class_index)
{
    if (run->priority == priority_of(sched, old_class)) {
        run->priority = priority_of(sched, class_index);
    }
}

void sched_job_reclass(struct sched *sched, uint32_t index,
                       uint32_t class_index)
{
    ASSERT(index < sched->jobs.count && class_index < sched->classes.count);
    struct job *job = &sched->jobs.items[index];

    ASSERT(job->list != LIST_NONE);
    uint32_t old_class = class_of(sched, job);
    if (old_class == class_index) {
        return;
    }
    sched->version++;
    cooldown_news(sched);
    if (job->run == NONE) {
        admitted_leave(sched, index); /* what was promised was for another */
    }
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
        move_gang(sched, &sched->gangs.items[job->gang], class_index);
    }
    if (job->run != NONE) {
        run_unlink(sched, job->run);
    } else {
        job_unwait(sched, index);
    }
    move_list(sched, job, class_index);
    if (job->run != NONE) {
        set_priority(sched, &sched->runs.items[job->run], old_class,
                     class_index);
        run_link(sched, job->run);
    } else {
        job_wait(sched, index);
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}
