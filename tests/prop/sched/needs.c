#include "needs.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 8, ASKED_MAX = 6, MILLI_CORES = 1000, SEAT_COLUMN = 3 };

static struct tally tally;

const struct tally *scene_tally(void)
{
    return &tally;
}

void scene_act(struct trial *trial)
{
    trial_act_on(&trial->instance, &trial->built, &trial->plan, trial->now);
}

void scene_settle(struct scene *scene)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        trial_plan(&scene->trial, ROUND_BALANCE);
        if (scene->trial.plan.decision_count == 0) {
            return;
        }
        scene_act(&scene->trial);
    }
}

/* Whether a job is what was asked about: others of its gang are as good, of
 * its sub-group where the gang is to grow. */
static bool is_of_it(const struct scene *scene, uint32_t job)
{
    const struct instance_job *a = &scene->trial.instance.jobs[job];
    const struct instance_job *b = &scene->trial.instance.jobs[scene->job];

    return job == scene->job ||
           (a->gang && a->gang == b->gang && a->queue == b->queue &&
            (scene->why.wait != SCHED_WAIT_GROWTH ||
             a->sub_group == b->sub_group));
}

/* Whether the next balance round starts it. */
static bool starts(const struct scene *scene, int64_t now_ms)
{
    struct sched_plan plan;

    sched_plan(scene->trial.built.sched, now_ms, ROUND_BALANCE,
               SCHED_DECISIONS_MAX, &plan);
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        if (plan.decisions[i].action == SCHED_LEASE &&
            is_of_it(scene, plan.decisions[i].job)) {
            return true;
        }
    }
    return false;
}

static void add_more(const struct scene *scene, const struct resource_vec *more,
                     struct resource_amount *amount)
{
    const struct resource_schema *schema = &scene->trial.built.policy.schema;
    int column = resource_column(schema, amount->name);

    amount->milli += more->v[column] * schema->columns[column].unit_milli;
}

/* Report a node with so much more. */
static void set_node(struct scene *scene, int index,
                     const struct resource_vec *more)
{
    const struct instance *instance = &scene->trial.instance;
    const struct instance_node *node = &instance->nodes[index];
    static const char *const racks[] = {"", "r1", "r2"};
    char name[8];
    struct resource_amount amounts[] = {
        {STR("cpu"), node->capacity[0] * (int64_t)1000},
        {STR("memory"), node->capacity[1] * (int64_t)1000000000000},
    };
    struct label label = {STR("rack"), str_of(racks[node->rack])};
    struct taint taint = {STR("t"), STR(""), TAINT_NO_SCHEDULE};
    struct node_record record = {
        .labels = &label,
        .label_count = node->rack != 0,
        .taints = &taint,
        .taint_count = node->is_tainted,
        .total = {amounts, 2},
        .is_unschedulable = node->is_unschedulable,
    };

    if (instance->has_gpus) {
        amounts[1] = (struct resource_amount){
            STR("nvidia.com/gpu"), node->capacity[1] * (int64_t)1000};
    }
    for (int i = 0; i < 2; i++) {
        add_more(scene, more, &amounts[i]);
    }
    snprintf(name, sizeof(name), "n%d", index);
    record.name = str_of(name);
    (void)sched_node_set(scene->trial.built.sched, STR("e"), &record,
                         STR("default"));
}

/* A queue as it is; what it points to is the caller's. */
struct queue_parts {
    char name[8];
    struct resource_amount amounts[2];
    struct queue_limit limit;
};

static struct queue_record queue_of(const struct scene *scene, int queue,
                                    struct queue_parts *parts)
{
    const struct instance_queue *from = &scene->trial.instance.queues[queue];
    const int64_t *quota = scene->quotas[queue];

    parts->amounts[0] = (struct resource_amount){
        STR("cpu"), (quota[0] ? quota[0] : from->quota) * 1000};
    parts->amounts[1] =
        (struct resource_amount){STR("memory"), quota[1] * 1000000000000};
    snprintf(parts->name, sizeof(parts->name), "q%d", queue);
    return (struct queue_record){
        .name = str_of(parts->name),
        .priority_factor_micro =
            from->factor_halves * (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2),
        .is_cordoned = from->is_cordoned,
        .ordering = from->ordering,
        .is_class_priority_ignored = from->is_class_ignored,
        .allows_stateaware_off = from->allows_off,
        .running_apps_max = (uint32_t)from->running_apps_max,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
        .quota = {parts->amounts, quota[0] ? 2 : from->quota > 0},
    };
}

