/*
 * Groups near together, in small trees against looking at every domain
 * (model.md 2.11).
 *
 *   - a group that starts in free space is as near as it could be, in the
 *     smallest domain of that level; one that waits could not start
 *   - whatever starts, is replaced, grows, or takes others' places: no two
 *     pods of a sub-group are ever further apart than their cap
 *   - what is said to fit nowhere, even on empty nodes, never starts
 *
 * What near means is worked out here from the labels themselves: two nodes
 * share a domain of a level when they agree on its label and all above it,
 * where lacking a label is agreement too, but makes no domain.
 */
#include <stdio.h>
#include <string.h>

#include "prop.h"
#include "unit.h"
#include "world.h"

enum {
    SMALL_LEVELS = 3,
    SMALL_NODES_MAX = 12,
    GANGS_MAX = 12,
    STEPS = 14,
    MISSING = 0, /* a value */
    RUNS = 1500,
};

static const struct str keys[SMALL_LEVELS] = {
    {"c-leaf", 6}, {"b-agg", 5}, {"a-core", 6}};

struct node {
    char name[16];
    const char *cluster;
    int64_t cores;
    uint32_t values[SMALL_LEVELS];
    uint32_t index;
};

struct group {
    struct gang_terms terms;
    char id[16];
    uint32_t first, count; /* its jobs */
    int64_t cores;
    bool is_there;
};

struct scene {
    struct world *world;
    struct node nodes[SMALL_NODES_MAX];
    uint32_t node_count, level_count;
    struct group groups[GANGS_MAX];
    uint32_t group_count;
};

/* The definition. */

static bool are_together(const struct node *a, const struct node *b,
                         uint32_t level, uint32_t level_count)
{
    if (level == 0) {
        return a == b;
    }
    for (uint32_t l = level; l <= level_count; l++) {
        if (a->values[l - 1] != b->values[l - 1]) {
            return false;
        }
    }
    return strcmp(a->cluster, b->cluster) == 0 &&
           (a->values[level - 1] != MISSING ||
            are_together(a, b, level - 1, level_count));
}

/* The level of the lowest domain of both; above all: a cluster;
 * SMALL_NODES_MAX: not even that. */
static uint32_t level_between(const struct scene *scene, const struct node *a,
                              const struct node *b)
{
    for (uint32_t l = 0; l <= scene->level_count; l++) {
        if (are_together(a, b, l, scene->level_count)) {
            return l;
        }
    }
    return strcmp(a->cluster, b->cluster) == 0 ? scene->level_count + 1
                                               : SMALL_NODES_MAX;
}

static int64_t used_on(const struct scene *scene, uint32_t node)
{
    const struct world *w = scene->world;
    int64_t used = 0;

    for (uint32_t i = 0; i < w->job_count; i++) {
        if (!w->is_gone[i] && w->node_of[i] == scene->nodes[node].index) {
            used += w->records[i].cores;
        }
    }
    return used;
}

/* How many pods of so many cores what is around a node at a level holds. */
static int64_t room_around(const struct scene *scene, const int64_t *free,
                           uint32_t center, uint32_t level, int64_t cores)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < scene->node_count; i++) {
        if (level_between(scene, &scene->nodes[center], &scene->nodes[i]) <=
            level) {
            count += free[i] / cores;
        }
    }
    return count;
}

/* The level and the room of the best domain; false: there is none. */
static bool find_best(const struct scene *scene, const int64_t *free,
                      uint32_t needed, int64_t cores, uint32_t level_max,
                      uint32_t *ret_level, int64_t *ret_room)
{
    for (uint32_t level = 0; level <= level_max; level++) {
        int64_t best = INT64_MAX;
        for (uint32_t i = 0; i < scene->node_count; i++) {
            int64_t room = room_around(scene, free, i, level, cores);
            best = room >= needed && room < best ? room : best;
        }
        if (best < INT64_MAX) {
            *ret_level = level;
            *ret_room = best;
            return true;
        }
    }
    return false;
}

