/*
 * Plans do not depend on how many threads make them, nor on which is done
 * first: several shards are planned beside one another, twice, and what comes
 * of it is what comes of planning them one after the other.
 */
#include "control/round/planner.h"
#include "trial.h"
#include "unit.h"

enum {
    SHARDS = 4,
    ROUNDS = 2,
    ROUND_MS = 1000,
};

/* Shards that are planned together, and their tasks. */
struct shards {
    struct trial trials[SHARDS];
    struct planner_task tasks[SHARDS];
};

static struct shards *shards_create(const struct instance *instances)
{
    struct shards *shards = mem_alloc(sizeof(*shards));

    *shards = (struct shards){0};
    for (int s = 0; s < SHARDS; s++) {
        shards->trials[s].instance = instances[s];
        shards->trials[s].now = TRIAL_NOW;
        built_init(&shards->trials[s].built, &instances[s], 0);
    }
    return shards;
}

static void shards_destroy(struct shards *shards)
{
    for (int s = 0; s < SHARDS; s++) {
        built_fini(&shards->trials[s].built);
    }
    mem_free(shards);
}

/* Plan each shard; NULL: one after the other. */
static void plan_all(struct shards *shards, const enum round_kind *kinds,
                     struct planner *planner)
{
    for (int s = 0; s < SHARDS && !planner; s++) {
        trial_plan(&shards->trials[s], kinds[s]);
    }
    for (int s = 0; s < SHARDS && planner; s++) {
        struct trial *trial = &shards->trials[s];
        shards->tasks[s] = (struct planner_task){
            .sched = trial->built.sched,
            .now_ms = trial->now,
            .kind = kinds[s],
            .decision_count_max = SCHED_DECISIONS_MAX,
        };
        planner->begin(planner, &shards->tasks[s]);
    }
    for (int s = SHARDS; s > 0 && planner; s--) {
        planner->wait(planner, &shards->tasks[s - 1]);
        shards->trials[s - 1].plan = shards->tasks[s - 1].plan;
    }
}

static void act_on_all(struct shards *shards)
{
    for (int s = 0; s < SHARDS; s++) {
        trial_act(&shards->trials[s]);
        shards->trials[s].now += ROUND_MS;
    }
}

static bool are_same(const struct shards *a, const struct shards *b)
{
    bool is_same = true;

    for (int s = 0; s < SHARDS; s++) {
        is_same = is_same && trial_same_plan(&a->trials[s], &b->trials[s]);
    }
    return is_same;
}

static bool holds_with(const struct instance *instances,
                       const enum round_kind *kinds, uint32_t thread_count)
{
    struct err err;
    struct planner *planner =
        planner_threads_start(thread_count, NULL, NULL, &err);
    struct shards *inline_made = shards_create(instances);
    struct shards *made = shards_create(instances);
    bool holds = planner != NULL;

    for (int i = 0; i < ROUNDS && holds; i++) {
        plan_all(inline_made, kinds + i * SHARDS, NULL);
        plan_all(made, kinds + i * SHARDS, planner);
        holds = are_same(inline_made, made);
        act_on_all(inline_made);
        act_on_all(made);
    }
    shards_destroy(made);
    shards_destroy(inline_made);
    planner_threads_stop(planner);
    return holds;
}

static bool any_thread_count_plans_the_same(struct tape *tape)
{
    struct instance *instances = mem_alloc_array(SHARDS, sizeof(*instances));
    enum round_kind kinds[ROUNDS * SHARDS];
    bool holds = true;

    for (int s = 0; s < SHARDS; s++) {
        instance_draw(tape, &instances[s]);
    }
    for (int s = 0; s < ROUNDS * SHARDS; s++) {
        kinds[s] = (enum round_kind)draw(tape, 0, 1);
    }
    for (uint32_t count = 1; count <= SHARDS; count++) {
        holds = holds && holds_with(instances, kinds, count);
    }
    mem_free(instances);
    return holds;
}

int main(void)
{
    static const struct property properties[] = {
        PROPERTY(any_thread_count_plans_the_same),
    };

    return trial_check_all(properties, sizeof(properties) / sizeof(*properties),
                           300);
}
