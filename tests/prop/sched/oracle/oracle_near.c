/* Sub-groups near together: racks are the lowest level, then rows where there
 * are any; the cluster is above.  A rack is one of its row.
 * Where others must make way they are placed one after the other, each where it
 * is best for itself; if those that come after have no room then, where it is
 * next best. */
#include "oracle_private.h"

enum {
    ROW = 2,
    CLUSTER = 3,
    SUB_GROUPS = 3,
    CLUSTERS = 2,
    LABELS = 3, /* of a level: none, and two */
    PLACES_MAX = INSTANCE_NODES_MAX + 9,
    WAYS_MAX = 8, /* that are tried where others must make way */
};

int oracle_height(const struct oracle *o, int level)
{
    return level == CLUSTER && !o->in->has_rows ? ROW : level;
}

int oracle_distance(const struct oracle *o, int a, int b)
{
    const struct instance_node *x = &o->in->nodes[a], *y = &o->in->nodes[b];

    if (a == b) {
        return 0;
    }
    if (x->rack && x->rack == y->rack && x->row == y->row) {
        return 1;
    }
    return oracle_height(o, x->row && x->row == y->row ? ROW : CLUSTER);
}

/* Nodes that hold enough. */
struct place {
    int level, name; /* the node, the rack_of() one, or the row */
    int count;
    uint64_t key;
};

/* Of so many like a job those that a hold lets pass on a node. */
static int passing(const struct oracle *o, int job, int node, int most)
{
    enum pass pass = oracle_pass(o, job, node);

    if (pass == BACKFILL_NO) {
        return 0;
    }
    if (pass != BACKFILL_BESIDE || !o->hold.is_made ||
        !o->hold.is_reserved[node] ||
        oracle_level(o, job) > oracle_level(o, o->hold.unit)) {
        return most;
    }
    for (int k = 0; k < NODE_KINDS; k++) {
        int asked = o->in->jobs[job].request[k];
        int extra = o->hold.extra[node][k];
        most = asked && extra / asked < most ? extra / asked : most;
    }
    return most;
}

static int count_on(const struct oracle *o, int job, int node)
{
    /* A node that is to show that it no longer fails takes one job. */
    int most = o->in->nodes[node].health == NODE_TRIAL ? 1 : INT_MAX;

    for (int k = 0; k < NODE_KINDS; k++) {
        int asked = o->in->jobs[job].request[k], free = oracle_free(o, node, k);
        if (free < asked) {
            return 0;
        }
        most = asked && free / asked < most ? free / asked : most;
    }
    return oracle_allows(o, job, node) ? passing(o, job, node, most) : 0;
}

static uint64_t key_of(const struct oracle *o, int node)
{
    int room[INSTANCE_KINDS] = {oracle_free(o, node, 0),
                                oracle_free(o, node, 1)};

    return oracle_weigh(o, room);
}

/* The rack of a node by its whole path, or 0. */
static int rack_of(const struct instance_node *node)
{
    return node->rack ? node->row * LABELS + node->rack : 0;
}

static bool is_in(const struct oracle *o, const struct place *place, int node)
{
    const struct instance_node *record = &o->in->nodes[node];

    switch (place->level) {
    case 0:
        return place->name == node;
    case 1:
        return rack_of(record) == place->name;
    case ROW:
        return record->row == place->name;
    default:
        return true;
    }
}

/* The level that a cap on hops allows. */
static int level_of_cap(const struct oracle *o, int hops)
{
    int most = o->in->has_rows ? ROW : 1;

    return hops == NO_LIMIT ? CLUSTER : hops / 2 < most ? hops / 2 : most;
}

/* How many names there may be at a level, from 0 at nodes and else from 1. */
static int names_end(const struct oracle *o, int level)
{
    return level == 0     ? o->in->node_count
           : level == 1   ? LABELS * LABELS
           : level == ROW ? LABELS
                          : 2;
}

static void measure(const struct oracle *o, int job, struct place *place)
{
    place->count = 0;
    place->key = 0;
    for (int n = 0; n < o->in->node_count; n++) {
        int count = is_in(o, place, n) ? count_on(o, job, n) : 0;
        place->count += count;
        place->key += count ? key_of(o, n) : 0;
    }
}

