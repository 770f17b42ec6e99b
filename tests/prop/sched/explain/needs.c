#include "needs.h"

#include <stdio.h>
#include <stdlib.h>

#include "sched/state/state.h"

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

/* Whether the round looked for room for a job, which it does only once all
 * limits, and who is ahead, let it. */
static bool was_searched_for(const struct scene *scene, uint32_t job)
{
    const struct sched *sched = scene->trial.built.sched;

    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->refusals.count; i++) {
            if (pool->refusals.items[i].why == REFUSAL_ROOM &&
                pool->refusals.items[i].job == job) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a reason is one that a round would have found before. */
static bool is_before_room(enum sched_wait wait)
{
    return wait == SCHED_WAIT_RATE || wait == SCHED_WAIT_QUEUE_RATE ||
           wait == SCHED_WAIT_RESOURCE_RATE || wait == SCHED_WAIT_QUEUE_LIMIT ||
           wait == SCHED_WAIT_QUOTA || wait == SCHED_WAIT_FLOATING ||
           wait == SCHED_WAIT_OVER_SHARE || wait == SCHED_WAIT_BUDGET ||
           wait == SCHED_WAIT_LOOKBACK || wait == SCHED_WAIT_ADMITTED_FIRST ||
           wait == SCHED_WAIT_QUEUE_CORDONED;
}

/* Whether a reason is one that nodes have no part in. */
static bool is_of_no_node(enum sched_wait wait)
{
    return wait == SCHED_WAIT_QUOTA || wait == SCHED_WAIT_QUEUE_LIMIT ||
           wait == SCHED_WAIT_FLOATING || wait == SCHED_WAIT_OVER_SHARE ||
           wait == SCHED_WAIT_BUDGET || wait == SCHED_WAIT_GANG ||
           wait == SCHED_WAIT_GROWTH || wait == SCHED_WAIT_QUEUE_CORDONED ||
           wait == SCHED_WAIT_APP_STARTING || wait == SCHED_WAIT_APP_TURN ||
           wait == SCHED_WAIT_APP_LIMIT || wait == SCHED_WAIT_APP_NEED;
}

/* Whether nodes may keep it before anything else could; of what is admitted
 * only that is said then. */
static bool is_of_nodes(enum sched_wait wait)
{
    return wait == SCHED_WAIT_NO_NODES || wait == SCHED_WAIT_NEVER_FITS ||
           wait == SCHED_WAIT_CLOSED || wait == SCHED_WAIT_PASSED ||
           wait == SCHED_WAIT_GPUS_KEPT || wait == SCHED_WAIT_TOPOLOGY ||
           wait == SCHED_WAIT_GANG_CAPACITY || wait == SCHED_WAIT_ADMITTED ||
           wait == SCHED_WAIT_RESERVED;
}

/* Whether lists say of it what the explanation says. */
static bool is_listed_so(struct scene *scene)
{
    uint32_t looks_left = UINT32_MAX;
    enum sched_wait listed = sched_wait_of(scene->trial.built.sched, scene->job,
                                           scene->trial.now, &looks_left);

    return listed == scene->why.wait || is_of_nodes(scene->why.wait) ||
           (!is_of_no_node(listed) && !is_of_no_node(scene->why.wait));
}

/* A round has just found nothing to do: nobody who waits is told that it is
 * their turn, nor of a limit that the round did not find; and lists say the
 * same. */
static bool reasons_are_true(struct scene *scene)
{
    const struct instance *instance = &scene->trial.instance;

    for (int j = 0; j < instance->job_count; j++) {
        if (!instance->jobs[j].is_there || instance->jobs[j].node != NO_NODE) {
            continue;
        }
        scene->job = (uint32_t)j;
        sched_explain(scene->trial.built.sched, scene->job, scene->trial.now,
                      &scene->why);
        if (scene->why.wait == SCHED_WAIT_TURN || !is_listed_so(scene) ||
            (was_searched_for(scene, scene->job) &&
             is_before_room(scene->why.wait))) {
            return false;
        }
    }
    return true;
}

void scene_settle(struct scene *scene)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        trial_plan(&scene->trial, ROUND_BALANCE);
        if (scene->trial.plan.decision_count == 0) {
            scene->has_false_reason = !reasons_are_true(scene);
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

/* Whether the next full round starts it. */
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

/* A queue as it is, with its quota of the scene. */
static struct queue_record queue_of(const struct scene *scene, int queue,
                                    struct built_queue *parts)
{
    struct queue_record record =
        built_queue(&scene->trial.instance, queue, parts);
    const int64_t *quota = scene->quotas[queue];

    if (quota[0]) {
        parts->quota[0].milli = quota[0] * 1000;
        parts->quota[1] =
            (struct resource_amount){STR("memory"), quota[1] * 1000000000000};
        record.quota.count = 2;
    }
    return record;
}

void scene_set_quota(struct scene *scene, int queue,
                     const struct resource_vec *more)
{
    struct built_queue parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    for (uint32_t i = 0; i < record.quota.count; i++) {
        built_add_more(&scene->trial.built, more, &parts.quota[i]);
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
    struct built *built = &scene->trial.built;

    built_set_node_with(built, &scene->trial.instance,
                        built_node(built, scene->need.node), more);
}

/* A limit of so many milli-cores of the class. */
static void give_limit(struct scene *scene, const struct resource_vec *more)
{
    const struct instance *instance = &scene->trial.instance;
    int cpu = resource_column(&scene->trial.built.policy.schema, STR("cpu"));
    int queue = instance->jobs[scene->job].queue;
    int64_t total = instance_total(instance, 0) * (int64_t)MILLI_CORES;
    int64_t limit = scene->why.limit + more->v[cpu];
    struct built_queue parts;
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
    struct built_queue parts;
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
    struct built_queue parts;
    struct queue_record record = queue_of(scene, queue, &parts);

    if (more->v[0]) {
        record.over_share_ppm = scene->need.base + more->v[0];
    }
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

static void give_apps(struct scene *scene, const struct resource_vec *more)
{
    int queue = scene->trial.instance.jobs[scene->job].queue;
    struct built_queue parts;
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

    if (scene->has_false_reason) {
        if (getenv("PROP_SHOW")) {
            show(scene);
        }
        return false;
    }
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
