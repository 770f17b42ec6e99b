#include "built.h"

#include <stdio.h>

static const char *const RACKS[] = {"", "r1", "r2"};
static const char *const ROWS[] = {"", "w1", "w2"};
static const char *const CLUSTERS[] = {"e", "f"};
static const char *const POOLS[] = {"default", "second"};

/* So much of the second kind. */
static struct resource_amount second_of(const struct instance *instance,
                                        int amount)
{
    return instance->has_gpus
               ? (struct resource_amount){STR("nvidia.com/gpu"),
                                          amount * (int64_t)1000}
               : (struct resource_amount){STR("memory"),
                                          amount * (int64_t)1000000000000};
}

void built_add_more(const struct built *built, const struct resource_vec *more,
                    struct resource_amount *amount)
{
    const struct resource_schema *schema = &built->policy.schema;
    int column = resource_column(schema, amount->name);

    amount->milli += more->v[column] * schema->columns[column].unit_milli;
}

void built_set_node_with(struct built *built, const struct instance *instance,
                         int index, const struct resource_vec *more)
{
    const struct instance_node *node = &instance->nodes[index];
    char name[8];
    struct resource_amount amounts[] = {
        {STR("cpu"), node->capacity[0] * (int64_t)1000},
        second_of(instance, node->capacity[1]),
    };
    struct label labels[2];
    uint32_t label_count = 0;
    struct taint taint = {STR("t"), STR(""), TAINT_NO_SCHEDULE};
    struct node_record record = {
        .labels = labels,
        .taints = &taint,
        .taint_count = node->is_tainted,
        .total = {amounts, 2},
        .is_unschedulable = node->is_unschedulable,
    };

    if (node->rack) {
        labels[label_count++] =
            (struct label){STR("rack"), str_of(RACKS[node->rack])};
    }
    if (node->row) {
        labels[label_count++] =
            (struct label){STR("row"), str_of(ROWS[node->row])};
    }
    record.label_count = label_count;
    for (int i = 0; i < 2; i++) {
        built_add_more(built, more, &amounts[i]);
    }
    snprintf(name, sizeof(name), "n%d", index);
    record.name = str_of(name);
    built->pools[index] = node->pool;
    built->handles[index] =
        sched_node_set(built->sched, str_of(CLUSTERS[node->cluster]), &record,
                       str_of(POOLS[node->pool]));
}

void built_set_node(struct built *built, const struct instance *instance,
                    int index)
{
    static const struct resource_vec nothing;
    const struct instance_node *node = &instance->nodes[index];

    built_set_node_with(built, instance, index, &nothing);
    sched_health_set(
        built->sched, built->handles[index],
        &(struct sched_health){.health = node->health,
                               .is_pinned = node->health == NODE_OUT});
}

struct queue_record built_queue(const struct instance *instance, int index,
                                struct built_queue *parts)
{
    const struct instance_queue *queue = &instance->queues[index];

    parts->quota[0] =
        (struct resource_amount){STR("cpu"), queue->quota * (int64_t)1000};
    snprintf(parts->name, sizeof(parts->name), "q%d", index);
    return (struct queue_record){
        .name = str_of(parts->name),
        .priority_factor_micro =
            queue->factor_halves * (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2),
        .is_cordoned = queue->is_cordoned,
        .ordering = queue->ordering,
        .is_class_priority_ignored = queue->is_class_ignored,
        .allows_stateaware_off = queue->allows_off,
        .running_apps_max = (uint32_t)queue->running_apps_max,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
        .quota = {parts->quota, queue->quota > 0},
    };
}

void built_set_queue(struct built *built, const struct instance *instance,
                     int index)
{
    struct built_queue parts;
    struct queue_record record = built_queue(instance, index, &parts);

    sched_queue_set(built->sched, (uint32_t)index, &record);
}

static bool is_same_class(const struct instance_job *a,
                          const struct instance_job *b)
{
    return a->priority_class == b->priority_class &&
           a->request[0] == b->request[0] && a->request[1] == b->request[1] &&
           a->request[SEATS] == b->request[SEATS] && a->rack == b->rack &&
           a->is_tolerant == b->is_tolerant && a->lifetime == b->lifetime &&
           a->deadline == b->deadline;
}

