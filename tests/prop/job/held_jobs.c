#include "held_jobs.h"

#include "job/due/job_action.h"
#include "job/table/jobs_encode.h"

void held_jobs_settle(struct jobs *jobs, struct arena *arena,
                      held_jobs_apply apply, void *world)
{
    struct job_rules rules = {.now_ms = 5};

    while (jobs_has_dirty(jobs)) {
        uint32_t count;
        auto_mem uint32_t *dirty = jobs_take_dirty(jobs, 0, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct job_decisions decisions;
            job_due(jobs, dirty[i], &rules, arena, &decisions);
            for (uint32_t k = 0; k < decisions.event_count; k++) {
                apply(world, &decisions.events[k]);
            }
        }
    }
}

struct event held_jobs_lease(struct job_id job)
{
    struct event event = {.type = EVENT_LEASED,
                          .job = job,
                          .created_ms = 2,
                          .run = run_id_make(job, 0)};

    event.leased.executor_id = STR("e");
    event.leased.node_name = STR("n");
    event.leased.pool = STR("default");
    return event;
}

bool held_jobs_restore(struct jobs **jobs, const struct policy *policy)
{
    struct jobs *copy = jobs_create();
    auto_strbuf bytes = {0}, again = {0};
    struct err err;

    jobs_encode(*jobs, &bytes);
    if (jobs_decode(copy, strbuf_str(&bytes), &err) < 0) {
        jobs_destroy(copy);
        return false;
    }
    jobs_destroy(*jobs);
    *jobs = copy;
    jobs_set_policy(copy, policy);
    jobs_encode(copy, &again);
    jobs_mark_all_dirty(copy);
    return str_equal(strbuf_str(&bytes), strbuf_str(&again));
}