/* Drawing. */

static void add_node(struct scene *scene, struct tape *tape, uint32_t i)
{
    static const int by_key[SMALL_LEVELS] = {2, 1, 0};
    struct node *node = &scene->nodes[i];
    struct label labels[SMALL_LEVELS];
    char values[SMALL_LEVELS][16];
    uint32_t count = 0;

    (void)snprintf(node->name, sizeof(node->name), "n%02u", i);
    node->cluster = draw(tape, 0, 4) == 4 ? "f" : "e";
    node->cores = (int64_t)draw(tape, 1, 3);
    for (uint32_t l = 0; l < SMALL_LEVELS; l++) {
        uint32_t value = (uint32_t)draw(tape, 1, 4 - l);
        node->values[l] = draw(tape, 0, 9) == 9 ? MISSING : value;
    }
    for (uint32_t k = 0; k < SMALL_LEVELS; k++) {
        int l = by_key[k];
        if (node->values[l] != MISSING) {
            (void)snprintf(values[l], sizeof(values[l]), "v%u",
                           node->values[l]);
            labels[count++] = (struct label){keys[l], str_of(values[l])};
        }
    }
    node->index = world_node(
        scene->world,
        &(struct world_node){node->name, node->cores, .executor = node->cluster,
                             .labels = labels, .label_count = count});
}

static uint32_t draw_hops(struct tape *tape)
{
    return draw(tape, 0, 2) == 0 ? HOPS_ANY : (uint32_t)draw(tape, 0, 7);
}

static void scene_init(struct scene *scene, struct tape *tape)
{
    struct world *world = mem_alloc(sizeof(*world));

    *scene = (struct scene){.world = world};
    world_init(world);
    scene->level_count = (uint32_t)draw(tape, 1, SMALL_LEVELS);
    memcpy(world->policy.pools[0].topology, keys, sizeof(keys));
    world->policy.pools[0].level_count = scene->level_count;
    if (draw(tape, 0, 1)) {
        pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
        world->policy.pools[0].reservation_delay_ms = 0;
    }
    world_restart(world);
    scene->node_count = (uint32_t)draw(tape, 1, SMALL_NODES_MAX);
    for (uint32_t i = 0; i < scene->node_count; i++) {
        add_node(scene, tape, i);
    }
}

static void scene_fini(struct scene *scene)
{
    world_fini(scene->world);
    mem_free(scene->world);
}

static struct group *add_group(struct scene *scene, struct tape *tape,
                               uint32_t sub_group_max)
{
    struct group *group = &scene->groups[scene->group_count];
    static const char *const classes[] = {"mid", "low", "high"};

    *group =
        (struct group){.cores = (int64_t)draw(tape, 1, 2), .is_there = true};
    (void)snprintf(group->id, sizeof(group->id), "g%u", scene->group_count++);
    group->terms.sub_group_count = (uint32_t)draw(tape, 1, sub_group_max);
    group->terms.has_exclusive_nodes = draw(tape, 0, 4) == 4;
    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        struct sub_group *sub = &group->terms.sub_groups[i];
        sub->name = STR("s");
        sub->min_count = (uint32_t)draw(tape, 1, 6);
        sub->max_count = sub->min_count +
                         (sub_group_max > 1 ? (uint32_t)draw(tape, 0, 3) : 0);
        sub->hops_max = draw_hops(tape);
    }
    struct world_job member = {
        .queue = draw(tape, 0, 1) ? "A" : "B",
        .gang = group->id,
        .cores = group->cores,
        .priority_class =
            sub_group_max > 1 ? classes[draw(tape, 0, 2)] : classes[0],
    };
    group->first = world_submit_group(scene->world, &member, &group->terms);
    group->count = scene->world->job_count - group->first;
    return group;
}