/* Classes are interned by the caller: the first like job's number names it. */
static uint32_t class_of(struct built *built, const struct instance *instance,
                         int index)
{
    const struct instance_job *job = &instance->jobs[index];
    int first = 0;

    while (!is_same_class(&instance->jobs[first], job)) {
        first++;
    }
    struct label selector = {STR("rack"), str_of(RACKS[job->rack])};
    struct toleration toleration = {.key = STR("t"), .is_exists = true};
    struct resource_amount amounts[] = {
        {STR("cpu"), job->request[0] * (int64_t)1000},
        second_of(instance, job->request[1]),
        {STR("seat"), job->request[SEATS] * (int64_t)1000},
    };
    struct requirement requirement = {
        .lifetime_ms = job->lifetime == BY_CLASS  ? LIFETIME_BY_CLASS
                       : job->lifetime == ENDLESS ? LIFETIME_INFINITE
                                                  : job->lifetime,
        .deadline_ms = job->deadline,
        .priority_class = str_of(CLASSES[job->priority_class].name),
        .requests = {amounts, job->request[SEATS] ? 3 : 2},
        .selector = &selector,
        .selector_count = job->rack != 0,
        .tolerations = &toleration,
        .toleration_count = job->is_tolerant,
    };
    if (built->classes[first] == SCHED_NONE) {
        built->classes[first] = sched_class_add(built->sched, &requirement);
    }
    return built->classes[first];
}

/* The terms of a job's gang, from all of its members. */
static void pack_terms(const struct instance *instance,
                       const struct instance_job *job, struct strbuf *buf)
{
    struct gang_terms terms = {.kind = GANG_POD_GROUP};

    for (int j = 0; job->has_terms && j < instance->job_count; j++) {
        const struct instance_job *other = &instance->jobs[j];
        if (other->gang == job->gang) {
            struct sub_group *sub = &terms.sub_groups[other->sub_group];
            sub->name = STR("s");
            sub->min_count = (uint32_t)other->sub_minimum;
            sub->max_count = (uint32_t)other->sub_count;
            sub->hops_max =
                other->hops == NO_LIMIT ? HOPS_ANY : (uint32_t)other->hops;
            terms.sub_group_count = (uint32_t)other->sub_group + 1;
            terms.freezing_window_ms = other->freezing;
            terms.is_whole_node = other->is_whole;
        }
    }
    if (job->has_terms) {
        gang_terms_pack(buf, &terms);
    }
}

void built_add_job(struct built *built, const struct instance *instance,
                   int index)
{
    const struct instance_job *job = &instance->jobs[index];
    auto_strbuf terms = {0};
    char gang[8], app[8];

    pack_terms(instance, job, &terms);

    snprintf(gang, sizeof(gang), "g%d", job->gang);
    snprintf(app, sizeof(app), "a%d", job->app);
    struct sched_job record = {
        .queue = (uint32_t)job->queue,
        .pool = instance->has_second_pool && job->pool != ANY_POOL
                    ? str_of(POOLS[job->pool])
                    : STR(""),
        .class_index = class_of(built, instance, index),
        .priority = (uint32_t)job->priority,
        .submitted_ms = job->submitted,
        .id = {{1, (uint64_t)index}},
        .gang_id = job->gang ? str_of(gang) : STR(""),
        .gang_cardinality = (uint32_t)job->cardinality,
        .gang_minimum = (uint32_t)job->minimum,
        .gang_uniformity = job->is_uniform ? STR("rack") : STR(""),
        .was_leased = job->was_leased,
        .application = str_of(app),
        .has_stateaware_off = job->is_off,
        .gang_terms = strbuf_str(&terms),
        .sub_group = (uint32_t)job->sub_group,
        .is_foreign = job->is_foreign,
    };
    sched_job_add(built->sched, (uint32_t)index, &record);
    for (int n = 0; n < instance->node_count; n++) {
        if (job->avoided >> n & 1) {
            sched_job_avoid(built->sched, (uint32_t)index, built->handles[n]);
        }
    }
    if (job->node != NO_NODE) {
        sched_job_lease(
            built->sched, (uint32_t)index, built->handles[job->node],
            CLASSES[job->priority_class].priority, job->leased, false);
    }
    if (job->node != NO_NODE && job->started != NOT_STARTED) {
        sched_job_age_from(built->sched, (uint32_t)index, job->started);
    }
    if (job->frozen_until) {
        sched_gang_remember(
            built->sched, (uint32_t)index,
            &(struct sched_gang_memory){.scaled_ms =
                                            job->frozen_until - job->freezing});
    }
}

