/*
 * Preferred node affinity and PreferNoSchedule taints, against an oracle that
 * looks at all nodes.
 *
 *   - a job starts on the node with least free; of those with equally little on
 *     the one with fewest soft taints that it does not tolerate, then on the
 *     one whose matching preferences weigh most, then on the first by name
 *   - a world without the wishes has as much free on its nodes after each plan,
 *     and as many jobs run
 */
#include "prop.h"
#include "unit.h"
#include "world.h"

enum { NODES = 9, JOBS = 60, RUNS = 800, LABELS = 2, WEIGHTS = 3 };

static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4",
                                         "n5", "n6", "n7", "n8"};
static const char *const values[] = {"a", "b", "c"};

struct node {
    const char *zone, *disk; /* NULL: without */
    const char *soft_taint;
    int64_t free;
};

struct wish {
    int zone_weight, disk_weight; /* 0: no preference */
    const char *zone, *disk;
    const char *tolerated;
};

struct game {
    struct world world, plain; /* the second without wishes */
    struct node nodes[NODES];
    struct wish wishes[JOBS];
    bool was_running[JOBS];
};

static const char *draw_value(struct tape *tape)
{
    int v = pick(tape, 0, 3);

    return v ? values[v - 1] : NULL;
}

static void draw_node(struct game *game, struct tape *tape, int n)
{
    struct node *node = &game->nodes[n];
    struct label labels[LABELS];
    uint32_t count = 0;

    *node = (struct node){
        .zone = draw_value(tape),
        .disk = draw_value(tape),
        .soft_taint = once_in(tape, 3) ? draw_value(tape) : NULL,
        .free = pick(tape, 1, 3) * 4,
    };
    if (node->disk) {
        labels[count++] = (struct label){STR("disk"), str_of(node->disk)};
    }
    if (node->zone) {
        labels[count++] = (struct label){STR("zone"), str_of(node->zone)};
    }
    struct world_node record = {.name = names[n],
                                .cores = node->free,
                                .memory_gb = 1,
                                .labels = labels,
                                .label_count = count,
                                .soft_taint = node->soft_taint};
    world_node(&game->world, &record);
    record.soft_taint = NULL;
    world_node(&game->plain, &record);
}

static void submit(struct game *game, struct tape *tape)
{
    struct wish *wish = &game->wishes[game->world.job_count];
    struct affinity_expression expressions[2];
    struct preference preferences[2];
    struct str texts[2];
    uint32_t count = 0;

    *wish = (struct wish){
        .zone_weight = pick(tape, 0, WEIGHTS),
        .disk_weight = pick(tape, 0, WEIGHTS),
        .zone = values[pick(tape, 0, 2)],
        .disk = values[pick(tape, 0, 2)],
        .tolerated = once_in(tape, 4) ? values[pick(tape, 0, 2)] : NULL,
    };
    for (int i = 0; i < 2; i++) {
        int weight = i ? wish->disk_weight : wish->zone_weight;
        texts[i] = str_of(i ? wish->disk : wish->zone);
        expressions[i] = (struct affinity_expression){
            .key = i ? STR("disk") : STR("zone"),
            .op = AFFINITY_IN,
            .values = &texts[i],
            .value_count = 1,
        };
        if (weight) {
            preferences[count++] =
                (struct preference){(uint32_t)weight, {&expressions[i], 1}};
        }
    }
    struct world_job job = {.queue = "A",
                            .cores = pick(tape, 1, 4),
                            .submitted_ms = game->world.job_count,
                            .tolerated = wish->tolerated,
                            .preferences = preferences,
                            .preference_count = count};
    world_submit(&game->world, &job);
    job.preference_count = 0;
    world_submit(&game->plain, &job);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* What the job would have of a node, a soft taint first. */
static int score(const struct wish *wish, const struct node *node)
{
    bool is_soft =
        node->soft_taint && !is_same(node->soft_taint, wish->tolerated);

    return (is_same(node->zone, wish->zone) ? wish->zone_weight : 0) +
           (is_same(node->disk, wish->disk) ? wish->disk_weight : 0) -
           (is_soft ? 1000 : 0);
}

static int expected_node(const struct game *game, uint32_t job)
{
    int best = NODES;

    for (int n = 0; n < NODES; n++) {
        const struct node *node = &game->nodes[n];
        if (node->free < game->world.records[job].cores) {
            continue;
        }
        if (best == NODES || node->free < game->nodes[best].free ||
            (node->free == game->nodes[best].free &&
             score(&game->wishes[job], node) >
                 score(&game->wishes[job], &game->nodes[best]))) {
            best = n;
        }
    }
    return best;
}

static bool plan(struct game *game, enum round_kind kind)
{
    uint32_t running = 0, plain_running = 0;
    bool holds = true;

    world_round(&game->world, kind, 1);
    world_round(&game->plain, kind, 1);
    for (uint32_t j = 0; holds && j < game->world.job_count; j++) {
        if (!game->was_running[j] && !game->world.is_gone[j]) {
            int node = expected_node(game, j);
            const char *name = node == NODES ? "" : names[node];
            holds = strcmp(world_node_of(&game->world, j), name) == 0;
            game->was_running[j] = node != NODES;
            if (node != NODES) {
                game->nodes[node].free -= game->world.records[j].cores;
            }
        }
        running += game->world.node_of[j] != SCHED_NONE;
        plain_running += game->plain.node_of[j] != SCHED_NONE;
    }
    return holds && running == plain_running &&
           sched_is_consistent(game->world.sched);
}

static bool wishes_choose_among_equals(struct tape *tape)
{
    struct game *game = mem_alloc(sizeof(*game));
    bool holds = true;

    *game = (struct game){0};
    world_init(&game->world);
    world_init(&game->plain);
    for (int n = 0; n < NODES; n++) {
        draw_node(game, tape, n);
    }
    for (int left = pick(tape, 0, 8); holds && left > 0; left--) {
        for (int i = pick(tape, 1, 7); i > 0 && game->world.job_count < JOBS;
             i--) {
            submit(game, tape);
        }
        holds = plan(game, ROUND_FAST);
    }
    holds = holds && plan(game, ROUND_BALANCE);
    world_fini(&game->world);
    world_fini(&game->plain);
    mem_free(game);
    return holds;
}

int main(void)
{
    return prop_check("wishes_choose_among_equals", wishes_choose_among_equals,
                      RUNS, 0)
               ? 0
               : 1;
}
