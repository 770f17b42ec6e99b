#include "instance.h"

#include <stdio.h>

const struct instance_class CLASSES[CLASS_COUNT] = {
    {"mid", 1000, true},
    {"low", 500, true},
    {"high", 10000, true},
    {"fixed", 1000, false},
};

static const char *const RACKS[] = {"", "r1", "r2"};

static int pick(struct tape *tape, int low, int high)
{
    return (int)draw(tape, (uint64_t)low, (uint64_t)high);
}

/* True once in `n` times; false is the simpler case. */
static bool once_in(struct tape *tape, int n)
{
    return pick(tape, 0, n - 1) == n - 1;
}

static void draw_job(struct tape *tape, struct instance *instance, int index)
{
    struct instance_job *job = &instance->jobs[index];

    *job = (struct instance_job){
        .is_there = true,
        .queue = pick(tape, 0, instance->queue_count - 1),
        .priority_class = once_in(tape, 2) ? pick(tape, 0, CLASS_COUNT - 1) : 0,
        .request = {pick(tape, 1, 4), pick(tape, 0, 3)},
        .rack = once_in(tape, 8) ? pick(tape, 1, 2) : 0,
        .is_tolerant = once_in(tape, 4),
        .priority = once_in(tape, 4) ? pick(tape, 0, 2) : 0,
        .submitted = pick(tape, 0, 5),
        .cardinality = 1,
        .minimum = 1,
        .node = NO_NODE,
    };
    if (once_in(tape, 12)) {
        job->avoided = 1u << pick(tape, 0, instance->node_count - 1);
    }
}

/* The next few jobs as one gang; the number of its members. */
static int draw_gang(struct tape *tape, struct instance *instance, int first)
{
    int cardinality = pick(tape, 2, 5);
    int minimum = once_in(tape, 2) ? pick(tape, 1, cardinality) : cardinality;
    bool is_uniform = once_in(tape, 3);
    /* A member may be missing, or there may be one too many. */
    int count = cardinality + (once_in(tape, 8) ? pick(tape, -1, 1) : 0);
    bool is_mixed = once_in(tape, 4);

    for (int i = 0; i < count && first + i < INSTANCE_JOBS_MAX; i++) {
        struct instance_job *job = &instance->jobs[first + i];
        struct instance_job *head = &instance->jobs[first];
        draw_job(tape, instance, first + i);
        if (!is_mixed) {
            job->request[0] = head->request[0];
            job->request[1] = head->request[1];
            job->rack = head->rack;
            job->is_tolerant = head->is_tolerant;
        }
        job->queue = head->queue;
        job->priority_class = head->priority_class;
        job->gang = first + 1;
        job->cardinality = cardinality;
        job->minimum = minimum;
        job->is_uniform = is_uniform;
        instance->job_count = first + i + 1;
    }
    return instance->job_count - first;
}

int instance_free(const struct instance *instance, int node, int kind)
{
    int left = instance->nodes[node].capacity[kind];

    for (int i = 0; i < instance->job_count; i++) {
        const struct instance_job *job = &instance->jobs[i];
        left -= job->is_there && job->node == node ? job->request[kind] : 0;
    }
    return left;
}

static void place_some(struct tape *tape, struct instance *instance)
{
    for (int i = 0; i < instance->job_count; i++) {
        struct instance_job *job = &instance->jobs[i];
        int node = pick(tape, 0, instance->node_count);
        if (node == instance->node_count || once_in(tape, 4)) {
            continue;
        }
        if (job->request[0] <= instance_free(instance, node, 0) &&
            job->request[1] <= instance_free(instance, node, 1)) {
            job->node = node;
            job->leased = pick(tape, 0, 3);
            job->was_leased = true;
        }
    }
}

void instance_draw(struct tape *tape, struct instance *instance)
{
    *instance = (struct instance){
        .node_count = pick(tape, 1, INSTANCE_NODES_MAX),
        .queue_count = pick(tape, 1, INSTANCE_QUEUES_MAX),
        .protected_percent = once_in(tape, 3) ? pick(tape, 0, 100) : 100,
        .limit_percent = once_in(tape, 4) ? pick(tape, 20, 100) : 0,
        .is_fair_share_off = once_in(tape, 16),
        .is_urgency_off = once_in(tape, 16),
    };
    for (int i = 0; i < instance->node_count; i++) {
        instance->nodes[i] = (struct instance_node){
            .capacity = {pick(tape, 1, 8), pick(tape, 1, 8)},
            .rack = pick(tape, 0, 2),
            .is_tainted = once_in(tape, 8),
            .is_unschedulable = once_in(tape, 16),
        };
    }
    for (int i = 0; i < instance->queue_count; i++) {
        instance->queues[i] = (struct instance_queue){
            .factor_halves = once_in(tape, 2) ? pick(tape, 2, 6) : 2,
            .is_cordoned = once_in(tape, 16),
        };
    }
    int wanted = pick(tape, 0, INSTANCE_JOBS_MAX);
    while (instance->job_count < wanted) {
        if (once_in(tape, 8)) {
            draw_gang(tape, instance, instance->job_count);
        } else {
            draw_job(tape, instance, instance->job_count);
            instance->job_count++;
        }
    }
    place_some(tape, instance);
    if (once_in(tape, 10)) {
        /* A node that shrank under its jobs. */
        instance->nodes[0].capacity[pick(tape, 0, 1)] = 1;
    }
}

