/*
 * cancel, preempt, reprioritize, hold and release for jobs by ids, or for those
 * that options select.
 */
#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/selection.h"

enum { SELECTED_PER_REQUEST = 500, PREVIEW_LINES_MAX = 10 };

/* Ids of one job set, for one request. */
struct some {
    char *queue, *job_set;
    char *ids[SELECTED_PER_REQUEST];
    size_t count;
    bool is_release;
};

/* What is done to jobs, and to which. */
struct act {
    const char *verb; /* "cancel" */
    const char *done; /* "Requested cancellation" */
    enum check_verb check;
    enum cli_exit (*send)(struct cli *cli, struct some *some);
    const Api__JobState *states; /* that it makes sense in */
    size_t state_count;
};

static enum cli_exit send_cancel(struct cli *cli, struct some *some)
{
    Api__JobCancelRequest request = API__JOB_CANCEL_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.queue = some->queue;
    request.job_set_id = some->job_set;
    request.job_ids = some->ids;
    request.n_job_ids = some->count;
    return cli_call(cli, "/api.Submit/CancelJobs", &request.base,
                    &api__cancellation_result__descriptor, &reply);
}

static enum cli_exit send_preempt(struct cli *cli, struct some *some)
{
    Api__JobPreemptRequest request = API__JOB_PREEMPT_REQUEST__INIT;

    request.queue = some->queue;
    request.job_set_id = some->job_set;
    request.job_ids = some->ids;
    request.n_job_ids = some->count;
    request.reason = cli_format(cli, "%s", cli_text(cli, "reason", ""));
    return cli_call_empty(cli, "/api.Submit/PreemptJobs", &request.base);
}

/* The priority is the last argument. */
static enum cli_exit send_priority(struct cli *cli, struct some *some)
{
    Api__JobReprioritizeRequest request = API__JOB_REPRIORITIZE_REQUEST__INIT;
    ProtobufCMessage *reply;

    enum cli_exit rc = job_priority(
        cli, cli_argument(cli, cli->argument_count - 1), &request.new_priority);
    if (rc != CLI_OK) {
        return rc;
    }
    request.queue = some->queue;
    request.job_set_id = some->job_set;
    request.job_ids = some->ids;
    request.n_job_ids = some->count;
    return cli_call(cli, "/api.Submit/ReprioritizeJobs", &request.base,
                    &api__job_reprioritize_response__descriptor, &reply);
}

static enum cli_exit send_hold(struct cli *cli, struct some *some)
{
    Berth__Api__HoldJobsRequest request = BERTH__API__HOLD_JOBS_REQUEST__INIT;

    request.queue = some->queue;
    request.job_set = some->job_set;
    request.job_ids = some->ids;
    request.n_job_ids = some->count;
    request.release = some->is_release;
    return cli_call_empty(cli, "/berth.api.Berth/HoldJobs", &request.base);
}

static const Api__JobState not_ended[] = {
    API__JOB_STATE__QUEUED, API__JOB_STATE__LEASED, API__JOB_STATE__PENDING,
    API__JOB_STATE__RUNNING};

static const struct act acts[] = {
    [CHECK_CANCEL] = {"cancel", "Requested cancellation", CHECK_CANCEL,
                      send_cancel, not_ended, ARRAY_COUNT(not_ended)},
    [CHECK_PREEMPT] = {"preempt", "Requested preemption", CHECK_PREEMPT,
                       send_preempt, not_ended + 1, ARRAY_COUNT(not_ended) - 1},
    [CHECK_REPRIORITIZE] = {"reprioritize", "Reprioritized", CHECK_REPRIORITIZE,
                            send_priority, not_ended, ARRAY_COUNT(not_ended)},
    /* Only the first of these states: what waits. */
    [CHECK_HOLD] = {"hold", "Held", CHECK_HOLD, send_hold, not_ended, 1},
    [CHECK_RELEASE] = {"release", "Released", CHECK_RELEASE, send_hold,
                       not_ended, 1},
};

static int compare_jobs(const void *a, const void *b)
{
    const Berth__Api__JobSummary *one = *(Berth__Api__JobSummary *const *)a;
    const Berth__Api__JobSummary *two = *(Berth__Api__JobSummary *const *)b;
    int order = strcmp(one->queue, two->queue);

    order = order ? order : strcmp(one->job_set, two->job_set);
    return order ? order : strcmp(one->job_id, two->job_id);
}

static bool is_same_set(const Berth__Api__JobSummary *a,
                        const Berth__Api__JobSummary *b)
{
    return strcmp(a->queue, b->queue) == 0 &&
           strcmp(a->job_set, b->job_set) == 0;
}

/* The number of jobs from `at` on that are of one job set. */
static size_t count_set(const struct selection *jobs, size_t at)
{
    size_t count = 1;

    while (at + count < jobs->count &&
           is_same_set(jobs->jobs[at], jobs->jobs[at + count])) {
        count++;
    }
    return count;
}

