/* Hands the records of one state to another. */
#include "sched/fairness/rates.h"
#include "sched/state/sub_groups.h"

uint32_t sched_jobs_end(const struct sched *sched)
{
    return (uint32_t)sched->jobs.count;
}

bool sched_job_is_known(const struct sched *sched, uint32_t job)
{
    return job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE;
}

static void describe_gang(const struct gang *gang, struct sched_job *record)
{
    record->gang_id = str_make(gang->id, gang->id_bytes);
    record->gang_cardinality = gang->cardinality;
    record->gang_minimum = gang->minimum;
    record->gang_uniformity = str_of(gang->uniformity);
    record->gang_terms = sub_groups_packed(gang);
}

void sched_job_record(const struct sched *sched, uint32_t index,
                      struct sched_job *ret_record)
{
    ASSERT(sched_job_is_known(sched, index));
    const struct job *job = &sched->jobs.items[index];
    const struct list *list = &sched->lists.items[job->list];

    *ret_record = (struct sched_job){
        .queue = list->queue,
        .class_index = list->class_index,
        .priority = job->priority,
        .submitted_ms = job->submitted_ms,
        .id = job->id,
        .was_leased = job->was_leased,
        .has_stateaware_off = job->is_opted_out,
    };
    if (list->pool != NONE) {
        ret_record->pool = intern_get(sched->pool_names, list->pool);
    }
    if (list->app != NONE) {
        const struct app *app = &sched->apps.items[list->app];
        ret_record->application = str_make(app->id, app->id_bytes);
    }
    if (job->gang != NONE) {
        describe_gang(&sched->gangs.items[job->gang], ret_record);
    }
    if (sub_groups_is_member(sched, index)) {
        ret_record->sub_group = sub_group_of(sched, index);
    }
}

bool sched_job_run(const struct sched *sched, uint32_t index,
                   struct sched_run *ret_run)
{
    ASSERT(sched_job_is_known(sched, index));
    uint32_t run = sched->jobs.items[index].run;

    if (run == NONE) {
        return false;
    }
    *ret_run = (struct sched_run){
        .node = sched->runs.items[run].node,
        .priority = sched->runs.items[run].priority,
        .leased_ms = sched->runs.items[run].leased_ms,
        .age_from_ms = sched->runs.items[run].started_ms,
        .is_protected = sched->runs.items[run].is_protected,
    };
    return true;
}

const uint32_t *sched_job_avoided(const struct sched *sched, uint32_t job,
                                  uint32_t *ret_count)
{
    uint32_t at = map_find(&sched->avoid_map, key_of_u64(job));

    *ret_count = at == MAP_NONE ? 0 : sched->avoids.items[at].count;
    return at == MAP_NONE ? NULL : sched->avoids.items[at].nodes;
}

uint32_t sched_nodes_end(const struct sched *sched)
{
    return (uint32_t)sched->nodes.count;
}

bool sched_node_is_known(const struct sched *sched, uint32_t node)
{
    return node < sched->nodes.count && sched->nodes.items[node].name;
}

bool sched_node_is_present(const struct sched *sched, uint32_t node)
{
    return sched_node_is_known(sched, node) && sched->nodes.items[node].record;
}

uint32_t sched_node_first(const struct sched *sched, uint32_t node)
{
    uint32_t first = NONE;

    for (uint32_t at = sched->nodes.items[node].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t job = sched->runs.items[at].job;
        if (first == NONE ||
            key128_compare(sched->jobs.items[job].id.v,
                           sched->jobs.items[first].id.v) < 0) {
            first = job;
        }
    }
    return first;
}

bool sched_queue_record(const struct sched *sched, uint32_t index,
                        struct queue_record *ret_record)
{
    if (index >= sched->queues.count || !sched->queues.items[index].name) {
        return false;
    }
    const struct queue *queue = &sched->queues.items[index];
    *ret_record = (struct queue_record){
        .name = str_make(queue->name, queue->name_bytes),
        .priority_factor_micro = queue->factor_micro,
        .is_cordoned = queue->is_cordoned,
        .ordering = queue->ordering,
        .is_class_priority_ignored = queue->is_class_priority_ignored,
        .allows_stateaware_off = queue->allows_stateaware_off,
        .running_apps_max = queue->running_apps_max,
        .over_share_ppm = queue->over_share_ppm,
        .excess_budget_milli = queue->excess_budget_milli,
        .quota = {queue->quota_items, queue->quota_count},
        .limits = queue->limits,
        .limit_count = queue->limit_count,
    };
    return true;
}

uint32_t sched_queues_end(const struct sched *sched)
{
    return (uint32_t)sched->queues.count;
}

uint32_t sched_classes_end(const struct sched *sched)
{
    return (uint32_t)sched->classes.count;
}

struct str sched_class_packed(const struct sched *sched, uint32_t class_index)
{
    const struct class *class = &sched->classes.items[class_index];

    if (!class->is_live || class->is_away) {
        return str_make(NULL, 0);
    }
    return str_make(class->packed, class->packed_bytes);
}

uint32_t sched_executors_end(const struct sched *sched)
{
    return intern_count(sched->executor_names);
}

struct str sched_executor_at(const struct sched *sched, uint32_t executor,
                             bool *ret_accepts)
{
    if (!intern_is_live(sched->executor_names, executor)) {
        return (struct str){0};
    }
    *ret_accepts = sched->executors.items[executor].accepts;
    return sched->executors.items[executor].name;
}

void sched_start_note(struct sched *sched, uint32_t queue, int64_t now_ms)
{
    const struct resource_vec nothing = {0};
    struct start_rules rules = start_rules_of(sched, NONE);
    struct start_question start = {
        .queue = queue,
        .pool = NONE,
        .count = 1,
        .request = &nothing,
        .now_ms = now_ms,
    };

    sched->version++;
    start_take(sched, &rules, &start);
}

void sched_gang_memory(const struct sched *sched, uint32_t job,
                       struct sched_gang_memory *ret_memory)
{
    uint32_t at = sched->jobs.items[job].gang;

    *ret_memory = (struct sched_gang_memory){.scaled_ms = INT64_MIN};
    if (!sub_groups_is_member(sched, job)) {
        return;
    }
    const struct gang *gang = &sched->gangs.items[at];
    ret_memory->scaled_ms = gang->scaled_ms;
    ret_memory->requeued_ms = sub_groups_requeued_ms(gang);
    if (sub_groups_succeeded(gang) || ret_memory->requeued_ms ||
        ret_memory->scaled_ms != INT64_MIN) {
        ret_memory->sub_group_count = sub_groups_count(gang);
    }
    for (uint32_t s = 0; s < ret_memory->sub_group_count; s++) {
        ret_memory->succeeded_counts[s] = sub_group_succeeded(gang, s);
    }
}