static bool goes_before(const struct place *a, const struct place *b)
{
    if (a->level != b->level) {
        return a->level < b->level;
    }
    if (a->count != b->count) {
        return a->count < b->count;
    }
    return a->key != b->key ? a->key < b->key : a->name < b->name;
}

/* Whether a place holds what runs of the sub-group of a job; that of a node
 * holds only what is all there. */
static bool is_around(const struct oracle *o, int job,
                      const struct place *place)
{
    for (int j = 0; j < o->in->job_count; j++) {
        bool counts = oracle_runs(o, j) || o->status[j] == ENDED;
        if (counts && oracle_same_gang(o, job, j) &&
            o->in->jobs[j].sub_group == o->in->jobs[job].sub_group &&
            !is_in(o, place, o->node[j])) {
            return false;
        }
    }
    return true;
}

/* The highest level that a job's sub-group may have: of its cap, or that it is
 * spread over as it is. */
static int level_max_of(const struct oracle *o, int job)
{
    int level_max = level_of_cap(o, o->in->jobs[job].hops);

    for (int level = 0; level < CLUSTER; level++) {
        for (int name = level > 0; name < names_end(o, level); name++) {
            struct place place = {.level = level, .name = name};
            if (is_around(o, job, &place)) {
                return level > level_max ? level : level_max;
            }
        }
    }
    return CLUSTER;
}

/* All places that hold `needed` pods like `job`, the best first. */
static int find_places(const struct oracle *o, int job, int needed,
                       struct place *places)
{
    int level_max = level_max_of(o, job), count = 0;

    for (int level = 0; level <= level_max; level++) {
        for (int name = level > 0; name < names_end(o, level); name++) {
            struct place place = {level, name, 0, 0};
            measure(o, job, &place);
            if (place.count < needed || !is_around(o, job, &place)) {
                continue;
            }
            int at = count++;
            for (; at > 0 && goes_before(&place, &places[at - 1]); at--) {
                places[at] = places[at - 1];
            }
            places[at] = place;
        }
    }
    return count;
}

/* Of nodes that a gang has whole the least costly. */
static bool fill_whole(struct oracle *o, int job, const struct place *place,
                       bool may_clear)
{
    bool nodes[INSTANCE_NODES_MAX];

    for (int n = 0; n < o->in->node_count; n++) {
        nodes[n] = is_in(o, place, n);
    }
    return oracle_place_whole_near(o, job, nodes, may_clear);
}

/* Fill node after node of a place, the fullest first. */
static void fill(struct oracle *o, int gang, int sub_group,
                 const struct place *place)
{
    const struct oracle before = *o;
    int left = 0, node = NO_NODE;
    bool is_used[INSTANCE_NODES_MAX] = {0};

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] != WAITING || !oracle_same_gang(o, gang, j) ||
            o->in->jobs[j].sub_group != sub_group) {
            continue;
        }
        for (int n = 0; left == 0 && n < o->in->node_count; n++) {
            if (!is_used[n] && is_in(o, place, n) &&
                count_on(&before, j, n) > 0 &&
                (node == NO_NODE || is_used[node] ||
                 key_of(&before, n) < key_of(&before, node))) {
                node = n;
            }
        }
        if (left == 0) {
            is_used[node] = true;
            left = count_on(&before, j, node);
        }
        oracle_lease(o, j, node);
        left--;
    }
}

/* What the sub-group of a job asks for, at a place with room for it. */
static bool put(struct oracle *o, int job, const struct place *place)
{
    if (o->in->jobs[job].is_whole) {
        return fill_whole(o, job, place, false);
    }
    fill(o, job, o->in->jobs[job].sub_group, place);
    return true;
}

/* The first that is asked for of a sub-group, or -1; how many are. */
static int first_asked(const struct oracle *o, int gang, int sub_group,
                       int *ret_count)
{
    int first = -1;

    *ret_count = 0;
    for (int j = o->in->job_count - 1; j >= 0; j--) {
        if (o->status[j] == WAITING && oracle_same_gang(o, gang, j) &&
            o->in->jobs[j].sub_group == sub_group) {
            first = j;
            (*ret_count)++;
        }
    }
    return first;
}

