/* Which jobs are submitted, and why they do not start at once. */
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "job/table/jobs.h"

void what_if_note_submission(struct what_if *what_if,
                             const struct command *submission)
{
    uint32_t count = submission->submit.item_count < WHAT_IF_SUBMITTED_MAX
                         ? submission->submit.item_count
                         : WHAT_IF_SUBMITTED_MAX;

    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(
            &what_if->new_jobs,
            (struct what_if_new_job){submission->submit.items[i].job, NULL});
    }
}

void what_if_forget_submission(struct what_if *what_if)
{
    for (size_t i = 0; i < what_if->new_jobs.count; i++) {
        mem_free(what_if->new_jobs.items[i].why);
    }
    VEC_FREE(&what_if->new_jobs);
}

/* Any time until the copy is gone. */
static void on_explained(struct command *command, void *ctx)
{
    struct what_if *what_if = ctx;

    for (size_t i = 0;
         i < what_if->new_jobs.count && command->result == COMMAND_OK; i++) {
        struct what_if_new_job *new_job = &what_if->new_jobs.items[i];
        if (key128_compare(new_job->job.v, command->explain.job.v) == 0 &&
            !new_job->why) {
            new_job->why = str_dup(command->explain.text);
        }
    }
    command_destroy(command);
}

/* Whether a job waits, so that there is something to be explained. */
static bool is_waiting(const struct what_if *what_if, struct job_id id)
{
    uint32_t job = jobs_find(what_if->control->jobs, id);
    struct job_view view;

    if (job == JOBS_NONE) {
        return false;
    }
    jobs_get(what_if->control->jobs, job, &view);
    return !view.has_run;
}

int what_if_explain_submitted(struct what_if *what_if, struct err *err)
{
    uint64_t due_ns;
    uint32_t count = 0;

    for (size_t i = 0;
         i < what_if->new_jobs.count && count < WHAT_IF_EXPLAINED_MAX; i++) {
        if (!is_waiting(what_if, what_if->new_jobs.items[i].job)) {
            continue;
        }
        struct command *command = command_create(COMMAND_EXPLAIN);
        command->explain.job = what_if->new_jobs.items[i].job;
        command->done = on_explained;
        command->ctx = what_if;
        if (inbox_post(what_if->inbox, command) < 0) {
            command_destroy(command); /* it is only a remark */
            break;
        }
        count++;
    }
    return count ? what_if_rest(what_if, &due_ns, err) : 0;
}
