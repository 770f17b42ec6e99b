/* Creates and frees the table of jobs. */
#include "job/table/jobs_private.h"

struct jobs *jobs_create(void)
{
    return mem_alloc(sizeof(struct jobs));
}

static void free_names(struct jobs *jobs)
{
    intern_fini(&jobs->queues);
    intern_fini(&jobs->sets);
    intern_fini(&jobs->classes);
    intern_fini(&jobs->gangs);
    intern_fini(&jobs->gang_ids);
    intern_fini(&jobs->strings);
    intern_fini(&jobs->executors);
}

void jobs_destroy(struct jobs *jobs)
{
    if (!jobs) {
        return;
    }
    jobs_snapshot_end(jobs);
    VEC_FREE(&jobs->timers);
    waits_fini(jobs);
    turns_fini(jobs);
    for (size_t i = 0; i < jobs->extras.count; i++) {
        mem_free(jobs->extras.items[i].tried);
        mem_free(jobs->extras.items[i].waits);
    }
    for (size_t i = 0; i < jobs->gang_rows.count; i++) {
        VEC_FREE(&jobs->gang_rows.items[i].members);
        named_group_leave(jobs, &jobs->gang_rows.items[i]);
    }
    named_groups_fini(jobs);
    free_names(jobs);
    SLOTS_FREE(&jobs->rows);
    SLOTS_FREE(&jobs->runs);
    SLOTS_FREE(&jobs->extras);
    VEC_FREE(&jobs->set_lists);
    VEC_FREE(&jobs->executor_lists);
    VEC_FREE(&jobs->gang_rows);
    VEC_FREE(&jobs->gang_heads);
    SLOTS_FREE(&jobs->tallies);
    map_fini(&jobs->tally_of);
    VEC_FREE(&jobs->unproven);
    VEC_FREE(&jobs->dirty);
    VEC_FREE(&jobs->dirty_groups);
    VEC_FREE(&jobs->below_groups);
    mem_free(jobs->by_id.slots);
    mem_free(jobs->by_run.slots);
    mem_free(jobs);
}