/* Members that have ended count for their gang, if any of it is left. */
static void end_members(struct built *built, const struct instance *instance)
{
    for (int j = 0; j < instance->job_count; j++) {
        if (instance->jobs[j].has_succeeded) {
            built_add_job(built, instance, j);
            sched_job_lease(built->sched, (uint32_t)j, built->handles[0], 0, 0,
                            false);
            sched_job_succeeded(built->sched, (uint32_t)j);
            sched_job_remove(built->sched, (uint32_t)j);
        }
    }
}

static void shuffle_numbers(int *numbers, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++) {
        numbers[i] = i;
    }
    for (int i = count - 1; *state && i > 0; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        int k = (int)((*state >> 33) % (uint64_t)(i + 1));
        int swap = numbers[i];
        numbers[i] = numbers[k];
        numbers[k] = swap;
    }
}

void built_init(struct built *built, const struct instance *instance,
                uint64_t shuffle)
{
    int order[INSTANCE_JOBS_MAX];

    *built = (struct built){0};
    built_make_policy(instance, &built->policy);
    built->sched = sched_create(&built->policy);
    memset(built->classes, 0xff, sizeof(built->classes));
    if (instance->is_object) {
        sched_preemption_set(built->sched, instance->is_preemption_off);
    }
    shuffle_numbers(order, instance->node_count, &shuffle);
    for (int i = 0; i < instance->node_count; i++) {
        built_set_node(built, instance, order[i]);
    }
    shuffle_numbers(order, instance->queue_count, &shuffle);
    for (int i = 0; i < instance->queue_count; i++) {
        built_set_queue(built, instance, order[i]);
    }
    shuffle_numbers(order, instance->job_count, &shuffle);
    for (int i = 0; i < instance->job_count; i++) {
        if (instance->jobs[order[i]].is_there) {
            built_add_job(built, instance, order[i]);
        }
    }
    end_members(built, instance);
}

void built_fini(struct built *built)
{
    sched_destroy(built->sched);
}

int built_node(const struct built *built, uint32_t handle)
{
    for (int i = 0; i < INSTANCE_NODES_MAX; i++) {
        if (handle != SCHED_NONE && built->handles[i] == handle) {
            return i;
        }
    }
    return NO_NODE;
}

void built_apply(struct built *built, const struct sched_decision *decision,
                 int now)
{
    switch (decision->action) {
    case SCHED_LEASE:
        sched_job_lease(built->sched, decision->job, decision->node,
                        decision->priority, now, true);
        if (decision->charge) {
            int pool = built->pools[built_node(built, decision->node)];
            sched_job_charge(built->sched, decision->job, str_of(POOLS[pool]),
                             decision->charge);
        }
        if (decision->is_by_share) {
            sched_job_truce(built->sched, decision->job);
        }
        if (decision->is_backfilled) {
            sched_job_age_from(built->sched, decision->job, now);
        }
        if (decision->yields_to != SCHED_NONE) {
            sched_job_yield(built->sched, decision->job, decision->yields_to,
                            decision->yields_at_once, decision->yields_from_ms);
        }
        break;
    case SCHED_ADMIT:
        sched_job_admit(built->sched, decision->job,
                        str_of(POOLS[decision->pool_index]), decision->start_ms,
                        decision->charge);
        break;
    case SCHED_DISMISS:
        sched_job_dismiss(built->sched, decision->job);
        break;
    case SCHED_PREEMPT:
    case SCHED_FAIL:
        sched_job_remove(built->sched, decision->job);
        break;
    }
}
