/* Figures of a history: what was, and what all courses have in common. */
#include <stdlib.h>

#include "sim/history/history_private.h"

#define MS_PER_S 1000.0

const char *const history_figure_names[HISTORY_FIGURES] = {
    "started",       "succeeded",     "never started",
    "preemptions",   "mean wait (s)", "median wait (s)",
    "90 % wait (s)", "CPU use (%)",   "GPU use (%)",
};

double history_figure(const struct history_result *result, uint32_t figure)
{
    const double figures[HISTORY_FIGURES] = {
        result->started_count,   result->succeeded_count,
        result->unstarted_count, result->preemption_count,
        result->mean_wait_s,     result->p50_wait_s,
        result->p90_wait_s,      result->use * 100,
        result->gpu_use * 100,
    };

    return figures[figure];
}

void history_result_fini(struct history_result *result)
{
    mem_free(result->queues);
    result->queues = NULL;
}

static int64_t wait_ms(const struct history_course *job, int64_t span_ms)
{
    int64_t until_ms = job->started_ms >= 0 ? job->started_ms
                       : job->ended_ms >= 0 ? job->ended_ms
                                            : span_ms;

    return until_ms - job->submitted_ms;
}

static int compare_waits(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return left < right ? -1 : left > right;
}

void history_sum_waits(const struct history *history,
                       struct history_course *jobs, size_t count,
                       struct history_result *result)
{
    auto_mem int64_t *waits = mem_alloc_array(count + 1, sizeof(*waits));
    double sum_s = 0;

    result->queues =
        mem_alloc_array(history->queues.count + 1, sizeof(*result->queues));
    for (size_t i = 0; i < count; i++) {
        struct history_queue_result *queue = &result->queues[jobs[i].queue];
        waits[i] = wait_ms(&jobs[i], history->span_ms);
        sum_s += (double)waits[i] / MS_PER_S;
        queue->submitted_count++;
        queue->started_count += jobs[i].started_ms >= 0;
        queue->mean_wait_s += (double)waits[i] / MS_PER_S;
        result->started_count += jobs[i].started_ms >= 0;
        result->unstarted_count += jobs[i].started_ms < 0;
    }
    for (size_t i = 0; i < history->queues.count; i++) {
        if (result->queues[i].submitted_count) {
            result->queues[i].mean_wait_s /= result->queues[i].submitted_count;
        }
    }
    if (count == 0) {
        return;
    }
    qsort(waits, count, sizeof(*waits), compare_waits);
    result->mean_wait_s = sum_s / (double)count;
    result->p50_wait_s = (double)waits[count / 2] / MS_PER_S;
    result->p90_wait_s = (double)waits[count * 9 / 10] / MS_PER_S;
}

/* What was. */

/* Thousandths x ms that there were. */
static double capacity(const struct history *history, struct str resource)
{
    double sum = 0;

    for (size_t i = 0; i < history->shifts.count; i++) {
        const struct history_shift *shift = &history->shifts.items[i];
        double part =
            (double)resource_list_get(
                &history->nodes.items[shift->node].record.total, resource) *
            (double)(history->span_ms - shift->at_ms);
        sum += shift->is_down ? -part : part;
    }
    return sum;
}

/* How long a job held a place: from its first start, as one run. */
static int64_t held_ms(const struct history *history,
                       const struct history_job *job)
{
    int64_t end_ms = job->ended_ms < 0 ? history->span_ms : job->ended_ms;

    return job->started_ms < 0 || end_ms < job->started_ms
               ? 0
               : end_ms - job->started_ms;
}

static double use(const struct history *history, struct str resource)
{
    double held = 0, all = capacity(history, resource);

    for (size_t i = 0; i < history->jobs.count; i++) {
        const struct history_job *job = &history->jobs.items[i];
        held += (double)resource_list_get(
                    &history->kinds.items[job->kind].requirement.requests,
                    resource) *
                (double)held_ms(history, job);
    }
    return all > 0 ? held / all : -1;
}

/* Count a job in the samples from one moment to another. */
static void count_in(const struct history *history, int64_t from_ms,
                     int64_t until_ms, size_t offset,
                     struct history_result *result)
{
    uint32_t end = history_sample_at(history, until_ms);

    for (uint32_t i = history_sample_at(history, from_ms); i < end; i++) {
        uint32_t *counts = &result->samples[i].running_count;
        counts[offset]++;
    }
}

void history_as_it_was(const struct history *history,
                       struct history_result *ret_result)
{
    auto_mem struct history_course *jobs =
        mem_alloc_array(history->jobs.count + 1, sizeof(*jobs));
    size_t count = 0;

    *ret_result = (struct history_result){
        .use = use(history, STR("cpu")),
        .gpu_use = use(history, STR("nvidia.com/gpu")),
    };
    for (size_t i = 0; i < history->jobs.count; i++) {
        const struct history_job *job = &history->jobs.items[i];
        if (job->is_left_out) {
            continue;
        }
        struct history_course *course = &jobs[count++];
        *course = (struct history_course){job->submitted_ms, job->started_ms,
                                          job->ended_ms, job->queue};
        ret_result->preemption_count += job->preempted_count;
        ret_result->succeeded_count +=
            job->ended_ms >= 0 && job->run_ms >= 0 && !job->is_failing;
        count_in(history, job->submitted_ms,
                 job->submitted_ms + wait_ms(course, history->span_ms), 1,
                 ret_result);
        if (job->started_ms >= 0) {
            count_in(history, job->started_ms,
                     job->started_ms + held_ms(history, job), 0, ret_result);
        }
    }
    history_sum_waits(history, jobs, count, ret_result);
}
