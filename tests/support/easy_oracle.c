#include "easy_oracle.h"

#include "base/base.h"

/* All of it: who runs, who waits, in order of arrival. */
struct oracle {
    const struct swf_options *options;
    struct swf_job *jobs;
    uint32_t running[EASY_ORACLE_JOBS_MAX], waiting[EASY_ORACLE_JOBS_MAX];
    uint32_t running_count, waiting_count;
    uint32_t arrived_count, count;
};

static int64_t bound(const struct oracle *o, uint32_t job)
{
    return o->jobs[job].start_s + o->jobs[job].estimate_s;
}

static int64_t end(const struct oracle *o, uint32_t job)
{
    return o->jobs[job].start_s + o->jobs[job].run_s;
}

/* Processors free at `at_s` if all that runs lasted to its bound. */
static int64_t free_at(const struct oracle *o, int64_t at_s)
{
    int64_t count = o->options->processors;

    for (uint32_t i = 0; i < o->running_count; i++) {
        count -= bound(o, o->running[i]) > at_s
                     ? (int64_t)o->jobs[o->running[i]].processors
                     : 0;
    }
    return count;
}

static void start(struct oracle *o, uint32_t place, int64_t now_s)
{
    uint32_t job = o->waiting[place];

    o->jobs[job].start_s = now_s;
    o->running[o->running_count++] = job;
    o->waiting_count--;
    for (uint32_t i = place; i < o->waiting_count; i++) {
        o->waiting[i] = o->waiting[i + 1];
    }
}

/* When the first in the queue can start at the latest. */
static int64_t shadow_of(const struct oracle *o, int64_t now_s)
{
    int64_t need = o->jobs[o->waiting[0]].processors;
    int64_t best = INT64_MAX;

    for (uint32_t i = 0; i < o->running_count; i++) {
        int64_t at_s = bound(o, o->running[i]);
        if (at_s > now_s && at_s < best && free_at(o, at_s) >= need) {
            best = at_s;
        }
    }
    return best;
}

/* The place of the next candidate that may pass the first, or 0. */
static uint32_t find_candidate(const struct oracle *o, int64_t now_s)
{
    int64_t shadow_s = shadow_of(o, now_s);
    int64_t extra = free_at(o, shadow_s) - o->jobs[o->waiting[0]].processors;
    uint32_t best = 0;

    for (uint32_t i = 1; i < o->waiting_count; i++) {
        const struct swf_job *job = &o->jobs[o->waiting[i]];
        bool may =
            job->processors <= free_at(o, now_s) &&
            (now_s + job->estimate_s <= shadow_s || job->processors <= extra);
        bool is_better =
            best == 0 ||
            (o->options->policy == SWF_SJBF &&
             job->estimate_s < o->jobs[o->waiting[best]].estimate_s);
        best = may && is_better ? i : best;
    }
    return best;
}

static void pass(struct oracle *o, int64_t now_s)
{
    uint32_t candidate;

    while (o->waiting_count > 0 &&
           o->jobs[o->waiting[0]].processors <= free_at(o, now_s)) {
        start(o, 0, now_s);
    }
    if (o->waiting_count > 0 && o->options->policy != SWF_FCFS) {
        /* From the beginning each time: whoever was refused is again. */
        while ((candidate = find_candidate(o, now_s)) > 0) {
            start(o, candidate, now_s);
        }
    }
}

/* Take out what ends at `now_s`: all, or the one that started first. */
static bool end_some(struct oracle *o, int64_t now_s, bool is_all)
{
    bool has_ended = false;

    for (uint32_t i = 0; i < o->running_count;) {
        if (end(o, o->running[i]) == now_s && (is_all || !has_ended)) {
            has_ended = true;
            o->running_count--;
            for (uint32_t k = i; k < o->running_count; k++) {
                o->running[k] = o->running[k + 1];
            }
        } else {
            i++;
        }
    }
    return has_ended;
}

static int64_t next_event(const struct oracle *o)
{
    int64_t next_s = o->arrived_count < o->count
                         ? o->jobs[o->arrived_count].submit_s
                         : INT64_MAX;

    for (uint32_t i = 0; i < o->running_count; i++) {
        next_s =
            end(o, o->running[i]) < next_s ? end(o, o->running[i]) : next_s;
    }
    return next_s;
}

static void play_second(struct oracle *o, int64_t now_s)
{
    bool is_sc15 = o->options->convention == SWF_SC15;

    while (end_some(o, now_s, !is_sc15)) {
        if (is_sc15) {
            pass(o, now_s);
        }
    }
    while (o->arrived_count < o->count &&
           o->jobs[o->arrived_count].submit_s == now_s) {
        uint32_t job = o->arrived_count++;
        o->waiting[o->waiting_count++] = job;
        if (is_sc15 && o->jobs[job].processors <= free_at(o, now_s)) {
            pass(o, now_s);
        }
    }
    if (!is_sc15) {
        pass(o, now_s);
    }
}

void easy_oracle_play(struct swf_log *log, const struct swf_options *options)
{
    struct oracle o = {.options = options,
                       .jobs = log->jobs.items,
                       .count = (uint32_t)log->jobs.count};
    int64_t now_s;

    ASSERT(o.count <= EASY_ORACLE_JOBS_MAX);
    while ((now_s = next_event(&o)) < INT64_MAX) {
        play_second(&o, now_s);
    }
}
