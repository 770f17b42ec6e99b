/*
 * swf: on any log the production scheduler starts every job at the second at
 * which the plain rules of FCFS, EASY and SJBF start it, under both
 * conventions of what happens at one second.
 */
#include <stdio.h>
#include <stdlib.h>

#include "easy_oracle.h"
#include "prop.h"

enum { JOBS_MAX_ = 60, PROCESSORS_MAX_ = 24 };

static void draw_job(struct tape *tape, const struct swf_options *options,
                     struct swf_log *log, int64_t *submit_s)
{
    struct swf_job job = {.number = (int64_t)log->jobs.count + 1,
                          .start_s = -1};
    uint64_t shortest = options->convention == SWF_SC15 ? 1 : 0;

    *submit_s += (int64_t)draw(tape, 0, 6);
    job.submit_s = *submit_s;
    job.processors = (uint32_t)draw(tape, 1, options->processors);
    job.estimate_s = (int64_t)draw(tape, 1, 20);
    job.run_s = (int64_t)draw(tape, shortest, (uint64_t)job.estimate_s);
    VEC_PUSH(&log->jobs, job);
}

static bool agree(const struct swf_log *log, const struct swf_log *wanted)
{
    for (size_t i = 0; i < log->jobs.count; i++) {
        if (log->jobs.items[i].start_s != wanted->jobs.items[i].start_s) {
            fprintf(stderr, "job %zu: started at %lld, must at %lld\n", i,
                    (long long)log->jobs.items[i].start_s,
                    (long long)wanted->jobs.items[i].start_s);
            return false;
        }
    }
    return true;
}

static bool the_scheduler_starts_jobs_as_the_rules_say(struct tape *tape)
{
    struct swf_options options = {0};
    struct swf_log log = {0}, wanted = {0};
    int64_t submit_s = 0;
    struct err err;

    options.policy = (enum swf_policy)draw(tape, SWF_FCFS, SWF_SJBF);
    options.convention = (enum swf_convention)draw(tape, SWF_INSTANT, SWF_SC15);
    options.processors = (uint32_t)draw(tape, 1, PROCESSORS_MAX_);
    for (uint64_t n = draw(tape, 1, JOBS_MAX_); n > 0; n--) {
        draw_job(tape, &options, &log, &submit_s);
    }
    for (size_t i = 0; i < log.jobs.count; i++) {
        VEC_PUSH(&wanted.jobs, log.jobs.items[i]);
    }
    easy_oracle_play(&wanted, &options);
    bool is_well = swf_play(&log, &options, &err) == 0 && agree(&log, &wanted);
    swf_log_fini(&log);
    swf_log_fini(&wanted);
    return is_well;
}

int main(void)
{
    return prop_check("the_scheduler_starts_jobs_as_the_rules_say",
                      the_scheduler_starts_jobs_as_the_rules_say, 1500, 0)
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
