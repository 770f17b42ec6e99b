/* Creates and frees the live state. */
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"
#include "control/state/state.h"

void state_init(struct control *c, struct policy_box *policy, uint64_t seed)
{
    c->policy = policy;
    c->jobs = jobs_create();
    jobs_set_policy(c->jobs, &policy->policy);
    c->pools = pools_create(&policy->policy);
    c->dedup = dedup_create(seed);
    c->run_times = run_times_create(seed);
    c->rounds.count = 0;
    c->node_generation = c->loss_no = 1;
}

static void empty_tables(struct control *c)
{
    uint32_t count;
    const struct queue_entry **list =
        queue_table_list(c->config.queues, &count);

    for (uint32_t i = 0; i < count; i++) {
        queue_table_remove(c->config.queues, list[i]->name);
    }
    queue_list_free(list, count);
    list = queue_table_list(c->config.retry_policies, &count);
    for (uint32_t i = 0; i < count; i++) {
        queue_table_remove(c->config.retry_policies, list[i]->name);
    }
    queue_list_free(list, count);
}

void state_fini(struct control *c)
{
    rounds_abandon(c);
    executors_fini(c);
    empty_tables(c);
    jobs_destroy(c->jobs);
    pools_destroy(c->pools);
    dedup_destroy(c->dedup);
    run_times_destroy(c->run_times);
    policy_box_destroy(c->policy);
    pool_table_fini(&c->pool_table);
    window_table_fini(&c->window_table);
    periodic_table_fini(&c->periodic_table);
    intern_fini(&c->queue_names);
    VEC_FREE(&c->queues);
    VEC_FREE(&c->classes);
    VEC_FREE(&c->handles);
    VEC_FREE(&c->marks);
    VEC_FREE(&c->notes);
    VEC_FREE(&c->news);
    VEC_FREE(&c->unchecked);
    VEC_FREE(&c->doubtful);
    VEC_FREE(&c->fresh_members);
    VEC_FREE(&c->rounds);
    c->jobs = NULL;
    c->pools = NULL;
    c->dedup = NULL;
    c->run_times = NULL;
    c->policy = NULL;
}