/* Say which jobs are meant, by job set. */
static void preview(struct cli *cli, const struct selection *jobs)
{
    FILE *err = cli->ports->err;
    uint32_t line_count = 0;

    fprintf(err, "%zu job%s match%s:\n", jobs->count, plural_s(jobs->count),
            plural_of(jobs->count, "es", ""));
    for (size_t i = 0; i < jobs->count; i += count_set(jobs, i)) {
        if (line_count++ == PREVIEW_LINES_MAX) {
            fputs("  and those of other job sets\n", err);
            break;
        }
        cli_put(err, "  %zu of queue %s, job set %s\n", count_set(jobs, i),
                jobs->jobs[i]->queue, jobs->jobs[i]->job_set);
    }
}

/* Whether jobs that options select are meant indeed. */
static enum cli_exit confirm(struct cli *cli, const struct act *act,
                             const struct selection *jobs)
{
    char answer[8] = "";

    if (cli_has(cli, "yes")) {
        return CLI_OK;
    }
    preview(cli, jobs);
    if (!cli->ports->is_input_terminal) {
        return cli_fail(cli, CLI_USAGE,
                        "nothing was done; add --yes to %s them", act->verb);
    }
    fprintf(cli->ports->err, "%s them? [y/N] ", act->verb);
    (void)fflush(cli->ports->err);
    if (!fgets(answer, sizeof(answer), cli->ports->in) ||
        (*answer != 'y' && *answer != 'Y')) {
        return cli_fail(cli, CLI_USAGE, "nothing was done");
    }
    return CLI_OK;
}

/* One request after the other, each for jobs of one job set. */
static enum cli_exit send_all(struct cli *cli, const struct act *act,
                              const struct selection *jobs)
{
    struct some *some = arena_alloc(&cli->arena, sizeof(*some));
    enum cli_exit rc = CLI_OK;

    for (size_t i = 0; i < jobs->count && rc == CLI_OK; i++) {
        const Berth__Api__JobSummary *job = jobs->jobs[i];
        some->is_release = act->check == CHECK_RELEASE;
        some->queue = job->queue;
        some->job_set = job->job_set;
        some->ids[some->count++] = job->job_id;
        if (some->count == SELECTED_PER_REQUEST || i + 1 == jobs->count ||
            !is_same_set(job, jobs->jobs[i + 1])) {
            rc = act->send(cli, some);
            some->count = 0;
        }
    }
    return rc;
}

/* Whether jobs are held now is theirs to say. */
static enum cli_exit look_again(struct cli *cli, struct selection *jobs)
{
    char **ids = arena_alloc_array(&cli->arena, jobs->count, sizeof(*ids));

    for (size_t i = 0; i < jobs->count; i++) {
        ids[i] = jobs->jobs[i]->job_id;
    }
    return selection_by_ids(cli, ids, jobs->count, jobs);
}

/* Say what was asked for, and of which jobs it can come to nothing. */
static enum cli_exit report(struct cli *cli, const struct act *act,
                            const struct selection *jobs)
{
    enum cli_exit worst = CLI_OK;

    for (size_t i = 0; i < jobs->count; i++) {
        enum cli_exit rc = check_job_state(cli, jobs->jobs[i], act->check);
        worst = rc != CLI_OK ? rc : worst;
        if (rc == CLI_OK && !selection_has_ended(jobs->jobs[i]->state)) {
            cli_note(cli, "%s%s job %s", act->done,
                     act->check < CHECK_HOLD ? " for" : "",
                     jobs->jobs[i]->job_id);
        }
    }
    return worst;
}

bool selected_is_meant(const struct cli *cli, int armada_count)
{
    return cli->argument_count != armada_count ||
           selection_is_id(cli_argument(cli, 0));
}

enum cli_exit selected_act(struct cli *cli, enum check_verb verb)
{
    const struct act *act = &acts[verb];
    int id_count = cli->argument_count - (verb == CHECK_REPRIORITIZE);
    struct selection jobs;
    double priority;

    if (id_count < 0) {
        return cli_fail(cli, CLI_USAGE, "the last argument is the priority");
    }
    enum cli_exit rc =
        verb == CHECK_REPRIORITIZE
            ? job_priority(cli, cli_argument(cli, id_count), &priority)
            : CLI_OK;
    if (rc == CLI_OK) {
        rc = selection_find(cli, cli->arguments, (size_t)id_count, act->states,
                            act->state_count, &jobs);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    qsort(jobs.jobs, jobs.count, sizeof(*jobs.jobs), compare_jobs);
    rc = id_count > 0 ? CLI_OK : confirm(cli, act, &jobs);
    if (rc == CLI_OK) {
        rc = send_all(cli, act, &jobs);
    }
    if (rc == CLI_OK && verb >= CHECK_HOLD) {
        rc = look_again(cli, &jobs);
    }
    return rc == CLI_OK ? report(cli, act, &jobs) : rc;
}

enum cli_exit cmd_hold_job(struct cli *cli)
{
    return selected_act(cli, CHECK_HOLD);
}

enum cli_exit cmd_release_job(struct cli *cli)
{
    return selected_act(cli, CHECK_RELEASE);
}