/* Of those that ask, the one with the tightest cap, then the largest. */
static int next_sub_group(const struct oracle *o, int gang)
{
    int best = -1, best_level = 0, best_count = 0;

    for (int s = 0; s < SUB_GROUPS; s++) {
        int count, first = first_asked(o, gang, s, &count);
        if (first < 0) {
            continue;
        }
        int level = level_of_cap(o, o->in->jobs[first].hops);
        if (best < 0 || level < best_level ||
            (level == best_level && count > best_count)) {
            best = s;
            best_level = level;
            best_count = count;
        }
    }
    return best;
}

/* Sub-group after sub-group, in free space. */
static bool place_near(struct oracle *o, int gang)
{
    struct place places[PLACES_MAX];
    int sub_group = next_sub_group(o, gang), needed;

    if (sub_group < 0) {
        return true;
    }
    int first = first_asked(o, gang, sub_group, &needed);
    int count = find_places(o, first, needed, places);
    for (int i = 0; i < count; i++) {
        const struct oracle saved = *o;
        const struct oracle_plan saved_plan = *o->plan;
        o->nearness.levels += oracle_height(o, places[i].level);
        o->nearness.count += places[i].count;
        o->nearness.key += places[i].key;
        if (put(o, first, &places[i]) && place_near(o, gang)) {
            return true;
        }
        *o = saved;
        *o->plan = saved_plan;
    }
    return false;
}

static bool is_nearer(const struct nearness *a, const struct nearness *b)
{
    if (a->levels != b->levels) {
        return a->levels < b->levels;
    }
    return a->count != b->count ? a->count < b->count : a->key < b->key;
}

/* Place it in a cluster, or anywhere (0). */
static bool place_in(struct oracle *o, int gang, unsigned cluster)
{
    o->only = cluster;
    o->nearness = (struct nearness){0};
    bool is_placed = place_near(o, gang);
    o->only = 0;
    return is_placed;
}

bool oracle_place_near(struct oracle *o, int gang)
{
    unsigned best = 0;
    struct nearness nearest = {0};

    if (o->only || oracle_group_count(o, gang) == 1) {
        return place_in(o, gang, o->only);
    }
    for (int i = 0; i < oracle_group_count(o, gang); i++) {
        const struct oracle saved = *o;
        const struct oracle_plan saved_plan = *o->plan;
        unsigned cluster = oracle_group(o, gang, i);
        if (cluster && place_in(o, gang, cluster) &&
            (!best || is_nearer(&o->nearness, &nearest))) {
            best = cluster;
            nearest = o->nearness;
        }
        *o = saved;
        *o->plan = saved_plan;
    }
    return best && place_in(o, gang, best);
}

/* Where others must make way. */

/* The same where others may lose their places. */
static bool force_at(struct oracle *o, int job, const struct place *place)
{
    if (o->in->jobs[job].is_whole) {
        return fill_whole(o, job, place, true);
    }
    unsigned cluster = o->only, nodes = 0;
    for (int n = 0; n < o->in->node_count; n++) {
        nodes |= is_in(o, place, n) ? 1u << n : 0;
    }
    o->only = cluster ? nodes & cluster : nodes;
    bool is_placed =
        o->only && oracle_place_members(o, job, o->in->jobs[job].sub_group);
    o->only = cluster;
    return is_placed;
}

/* Add a rack of a row and its nodes, or (0) those nodes of it that are in no
 * rack; returns the number of places. */
static int add_rack(const struct oracle *o, int row, int rack, int level_max,
                    struct place *places, int count)
{
    if (rack && level_max > 0) {
        places[count++] =
            (struct place){.level = 1, .name = row * LABELS + rack};
    }
    for (int n = 0; n < o->in->node_count; n++) {
        if (o->in->nodes[n].row == row && o->in->nodes[n].rack == rack) {
            places[count++] = (struct place){.level = 0, .name = n};
        }
    }
    return count;
}