static void make_policy(const struct instance *instance, struct policy *policy)
{
    policy_defaults(policy);
    policy->class_count = CLASS_COUNT;
    policy->lookback_max = 0;
    policy->is_fair_share_preemption_off = instance->is_fair_share_off;
    policy->is_urgency_preemption_off = instance->is_urgency_off;
    policy->pools[0].protected_fraction_ppm =
        instance->protected_percent * 10000;
    for (int c = 0; c < CLASS_COUNT; c++) {
        policy->classes[c] = (struct priority_class){
            .name = str_of(CLASSES[c].name),
            .priority = CLASSES[c].priority,
            .is_preemptible = CLASSES[c].is_preemptible,
        };
    }
    if (instance->limit_percent) {
        policy->classes[0].queue_limits[0] = (struct resource_fraction){
            STR("cpu"), instance->limit_percent * 10000};
        policy->classes[0].queue_limit_count = 1;
    }
}

void built_set_node(struct built *built, const struct instance *instance,
                    int index)
{
    const struct instance_node *node = &instance->nodes[index];
    char name[8];
    struct resource_amount amounts[] = {
        {STR("cpu"), node->capacity[0] * (int64_t)1000},
        {STR("memory"), node->capacity[1] * (int64_t)1000000000000},
    };
    struct label label = {STR("rack"), str_of(RACKS[node->rack])};
    struct taint taint = {STR("t"), STR(""), TAINT_NO_SCHEDULE};
    struct node_record record = {
        .labels = &label,
        .label_count = node->rack != 0,
        .taints = &taint,
        .taint_count = node->is_tainted,
        .total = {amounts, 2},
        .is_unschedulable = node->is_unschedulable,
    };

    snprintf(name, sizeof(name), "n%d", index);
    record.name = str_of(name);
    built->handles[index] =
        sched_node_set(built->sched, STR("e"), &record, STR("default"));
}

void built_set_queue(struct built *built, const struct instance *instance,
                     int index)
{
    char name[8];
    struct queue_record record = {
        .priority_factor_micro = instance->queues[index].factor_halves *
                                 (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2),
        .is_cordoned = instance->queues[index].is_cordoned,
    };

    snprintf(name, sizeof(name), "q%d", index);
    record.name = str_of(name);
    sched_queue_set(built->sched, (uint32_t)index, &record);
}

static bool is_same_class(const struct instance_job *a,
                          const struct instance_job *b)
{
    return a->priority_class == b->priority_class &&
           a->request[0] == b->request[0] && a->request[1] == b->request[1] &&
           a->rack == b->rack && a->is_tolerant == b->is_tolerant;
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
        {STR("memory"), job->request[1] * (int64_t)1000000000000},
    };
    struct requirement requirement = {
        .priority_class = str_of(CLASSES[job->priority_class].name),
        .requests = {amounts, 2},
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

void built_add_job(struct built *built, const struct instance *instance,
                   int index)
{
    const struct instance_job *job = &instance->jobs[index];
    char gang[8];

    snprintf(gang, sizeof(gang), "g%d", job->gang);
    struct sched_job record = {
        .queue = (uint32_t)job->queue,
        .class_index = class_of(built, instance, index),
        .priority = (uint32_t)job->priority,
        .submitted_ms = job->submitted,
        .id = {{1, (uint64_t)index}},
        .gang_id = job->gang ? str_of(gang) : STR(""),
        .gang_cardinality = (uint32_t)job->cardinality,
        .gang_minimum = (uint32_t)job->minimum,
        .gang_uniformity = job->is_uniform ? STR("rack") : STR(""),
        .was_leased = job->was_leased,
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

void instance_build(const struct instance *instance, uint64_t shuffle,
                    struct built *built)
{
    int order[INSTANCE_JOBS_MAX];

    *built = (struct built){0};
    make_policy(instance, &built->policy);
    built->sched = sched_create(&built->policy);
    memset(built->classes, 0xff, sizeof(built->classes));
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

void instance_apply(struct instance *instance, const struct built *built,
                    const struct sched_decision *decision, int now)
{
    struct instance_job *job = &instance->jobs[decision->job];

    if (decision->action == SCHED_LEASE) {
        job->node = built_node(built, decision->node);
        job->leased = now;
        job->was_leased = true;
    } else {
        job->is_there = false;
        job->node = NO_NODE;
    }
}

void built_apply(struct built *built, const struct sched_decision *decision,
                 int now)
{
    if (decision->action == SCHED_LEASE) {
        sched_job_lease(built->sched, decision->job, decision->node,
                        decision->priority, now, true);
    } else {
        sched_job_remove(built->sched, decision->job);
    }
}
