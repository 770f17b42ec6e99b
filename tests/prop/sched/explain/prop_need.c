/*
 * What explain says that a job needs (section 3 of what explain must do: "all
 * else frozen, when it says needs 3 more of X on nodes like Y, adding 3 there
 * starts the job, and adding 2 does not").
 *
 * Instances run until nothing is left to do; then jobs that wait are asked
 * about, and what is said is done to the planner itself (needs.h), for jobs
 * alone and in gangs of all kinds.  Before that, the reasons are held against
 * what the last round noted: nobody whom it refused is told that it is their
 * turn, and whom it looked for a place for, not of a limit.
 */
#include <stdio.h>
#include <string.h>

#include "needs.h"
#include "sched/state/state.h"

/* Nothing that ends a cooldown may come between; they are for other tests. */
static void begin(struct tape *tape, struct scene *scene)
{
    *scene = (struct scene){.trial = {.now = TRIAL_NOW}};
    instance_draw(tape, &scene->trial.instance);
}

/* Tell a planner what was drawn, let it settle, and ask. */
static bool check(struct scene *scene)
{
    built_init(&scene->trial.built, &scene->trial.instance, 0);
    sched_set_time(scene->trial.built.sched, scene->trial.now);
    scene_settle(scene);
    bool holds = scene_needs_are_true(scene);
    built_fini(&scene->trial.built);
    return holds;
}

static bool what_is_needed_is_just_enough(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    return check(&scene);
}