/* Places of up to a level, in the order in which equals stand: nodes of no
 * rack, then each rack before its nodes; those of no row before each row, and
 * that before what is in it. */
static int all_levels(const struct oracle *o, int level_max,
                      struct place *places)
{
    int count = 0;

    if (level_max == CLUSTER) {
        places[0] = (struct place){.level = CLUSTER};
        return 1;
    }
    for (int row = 0; row < LABELS; row++) {
        if (row && level_max >= ROW) {
            places[count++] = (struct place){.level = ROW, .name = row};
        }
        for (int rack = 0; rack < LABELS; rack++) {
            count = add_rack(o, row, rack, level_max, places, count);
        }
    }
    return count;
}

/* Those that a sub-group may have. */
static int all_places(const struct oracle *o, int job, struct place *places)
{
    int count = all_levels(o, level_max_of(o, job), places), kept = 0;

    for (int i = 0; i < count; i++) {
        if (is_around(o, job, &places[i])) {
            places[kept++] = places[i];
        }
    }
    return kept;
}

/* The nodes of a place, as bits. */
static unsigned all_of(const struct oracle *o, const struct place *place)
{
    unsigned nodes = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        nodes |= is_in(o, place, n) ? 1u << n : 0;
    }
    return nodes;
}

/* Those of them that are part of no other. */
static int highest_places(const struct oracle *o, int job, struct place *places)
{
    int count = all_places(o, job, places), kept = 0;

    for (int i = 0; i < count; i++) {
        unsigned nodes = all_of(o, &places[i]);
        bool is_part = false;
        for (int k = 0; k < kept; k++) { /* wholes stand before their parts */
            is_part |= places[k].level > places[i].level &&
                       (nodes & all_of(o, &places[k])) == nodes;
        }
        if (!is_part && nodes) {
            places[kept++] = places[i];
        }
    }
    return kept;
}

/* Whether others made way since. */
static bool takes(const struct oracle *o, const struct oracle *before)
{
    bool takes = false;

    for (int i = before->plan->count; i < o->plan->count; i++) {
        takes |= o->plan->decisions[i].action == SCHED_PREEMPT;
    }
    return takes;
}

/* Of some places the one at which others lose least, or NULL. */
static const struct place *cheapest(const struct oracle *o, int job, int first,
                                    const struct place *places, int count)
{
    const struct place *best = NULL;
    struct price best_price;

    for (int i = 0; i < count; i++) {
        struct oracle scratch = *o;
        struct oracle_plan plan = *o->plan;
        scratch.plan = &plan;
        if (!force_at(&scratch, job, &places[i]) || !takes(&scratch, o)) {
            continue; /* what free space had room for was tried before */
        }
        struct price price = oracle_price_since(&scratch, job, first);
        if (!best || oracle_price_compare(o, &price, &best_price) < 0) {
            best = &places[i];
            best_price = price;
        }
    }
    return best;
}

static bool force(struct oracle *o, int gang, int first, int *ways);

/* One way to place a sub-group, and then the others. */
static bool try_way(struct oracle *o, int job, const struct place *place,
                    bool is_forced, int first, int *ways)
{
    const struct oracle saved = *o;
    const struct oracle_plan saved_plan = *o->plan;

    if ((*ways)++ < WAYS_MAX &&
        (is_forced ? force_at(o, job, place) : put(o, job, place)) &&
        force(o, job, first, ways)) {
        return true;
    }
    *o = saved;
    *o->plan = saved_plan;
    return false;
}

static bool force(struct oracle *o, int gang, int first, int *ways)
{
    struct place places[PLACES_MAX];
    int sub_group = next_sub_group(o, gang), needed;

    if (sub_group < 0) {
        return true;
    }
    int job = first_asked(o, gang, sub_group, &needed);
    int count = find_places(o, job, needed, places);
    for (int i = 0; i < count; i++) {
        if (try_way(o, job, &places[i], false, first, ways)) {
            return true;
        }
    }
    count = all_places(o, job, places);
    for (const struct place *best;
         *ways < WAYS_MAX &&
         (best = cheapest(o, job, first, places, count)) != NULL;) {
        struct place place = *best;
        for (int i = (int)(best - places); i + 1 < count; i++) {
            places[i] = places[i + 1];
        }
        count--;
        if (try_way(o, job, &place, true, first, ways)) {
            return true;
        }
    }
    return false;
}

