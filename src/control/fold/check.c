/* Whether the tables of the live state agree with each other. */
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/fold/windows.h"
#include "control/state/state.h"

/* What live jobs say of queues, classes and executors. */
struct sums {
    uint32_t *by_queue, *by_class; /* jobs; owned */
    uint32_t *by_executor;         /* leases that were not reported; owned */
};

/* A run belongs to its job, and to the executor that it was leased to. */
static bool run_is_noted(const struct control *c, uint32_t job)
{
    struct job_run run;

    jobs_get_run(c->jobs, job, &run);
    if (run.index >= c->notes.count) {
        return false;
    }
    const struct control_executor *executor =
        c->executors.items[c->notes.items[run.index].executor];
    return executor && str_equal(executor->id, run.executor_id) &&
           jobs_find_run(c->jobs, run.id) == job;
}

/* Whether a job's handles are those of its queue and class; add it up. */
static bool add_job(const struct control *c, uint32_t job, struct sums *sums)
{
    struct job_handles handles = c->handles.items[job];
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    sums->by_queue[handles.queue]++;
    sums->by_class[handles.class_index]++;
    if (view.has_run && !run_is_noted(c, job)) {
        return false;
    }
    if (view.state == JOB_LEASED) {
        sums->by_executor[c->notes.items[view.run.index].executor]++;
    }
    return handles.class_index == view.class_index &&
           str_equal(intern_get(&c->queue_names, handles.queue), view.queue);
}

static bool queues_add_up(const struct control *c, const struct sums *sums)
{
    for (size_t i = 0; i < c->queues.count; i++) {
        if (c->queues.items[i].job_count != sums->by_queue[i]) {
            return false;
        }
    }
    for (size_t i = 0; i < c->classes.count; i++) {
        if (c->classes.items[i].job_count != sums->by_class[i]) {
            return false;
        }
    }
    return true;
}

static bool executors_add_up(const struct control *c, const struct sums *sums)
{
    uint64_t node_count = 0, conflict_count = 0;

    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        uint32_t own_count = 0;
        for (size_t n = 0; executor && n < executor->nodes.count; n++) {
            own_count += executor->nodes.items[n].bytes != NULL;
            conflict_count += executor->nodes.items[n].has_conflict;
        }
        if (executor &&
            (executor->node_count != own_count ||
             executor->unacknowledged_count != sums->by_executor[i])) {
            return false;
        }
        node_count += own_count;
    }
    return node_count == (uint64_t)c->metrics.node_count &&
           conflict_count == c->conflict_count;
}

bool fold_is_sound(const struct control *c)
{
    struct sums sums = {
        mem_alloc_array(c->queues.count + 1, sizeof(uint32_t)),
        mem_alloc_array(c->classes.count + 1, sizeof(uint32_t)),
        mem_alloc_array(c->executors.count + 1, sizeof(uint32_t)),
    };
    bool is_sound = true;

    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        is_sound &= !jobs_is_live(c->jobs, job) || add_job(c, job, &sums);
    }
    is_sound = is_sound && queues_add_up(c, &sums) &&
               executors_add_up(c, &sums) && windows_add_up(c);
    mem_free(sums.by_queue);
    mem_free(sums.by_class);
    mem_free(sums.by_executor);
    return is_sound;
}
