#include "cli/shared/placed_jobs.h"

#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/shared/selection.h"

static bool matches(const struct cli_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) {
            return true;
        }
    }
    return names->count == 0;
}

static bool is_meant(const struct placed_jobs *jobs,
                     const Berth__Api__JobSummary *job)
{
    return (!jobs->executor || strcmp(jobs->executor, job->executor) == 0) &&
           (!jobs->node || strcmp(jobs->node, job->node) == 0) &&
           matches(&jobs->queues, job->queue) &&
           matches(&jobs->classes, job->priority_class) &&
           matches(&jobs->pools, job->pool);
}

static void count_page(struct placed_jobs *jobs,
                       const Berth__Api__ListJobsResponse *response)
{
    for (size_t i = 0; i < response->n_jobs; i++) {
        const Berth__Api__JobSummary *job = response->jobs[i];
        if (is_meant(jobs, job)) {
            jobs->kept_count += job->not_preemptible;
            jobs->taken_count += !job->not_preemptible;
        }
    }
}

bool placed_jobs_count(struct cli *cli, struct placed_jobs *jobs)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    Api__JobState states[] = {API__JOB_STATE__LEASED, API__JOB_STATE__PENDING,
                              API__JOB_STATE__RUNNING};
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    ProtobufCMessage *reply;

    jobs->taken_count = jobs->kept_count = 0;
    request.states = states;
    request.n_states = ARRAY_COUNT(states);
    request.limit = SELECTION_PAGE_MAX;
    if (jobs->queues.count == 1) {
        request.queue = jobs->queues.items[0];
    }
    if (cli_connect(cli) != CLI_OK) {
        return false;
    }
    do {
        if (cli_try(cli, "/berth.api.Berth/ListJobs", &request.base,
                    &berth__api__list_jobs_response__descriptor, &reply,
                    status) != RPC_OK) {
            return false;
        }
        const Berth__Api__ListJobsResponse *response = (const void *)reply;
        count_page(jobs, response);
        request.older_than_job_id = response->next_job_id;
    } while (*request.older_than_job_id);
    return true;
}

void placed_jobs_report(struct cli *cli, const struct placed_jobs *jobs,
                        const char *what, const char *name)
{
    uint32_t kept_count = jobs->kept_count;

    cli_note(cli, "Requested preemption of %u job%s %s %s", jobs->taken_count,
             plural_s(jobs->taken_count), what, name);
    if (kept_count > 0) {
        (void)cli_fail(cli, CLI_FAILED,
                       "%u job%s %s %s %s a priority class that may not be "
                       "preempted; %s running (cancel job ends %s)",
                       kept_count, plural_s(kept_count), what, name,
                       plural_of(kept_count, "has", "have"),
                       plural_of(kept_count, "it keeps", "they keep"),
                       plural_of(kept_count, "it", "them"));
    }
}