bool oracle_force_near(struct oracle *o, int gang, int first)
{
    int ways = 0;

    return force(o, gang, first, &ways);
}

/* Pods like a job that an empty node holds, also one that is closed now. */
static int count_empty(const struct oracle *o, int job, int node)
{
    const struct instance_job *record = &o->in->jobs[job];
    const struct instance_node *n = &o->in->nodes[node];
    int most = INT_MAX;

    for (int k = 0; k < NODE_KINDS; k++) {
        int asked = record->request[k];
        most = asked && n->capacity[k] / asked < most ? n->capacity[k] / asked
                                                      : most;
    }
    return n->pool != o->in->pool ||
                   (record->rack && record->rack != n->rack) ||
                   (n->is_tainted && !record->is_tolerant)
               ? 0
               : most;
}

bool oracle_may_be_near(const struct oracle *o, int gang)
{
    for (int s = 0; s < SUB_GROUPS; s++) {
        struct place places[PLACES_MAX];
        int needed, first = first_asked(o, gang, s, &needed);
        if (first < 0 || o->in->jobs[first].hops == NO_LIMIT) {
            continue;
        }
        int count = all_levels(o, level_max_of(o, first), places);
        bool has_any = false;
        for (int i = 0; i < count * CLUSTERS; i++) {
            int held = 0;
            for (int n = 0; n < o->in->node_count; n++) {
                held += is_in(o, &places[i / CLUSTERS], n) &&
                                o->in->nodes[n].cluster == i % CLUSTERS
                            ? count_empty(o, first, n)
                            : 0;
            }
            has_any |= held >= needed;
        }
        if (!has_any) {
            return false;
        }
    }
    return true;
}

/* The open nodes of a place in a cluster, as bits. */
static unsigned nodes_of(const struct oracle *o, int gang,
                         const struct place *place, int cluster)
{
    unsigned nodes = oracle_group(o, gang, cluster);

    for (int n = 0; n < o->in->node_count; n++) {
        nodes &= is_in(o, place, n) ? ~0u : ~(1u << n);
    }
    return nodes;
}

int oracle_domains(const struct oracle *o, int gang,
                   unsigned domains[ORACLE_DOMAINS_MAX])
{
    struct place places[PLACES_MAX] = {{.level = CLUSTER}};
    int sub_group = next_sub_group(o, gang), needed, asking = 0;
    int first = first_asked(o, gang, sub_group, &needed), count = 1, kept = 0;
    int clusters = oracle_group_count(o, gang);

    for (int s = 0; s < SUB_GROUPS; s++) {
        asking += first_asked(o, gang, s, &needed) >= 0;
    }
    if (asking == 1 && level_max_of(o, first) < CLUSTER) {
        count = highest_places(o, first, places);
    }
    /* Nodes that are in no domain stand first; then cluster by cluster. */
    for (int level = 0; level <= CLUSTER; level++) {
        for (int c = 0; c < clusters; c++) {
            for (int i = 0; i < count; i++) {
                unsigned nodes = nodes_of(o, gang, &places[i], c);
                if (places[i].level == level && nodes) {
                    domains[kept++] = nodes;
                }
            }
        }
    }
    return kept;
}

int oracle_find_near(const struct oracle *o, int job)
{
    struct place places[PLACES_MAX];
    int count = find_places(o, job, 1, places);

    for (int i = 0; i < count; i++) {
        int best = NO_NODE;
        for (int n = 0; n < o->in->node_count; n++) {
            if (is_in(o, &places[i], n) && count_on(o, job, n) > 0 &&
                !oracle_is_kept(o, job, n) &&
                (best == NO_NODE || key_of(o, n) < key_of(o, best))) {
                best = n;
            }
        }
        if (best != NO_NODE) {
            return best;
        }
    }
    return NO_NODE;
}