void scene_set_quota(struct scene *scene, int queue,
                     const struct resource_vec *more)
{
    struct queue_parts parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    for (uint32_t i = 0; i < record.quota.count; i++) {
        add_more(scene, more, &parts.amounts[i]);
    }
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

typedef void set_fn(struct scene *scene, const struct resource_vec *more);

static void give_quota(struct scene *scene, const struct resource_vec *more)
{
    scene_set_quota(scene, scene->trial.instance.jobs[scene->job].queue, more);
}

static void give_room(struct scene *scene, const struct resource_vec *more)
{
    set_node(scene, built_node(&scene->trial.built, scene->need.node), more);
}

/* A limit of so many milli-cores of the class. */
static void give_limit(struct scene *scene, const struct resource_vec *more)
{
    const struct instance *instance = &scene->trial.instance;
    int cpu = resource_column(&scene->trial.built.policy.schema, STR("cpu"));
    int queue = instance->jobs[scene->job].queue;
    int64_t total = instance_total(instance, 0) * (int64_t)MILLI_CORES;
    int64_t limit = scene->why.limit + more->v[cpu];
    struct queue_parts parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    parts.limit = (struct queue_limit){
        .resource = STR("cpu"),
        .priority_class = str_of(CLASSES[0].name),
        .fraction_ppm = (limit * 1000000 + total - 1) / total,
    };
    record.limits = &parts.limit;
    record.limit_count = 1;
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

static void give_floating(struct scene *scene, const struct resource_vec *more)
{
    struct policy *policy = &scene->trial.built.policy;

    policy->pools[0].floating[SEAT_COLUMN] =
        scene->trial.instance.seats + more->v[SEAT_COLUMN];
    sched_policy_set(scene->trial.built.sched, policy);
}

/* A budget of its own, in the first column. */
static void give_budget(struct scene *scene, const struct resource_vec *more)
{
    int queue = scene->trial.instance.jobs[scene->job].queue;
    struct queue_parts parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    if (more->v[0]) {
        record.excess_budget_milli = scene->need.base + more->v[0];
    }
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

/* Likewise. */
static void give_share(struct scene *scene, const struct resource_vec *more)
{
    int queue = scene->trial.instance.jobs[scene->job].queue;
    struct queue_parts parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    if (more->v[0]) {
        record.over_share_ppm = scene->need.base + more->v[0];
    }
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

static void give_apps(struct scene *scene, const struct resource_vec *more)
{
    int queue = scene->trial.instance.jobs[scene->job].queue;
    struct queue_parts parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    record.running_apps_max += (uint32_t)more->v[0];
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

/* With what is missing it starts, with any less of any of it it does not. */
static bool is_just_enough(struct scene *scene, set_fn *give,
                           struct resource_vec more)
{
    static const struct resource_vec nothing;
    bool holds = true, is_any = false;

    give(scene, &more);
    holds &= starts(scene, scene->trial.now);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (more.v[r] > 0) {
            is_any = true;
            more.v[r]--;
            give(scene, &more);
            holds &= !starts(scene, scene->trial.now);
            more.v[r]++;
        }
    }
    give(scene, &nothing);
    return holds && is_any;
}

static bool is_true(struct scene *scene)
{
    const struct sched_need *need = &scene->need;
    struct resource_vec more = {.v = {need->more}};

    switch (need->kind) {
    case SCHED_NEED_ROOM:
        return is_just_enough(scene, give_room, need->missing);
    case SCHED_NEED_LIMIT:
        return is_just_enough(scene, give_limit, need->missing);
    case SCHED_NEED_QUOTA:
        return is_just_enough(scene, give_quota, need->missing);
    case SCHED_NEED_FLOATING:
        return is_just_enough(scene, give_floating, need->missing);
    case SCHED_NEED_BUDGET:
        return is_just_enough(scene, give_budget, more);
    case SCHED_NEED_SHARE:
        return is_just_enough(scene, give_share, more);
    case SCHED_NEED_APPS:
        return is_just_enough(scene, give_apps, more);
    case SCHED_NEED_TIME:
        return starts(scene, need->until_ms) &&
               !starts(scene, need->until_ms - 1);
    case SCHED_NEED_NONE:
    case SCHED_NEED_MEMBERS:
        break;
    }
    return true;
}

static void show(const struct scene *scene)
{
    printf("job %u (gang %d) waits %d (growth %d): kind %d node %d budget "
           "%lld + %lld missing",
           scene->job, scene->trial.instance.jobs[scene->job].gang,
           (int)scene->why.wait, (int)scene->why.growth, (int)scene->need.kind,
           built_node(&scene->trial.built, scene->need.node),
           (long long)scene->need.base, (long long)scene->need.more);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        printf(" %lld", (long long)scene->need.missing.v[r]);
    }
    printf("\n");
}

bool scene_needs_are_true(struct scene *scene)
{
    const struct instance *instance = &scene->trial.instance;
    int asked = 0;

    for (int j = 0; j < instance->job_count && asked < ASKED_MAX; j++) {
        if (!instance->jobs[j].is_there || instance->jobs[j].node != NO_NODE) {
            continue;
        }
        asked++;
        scene->job = (uint32_t)j;
        sched_explain_need(scene->trial.built.sched, scene->job,
                           scene->trial.now, &scene->why, &scene->need);
        tally.asked[scene->need.kind]++;
        tally.exact[scene->need.kind] += scene->need.is_exact;
        if (scene->need.is_exact && !is_true(scene)) {
            if (getenv("PROP_SHOW")) {
                show(scene);
            }
            return false;
        }
    }
    return true;
}