static void end_group(struct scene *scene, struct group *group)
{
    for (uint32_t i = 0; group->is_there && i < group->count; i++) {
        if (!scene->world->is_gone[group->first + i]) {
            world_end(scene->world, group->first + i);
        }
    }
    group->is_there = false;
}

static const struct node *node_of(const struct scene *scene, uint32_t job)
{
    uint32_t index = scene->world->node_of[job];

    for (uint32_t i = 0; i < scene->node_count; i++) {
        if (!scene->world->is_gone[job] && scene->nodes[i].index == index) {
            return &scene->nodes[i];
        }
    }
    return NULL;
}

/* The highest level between any two of `count` jobs that run; and how many
 * do. */
static uint32_t level_over(const struct scene *scene, uint32_t first,
                           uint32_t count, uint32_t *ret_running)
{
    uint32_t level = 0;

    *ret_running = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const struct node *a = node_of(scene, i);
        *ret_running += a != NULL;
        for (uint32_t k = first; a && k < i; k++) {
            const struct node *b = node_of(scene, k);
            uint32_t between = b ? level_between(scene, a, b) : 0;
            level = between > level ? between : level;
        }
    }
    return level;
}

/* Properties. */

static uint32_t level_max_of(const struct scene *scene, uint32_t hops)
{
    if (hops == HOPS_ANY) {
        return scene->level_count + 1;
    }
    return hops / 2 < scene->level_count ? hops / 2 : scene->level_count;
}

/* One group of one sub-group waits, and the round may take free space only. */
static bool check_start(struct scene *scene, struct tape *tape)
{
    int64_t free[SMALL_NODES_MAX], room = 0;
    uint32_t level = 0, running;
    struct group *group = add_group(scene, tape, 1);
    uint32_t needed = group->terms.sub_groups[0].min_count;

    for (uint32_t i = 0; i < scene->node_count; i++) {
        int64_t used = used_on(scene, i);
        free[i] = scene->nodes[i].cores - used;
        if (group->terms.has_exclusive_nodes && used) {
            free[i] = 0;
        }
        for (uint32_t g = 0; g < scene->group_count; g++) {
            const struct group *other = &scene->groups[g];
            for (uint32_t j = 0;
                 other->terms.has_exclusive_nodes && j < other->count; j++) {
                free[i] = node_of(scene, other->first + j) == &scene->nodes[i]
                              ? 0
                              : free[i];
            }
        }
    }
    bool fits =
        find_best(scene, free, needed, group->cores,
                  level_max_of(scene, group->terms.sub_groups[0].hops_max),
                  &level, &room);
    world_round(scene->world, ROUND_FAST, 0);
    uint32_t reached = level_over(scene, group->first, group->count, &running);
    if (!fits) {
        bool waits = running == 0;
        end_group(scene, group);
        return waits;
    }
    if (running != needed || reached > level) {
        return false;
    }
    const struct node *any = node_of(scene, group->first);
    return room_around(scene, free, (uint32_t)(any - scene->nodes), level,
                       group->cores) == room;
}

static bool starts_are_as_near_as_can_be(struct tape *tape)
{
    struct scene scene;
    bool holds = true;

    scene_init(&scene, tape);
    /* What waits is not to be in the way of what comes. */
    scene.world->policy.pools[0].admitted_window = 0;
    sched_policy_set(scene.world->sched, &scene.world->policy);
    for (uint32_t i = 0; holds && i < GANGS_MAX; i++) {
        holds = check_start(&scene, tape);
        if (scene.group_count > 1 && draw(tape, 0, 2) == 0) {
            end_group(&scene,
                      &scene.groups[draw(tape, 0, scene.group_count - 1)]);
        }
    }
    scene_fini(&scene);
    return holds;
}

static bool are_caps_kept(const struct scene *scene)
{
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const struct group *group = &scene->groups[g];
        uint32_t first = group->first, running;
        for (uint32_t s = 0; s < group->terms.sub_group_count; s++) {
            const struct sub_group *sub = &group->terms.sub_groups[s];
            uint32_t level = level_over(scene, first, sub->max_count, &running);
            first += sub->max_count;
            if (running && level > level_max_of(scene, sub->hops_max)) {
                return false;
            }
        }
    }
    return true;
}