/* Nodes are kept for the first that has no room, and others backfill. */
static bool what_is_needed_beside_reservations(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    for (int j = 0; j < scene.trial.instance.job_count; j++) {
        scene.trial.instance.jobs[j].deadline = (int)draw(tape, 0, 3) * 1000;
    }
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    pool_policy_apply(&scene.trial.built.policy.pools[0], PROFILE_BERTH);
    scene.trial.built.policy.pools[0].reservation_delay_ms =
        draw(tape, 0, 2) * 1000;
    sched_policy_set(scene.trial.built.sched, &scene.trial.built.policy);
    scene_settle(&scene);
    bool holds = scene_needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Starts are limited: the rest waits for its time. */
static bool what_is_needed_of_time(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    scene.trial.built.policy.rate_per_queue =
        (struct rate_limit){.rate_milli_per_s = (int64_t)draw(tape, 100, 5000),
                            .burst = (int64_t)draw(tape, 1, 3)};
    sched_policy_set(scene.trial.built.sched, &scene.trial.built.policy);
    scene_settle(&scene);
    bool holds = scene_needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Queues have quotas of a few cores. */
static bool what_is_needed_of_quotas(struct tape *tape)
{
    static const struct resource_vec nothing;
    struct scene scene;

    begin(tape, &scene);
    struct instance *instance = &scene.trial.instance;
    for (int q = 0; q < instance->queue_count; q++) {
        instance->queues[q].ordering = QUEUE_BY_PRIORITY;
        instance->queues[q].running_apps_max = 0;
    }
    built_init(&scene.trial.built, instance, 0);
    for (int q = 0; q < instance->queue_count; q++) {
        int64_t *quota = scene.quotas[q];
        quota[0] = draw(tape, 0, 3) ? (int64_t)draw(tape, 1, 12) : 0;
        quota[1] = (int64_t)draw(tape, 1, 30);
        scene_set_quota(&scene, q, &nothing);
    }
    scene_settle(&scene);
    bool holds = scene_needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Flows, over-share limits and budgets: time may help, room as ever. */
static bool what_is_needed_beside_flows(struct tape *tape)
{
    struct scene scene = {.trial = {.now = TRIAL_NOW}};

    instance_draw_flow(tape, &scene.trial.instance);
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    sched_set_time(scene.trial.built.sched, scene.trial.now);
    scene_settle(&scene);
    scene.trial.now += (int)draw(tape, 0, 100000);
    sched_set_time(scene.trial.built.sched, scene.trial.now);
    bool holds = scene_needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Gangs with terms that run, lack some of their minimums or grow, and some
 * that have their nodes whole. */
static bool what_is_needed_by_groups(struct tape *tape)
{
    struct scene scene = {.trial = {.now = INSTANCE_GROUPS_NOW}};

    instance_draw_groups(tape, &scene.trial.instance);
    return check(&scene);
}

/* The same where the sub-groups are to be near together. */
static bool what_is_needed_near(struct tape *tape)
{
    struct scene scene = {.trial = {.now = INSTANCE_GROUPS_NOW}};

    instance_draw_groups(tape, &scene.trial.instance);
    instance_draw_hops(tape, &scene.trial.instance);
    return check(&scene);
}

/* The same beside admitted work. */
static bool what_is_needed_by_groups_that_wait(struct tape *tape)
{
    struct scene scene = {.trial = {.now = INSTANCE_GROUPS_NOW}};

    instance_draw_groups(tape, &scene.trial.instance);
    instance_draw_list(tape, &scene.trial.instance);
    return check(&scene);
}

/* The same with all sorts of limits. */
static bool what_is_needed_within_limits(struct tape *tape)
{
    struct scene scene = {.trial = {.now = INSTANCE_GROUPS_NOW}};

    instance_draw_groups(tape, &scene.trial.instance);
    instance_draw_limits(tape, &scene.trial.instance);
    return check(&scene);
}

/* Licences, which are of no node. */
static bool what_is_needed_of_seats(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    instance_draw_seats(tape, &scene.trial.instance);
    return check(&scene);
}

/* Queues that go by applications. */
static bool what_is_needed_by_applications(struct tape *tape)
{
    struct scene scene = {.trial = {.now = TRIAL_NOW}};

    instance_draw_apps(tape, &scene.trial.instance);
    return check(&scene);
}

/* A profile and limits on starts, drawn. */
static void set_policy(struct built *built, bool is_berth, bool is_rated)
{
    if (is_berth) {
        pool_policy_apply(&built->policy.pools[0], PROFILE_BERTH);
        built->policy.pools[0].reservation_delay_ms = 0;
    }
    if (is_rated) {
        built->policy.rate_per_queue =
            (struct rate_limit){.rate_milli_per_s = 700, .burst = 2};
    }
    sched_policy_set(built->sched, &built->policy);
}

/* The tables that plans are made by, as bytes. */
static void take_tables(const struct sched *sched, struct strbuf *bytes)
{
    for (size_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        strbuf_add(bytes, &node->capacity, sizeof(node->capacity));
        strbuf_add(bytes, &sched->free[i], sizeof(sched->free[i]));
    }
    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        strbuf_add(bytes, &pool->total, sizeof(pool->total));
        strbuf_add(bytes, &pool->used, sizeof(pool->used));
        strbuf_add(bytes, &pool->memory, sizeof(pool->memory));
    }
    strbuf_add(bytes, &sched->version, sizeof(sched->version));
    strbuf_add(bytes, sched->settled_version, sizeof(sched->settled_version));
    strbuf_add(bytes, sched->settled_until_ms, sizeof(sched->settled_until_ms));
    strbuf_add(bytes, &sched->plan_now_ms, sizeof(sched->plan_now_ms));
    strbuf_add(bytes, sched->looked.items,
               sched->looked.count * sizeof(*sched->looked.items));
}

/* Whether asking about a job leaves those tables as they were. */
static bool ask(struct scene *scene, struct trial *asked, uint32_t job)
{
    auto_strbuf before = {0}, after = {0};
    struct sched *sched = asked->built.sched;

    take_tables(sched, &before);
    sched_explain_need(sched, job, asked->now, &scene->why, &scene->need);
    take_tables(sched, &after);
    return str_equal(strbuf_str(&before), strbuf_str(&after));
}

/* Asking changes nothing: the state is the same, and plans what they were. */
static bool asking_changes_nothing(struct tape *tape)
{
    struct scene scene;
    struct trial asked;
    bool holds = true;

    begin(tape, &scene);
    if (draw(tape, 0, 1)) {
        scene.trial.now = INSTANCE_GROUPS_NOW;
        instance_draw_groups(tape, &scene.trial.instance);
    }
    bool is_berth = draw(tape, 0, 1), is_rated = draw(tape, 0, 3) == 3;
    int rounds = (int)draw(tape, 0, 4);
    for (int j = 0; j < scene.trial.instance.job_count; j++) {
        scene.trial.instance.jobs[j].deadline = (int)draw(tape, 0, 3) * 1000;
    }
    asked = scene.trial;
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    built_init(&asked.built, &asked.instance, 0);
    set_policy(&scene.trial.built, is_berth, is_rated);
    set_policy(&asked.built, is_berth, is_rated);
    for (int i = 0; i <= rounds && holds; i++) {
        for (int j = 0; j < asked.instance.job_count; j++) {
            if (asked.instance.jobs[j].is_there &&
                asked.instance.jobs[j].node == NO_NODE && j % 3 == 0) {
                holds &= ask(&scene, &asked, (uint32_t)j);
            }
        }
        trial_plan(&scene.trial, ROUND_BALANCE);
        trial_plan(&asked, ROUND_BALANCE);
        holds = holds && trial_same_plan(&scene.trial, &asked) &&
                sched_is_consistent(asked.built.sched);
        scene_act(&scene.trial);
        scene_act(&asked);
        scene.trial.now = asked.now = asked.now + (int)draw(tape, 0, 900);
    }
    built_fini(&scene.trial.built);
    built_fini(&asked.built);
    return holds;
}

/* Enough of what is said is exact for the property to mean something. */
static bool is_telling(void)
{
    static const char *const names[] = {"none",  "room",  "limit",    "members",
                                        "time",  "quota", "floating", "budget",
                                        "share", "apps"};
    const struct tally *tally = scene_tally();
    bool is = true;

    for (int k = SCHED_NEED_NONE; k <= SCHED_NEED_APPS; k++) {
        printf("%s: %u asked, %u exact\n", names[k], tally->asked[k],
               tally->exact[k]);
    }
    is &= tally->exact[SCHED_NEED_ROOM] * 4 >= tally->asked[SCHED_NEED_ROOM];
    is &= tally->exact[SCHED_NEED_LIMIT] > 0;
    is &= tally->exact[SCHED_NEED_TIME] > 0;
    is &= tally->exact[SCHED_NEED_QUOTA] * 8 >= tally->asked[SCHED_NEED_QUOTA];
    is &= tally->exact[SCHED_NEED_FLOATING] > 0;
    is &= tally->exact[SCHED_NEED_BUDGET] > 0;
    is &= tally->exact[SCHED_NEED_SHARE] > 0;
    is &= tally->exact[SCHED_NEED_APPS] > 0;
    return is;
}

int main(void)
{
    static const struct property properties[] = {
        PROPERTY(what_is_needed_is_just_enough),
        PROPERTY(what_is_needed_beside_reservations),
        PROPERTY(what_is_needed_of_time),
        PROPERTY(what_is_needed_of_quotas),
        PROPERTY(what_is_needed_beside_flows),
        PROPERTY(what_is_needed_by_groups),
        PROPERTY(what_is_needed_near),
        PROPERTY(what_is_needed_by_groups_that_wait),
        PROPERTY(what_is_needed_within_limits),
        PROPERTY(what_is_needed_of_seats),
        PROPERTY(what_is_needed_by_applications),
        PROPERTY(asking_changes_nothing),
    };

    int failures = trial_check_all(properties, ARRAY_COUNT(properties), 500);
    if (!is_telling()) {
        printf("too little of what is said is exact\n");
        failures++;
    }
    return failures != 0;
}
