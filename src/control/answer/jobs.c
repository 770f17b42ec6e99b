/* Why jobs wait, and what they were promised. */
#include "control/answer/answers.h"
#include "control/explain/explain.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

void explain_answer(struct control *c, struct command *command)
{
    auto_strbuf text = {0}, json = {0};
    uint32_t job = jobs_find(c->jobs, command->explain.job);
    struct waiting waiting;
    struct job_view view;

    if (job == JOBS_NONE) {
        command_answer(command, COMMAND_NOT_FOUND,
                       "the job is unknown, or has ended");
        return;
    }
    jobs_get(c->jobs, job, &view);
    command->explain.waits_again = !view.has_run && view.run_count > 0;
    command->explain.has_run = view.has_run;
    if (jobs_is_held(c->jobs, job)) {
        held_put_text(&text, c, job);
        held_put_json(&json, c, job);
    } else {
        waiting_ask(c, job, &command->arena, &waiting);
        explain_put_job(&text, c, job, &waiting);
        explain_put_json(&json, c, job, &waiting);
    }
    command->explain.text = arena_str(&command->arena, strbuf_str(&text));
    command->explain.json = arena_str(&command->arena, strbuf_str(&json));
    command_answer(command, COMMAND_OK, "");
}

static struct str held_reason(struct control *c, uint32_t job,
                              struct arena *arena)
{
    auto_strbuf text = {0};
    struct job_held held;

    jobs_held(c->jobs, job, &held);
    held_put_reason(&text, &held);
    return arena_str(arena, strbuf_str(&text));
}

void admissions_answer(struct control *c, struct command *command)
{
    for (uint32_t i = 0; i < command->admissions.row_count; i++) {
        struct admission_status *row = &command->admissions.rows[i];
        struct sched_admission admission;
        uint32_t job = jobs_find(c->jobs, row->job);
        if (job == JOBS_NONE) {
            continue;
        }
        row->is_kept = job_state_has_run(jobs_state(c->jobs, job)) &&
                       !jobs_is_preemptible(c->jobs, job);
        if (jobs_is_held(c->jobs, job)) {
            row->is_held = true;
            row->reason = held_reason(c, job, &command->arena);
            continue;
        }
        if (jobs_state(c->jobs, job) != JOB_QUEUED ||
            !pools_job_admission(c->pools, job, &admission)) {
            continue;
        }
        ASSERT(!row->is_kept); /* what waits has no node to keep */
        row->is_admitted = true;
        row->start_ms =
            admission.start_ms == SCHED_START_UNKNOWN ? 0 : admission.start_ms;
    }
    command_answer(command, COMMAND_OK, "");
}