/* A pod is lost, or ends, or a group does, or one more comes. */
static void change(struct scene *scene, struct tape *tape)
{
    struct world *w = scene->world;
    uint64_t what = draw(tape, 0, 4);

    if (what <= 1 && scene->group_count < GANGS_MAX) {
        (void)add_group(scene, tape, 3);
    } else if (what == 2 && scene->group_count) {
        end_group(scene, &scene->groups[draw(tape, 0, scene->group_count - 1)]);
    } else if (what == 3 && w->job_count) {
        uint32_t job = (uint32_t)draw(tape, 0, w->job_count - 1);
        if (!w->is_gone[job] && w->node_of[job] != SCHED_NONE) {
            sched_job_requeue(w->sched, job,
                              draw(tape, 0, 1) ? w->node_of[job] : SCHED_NONE);
            w->node_of[job] = SCHED_NONE;
        }
    } else if (what == 4 && w->job_count + 1 < WORLD_JOBS_MAX) {
        (void)world_submit(w, &(struct world_job){.queue = "B", .cores = 1});
    }
}

static bool no_cap_is_ever_crossed(struct tape *tape)
{
    struct scene scene;
    bool holds = true;

    scene_init(&scene, tape);
    for (int64_t step = 0; holds && step < STEPS; step++) {
        change(&scene, tape);
        world_round(scene.world, draw(tape, 0, 2) ? ROUND_BALANCE : ROUND_FAST,
                    step * 10000);
        holds =
            are_caps_kept(&scene) && sched_is_consistent(scene.world->sched);
    }
    scene_fini(&scene);
    return holds;
}

/* Groups that the planner says could never start, by number. */
static uint32_t find_refused(const struct scene *scene)
{
    uint32_t refused = 0;

    for (uint32_t g = 0; g < scene->group_count; g++) {
        const struct group *group = &scene->groups[g];
        struct sched_gang_miss miss;
        uint32_t looks = 0;
        for (uint32_t i = 0; i < group->count; i++) {
            refused |= (uint32_t)!sched_gang_may_fit(scene->world->sched,
                                                     group->first + i, 0,
                                                     &looks, &miss)
                       << g;
        }
    }
    return refused;
}

static bool what_is_refused_never_starts(struct tape *tape)
{
    struct scene scene;
    bool holds = true;

    _Static_assert(GANGS_MAX <= 32, "a bit for each");
    scene_init(&scene, tape);
    for (int64_t step = 0; holds && step < STEPS; step++) {
        change(&scene, tape);
        uint32_t refused = find_refused(&scene);
        world_round(scene.world, draw(tape, 0, 2) ? ROUND_BALANCE : ROUND_FAST,
                    step * 10000);
        for (uint32_t g = 0; g < scene.group_count; g++) {
            const struct group *group = &scene.groups[g];
            holds &=
                !(refused >> g & 1) ||
                world_running_of(scene.world, group->first, group->count) == 0;
        }
    }
    scene_fini(&scene);
    return holds;
}

static void groups_start_as_near_as_can_be(void **state)
{
    (void)state;
    assert_true(prop_check("starts_are_as_near_as_can_be",
                           starts_are_as_near_as_can_be, RUNS, 0));
}

static void refused_groups_never_start(void **state)
{
    (void)state;
    assert_true(prop_check("what_is_refused_never_starts",
                           what_is_refused_never_starts, RUNS, 0));
}

static void caps_are_never_crossed(void **state)
{
    (void)state;
    assert_true(
        prop_check("no_cap_is_ever_crossed", no_cap_is_ever_crossed, RUNS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(groups_start_as_near_as_can_be),
        TEST(caps_are_never_crossed),
        TEST(refused_groups_never_start),
    };
    return RUN_TESTS(tests);
}
