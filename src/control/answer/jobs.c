/* Why jobs wait, and what they were promised. */
#include "control/answer/answers.h"
#include "control/explain/explain.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* Nodes and members of gangs that one list of jobs may cost. */
enum { WAIT_LOOKS_MAX = 50000 };

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

/* What is the first that keeps a job from being planned, in a word. */
static const char *held_word(const struct control *c, uint32_t job)
{
    struct job_held held;

    jobs_held(c->jobs, job, &held);
    if (held.holds & JOB_HOLD_BY_USER) {
        return "held";
    }
    return held.holds & JOB_HOLD_UNTIL      ? "beginTime"
           : held.holds & JOB_HOLD_FOR_JOBS ? "dependency"
                                            : "concurrency";
}

/* The same of a job that is planned. */
static const char *wait_word(struct control *c, uint32_t job,
                             uint32_t *looks_left)
{
    enum sched_wait wait =
        pools_job_wait(c->pools, job, control_now_ms(c), looks_left);

    return wait == SCHED_WAIT_NOT ? "" : explain_wait_name(wait);
}

void admissions_answer(struct control *c, struct command *command)
{
    uint32_t looks_left = WAIT_LOOKS_MAX;

    for (uint32_t i = 0; i < command->admissions.row_count; i++) {
        struct admission_status *row = &command->admissions.rows[i];
        struct sched_admission admission;
        uint32_t job = jobs_find(c->jobs, row->job);
        row->wait = "";
        if (job == JOBS_NONE) {
            continue;
        }
        row->is_kept = job_state_has_run(jobs_state(c->jobs, job)) &&
                       !jobs_is_preemptible(c->jobs, job);
        row->priority_class =
            arena_str(&command->arena, jobs_priority_class(c->jobs, job));
        if (jobs_is_held(c->jobs, job)) {
            row->is_held = true;
            row->wait = held_word(c, job);
            row->reason = held_reason(c, job, &command->arena);
            continue;
        }
        if (jobs_state(c->jobs, job) != JOB_QUEUED) {
            continue;
        }
        row->wait = wait_word(c, job, &looks_left);
        if (!pools_job_admission(c->pools, job, &admission)) {
            continue;
        }
        ASSERT(!row->is_kept); /* what waits has no node to keep */
        row->is_admitted = true;
        row->start_ms =
            admission.start_ms == SCHED_START_UNKNOWN ? 0 : admission.start_ms;
    }
    command_answer(command, COMMAND_OK, "");
}
