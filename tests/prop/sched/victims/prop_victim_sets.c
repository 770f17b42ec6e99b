/*
 * Prices of places and victims, drawn by themselves: what is better is better
 * whichever is looked at first (sets.h, victims.h).
 *
 *   - the order of sets has no circles, and none of two nodes are equal
 *   - so has the order in which victims on a node keep their places
 */
#include <stdio.h>

#include "prop.h"
#include "sched/state/state.h"
#include "sched/victims/searches.h"
#include "sched/victims/sets.h"
#include "unit.h"
#include "world.h"

enum { GROUPS = 6, JOBS = GROUPS * 2, ITEMS = 7, RUNS = 4000 };

static const char *const queue_names[] = {"A", "B", "C"};
static const char *const group_names[GROUPS] = {"g0", "g1", "g2",
                                                "g3", "g4", "g5"};

/* Gangs that run, and a round that ranks their queues. */
struct scene {
    struct world world;
    struct round round;
    struct searches searches;
    uint32_t ranks[WORLD_QUEUES_MAX];
};

static struct scene *scene_create(struct tape *tape)
{
    struct scene *scene = mem_alloc(sizeof(*scene));
    struct world *w = &scene->world;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_init(w);
    for (size_t i = 0; i < ARRAY_COUNT(queue_names); i++) {
        enum queue_ordering by =
            draw(tape, 0, 1) ? QUEUE_BY_CFS : QUEUE_BY_PRIORITY;
        world_queue_by(w, queue_names[i],
                       &(struct queue_record){.ordering = by});
    }
    uint32_t node =
        world_node(w, &(struct world_node){.name = "n", .cores = JOBS});
    for (uint32_t i = 0; i < GROUPS; i++) {
        struct world_job member = {
            .queue = queue_names[draw(tape, 0, ARRAY_COUNT(queue_names) - 1)],
            .gang = group_names[i],
        };
        uint32_t first = world_submit_group(w, &member, &terms);
        world_lease(w, first, node, (int64_t)draw(tape, 0, 3));
        world_lease(w, first + 1, node, (int64_t)draw(tape, 0, 3));
    }
    world_round(w, ROUND_FAST, 1000);
    for (size_t i = 0; i < w->sched->queues.count; i++) {
        scene->ranks[i] = (uint32_t)draw(tape, 0, 2);
    }
    scene->searches = (struct searches){.queue_ranks = scene->ranks};
    scene->round = (struct round){
        .sched = w->sched,
        .searches = &scene->searches,
    };
    return scene;
}

static void scene_destroy(struct scene *scene)
{
    world_fini(&scene->world);
    mem_free(scene);
}

static uint32_t gang_of(const struct scene *scene, uint32_t job)
{
    return scene->world.sched->jobs.items[job].gang;
}

/* One of the last places costs nothing. */
static struct victim_set draw_set(struct scene *scene, struct tape *tape,
                                  uint32_t node)
{
    struct victim_set set = {
        .ordinal = UINT32_MAX,
        .surplus_of = NONE,
        .group = NONE,
        .node = node,
        .node_rank = node,
    };
    uint32_t job = (uint32_t)draw(tape, 0, JOBS - 1);

    if (node + 1 == ITEMS) {
        return set;
    }
    set.count = (uint32_t)draw(tape, 1, 2);
    set.protected_count = draw(tape, 0, 7) == 7;
    set.rank_max = draw(tape, 0, 7) < 7;
    set.rank_sum = set.rank_max * set.count;
    set.hops = draw(tape, 0, 7) == 7;
    set.lost = draw(tape, 0, 2);
    if (draw(tape, 0, 2)) {
        set.surplus_of = gang_of(scene, job);
        set.group = draw(tape, 0, 3) ? set.surplus_of : NONE;
        set.pod = job;
    } else {
        set.ordinal =
            draw(tape, 0, 3) ? (uint32_t)draw(tape, 0, 3) : UINT32_MAX;
    }
    return set;
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

static bool has_no_circle(bool is_before[ITEMS][ITEMS])
{
    for (uint32_t a = 0; a < ITEMS; a++) {
        for (uint32_t b = 0; b < ITEMS; b++) {
            if (is_before[a][b] == (a == b || is_before[b][a])) {
                return false;
            }
            for (uint32_t c = 0; c < ITEMS; c++) {
                if (is_before[a][b] && is_before[b][c] && !is_before[a][c]) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool sets_have_one_order(struct tape *tape)
{
    struct scene *scene = scene_create(tape);
    struct victim_set sets[ITEMS];
    bool is_before[ITEMS][ITEMS] = {0}, holds = true;

    for (uint32_t i = 0; i < ITEMS; i++) {
        sets[i] = draw_set(scene, tape, i);
    }
    for (uint32_t a = 0; a < ITEMS; a++) {
        for (uint32_t b = 0; b < ITEMS; b++) {
            int c = victim_set_compare(&scene->round, &sets[a], &sets[b]);
            int d = victim_set_compare(&scene->round, &sets[b], &sets[a]);
            is_before[a][b] = c < 0;
            holds &= sign(c) == -sign(d) && (c == 0) == (a == b);
        }
    }
    holds &= has_no_circle(is_before);
    scene_destroy(scene);
    return holds;
}

static struct victim draw_victim(struct scene *scene, struct tape *tape,
                                 uint32_t job)
{
    struct victim victim = {
        .job = job,
        .gang = NONE,
        .group = NONE,
        .level = draw(tape, 0, 7) == 7,
        .leased_ms = (int64_t)draw(tape, 0, 2),
        .protected_count = draw(tape, 0, 7) == 7,
        .is_borrowed = draw(tape, 0, 7) == 7,
        .is_revocable = draw(tape, 0, 3) == 3,
        .is_evicted = draw(tape, 0, 1),
    };

    victim.ordinal = victim.is_evicted ? (uint32_t)draw(tape, 0, 3) : 0;
    if (draw(tape, 0, 2)) {
        victim.group = gang_of(scene, job);
        victim.is_surplus = true;
    }
    return victim;
}

static bool victims_have_one_order(struct tape *tape)
{
    struct scene *scene = scene_create(tape);
    struct victim victims[ITEMS];
    bool is_before[ITEMS][ITEMS];

    for (uint32_t i = 0; i < ITEMS; i++) {
        victims[i] = draw_victim(scene, tape, i);
    }
    for (uint32_t a = 0; a < ITEMS; a++) {
        for (uint32_t b = 0; b < ITEMS; b++) {
            is_before[a][b] =
                victim_is_kept_before(&scene->round, &victims[a], &victims[b]);
        }
    }
    bool holds = has_no_circle(is_before);
    scene_destroy(scene);
    return holds;
}

int main(void)
{
    bool holds =
        prop_check("sets_have_one_order", sets_have_one_order, RUNS, 0);

    holds &=
        prop_check("victims_have_one_order", victims_have_one_order, RUNS, 0);
    return holds ? 0 : 1;
}
