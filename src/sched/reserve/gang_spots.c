/* Places the members of a gang on what nodes have free at a given time. */
#include "sched/reserve/gang_spots.h"

#include <stdlib.h>

#include "sched/data/merge_sort.h"
#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_place.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"
#include "sched/state/windows.h"

static bool goes_before(const struct spots *spots, uint32_t a, uint32_t b)
{
    const struct spot *x = &spots->items[a], *y = &spots->items[b];
    const uint32_t *ranks = spots->r->round->sched->ranks;

    if (x->key != y->key) {
        return spots->is_on_empty ? x->key > y->key : x->key < y->key;
    }
    return ranks[x->node] < ranks[y->node];
}

static void sort_order(struct spots *spots)
{
    uint32_t *items = spots->order, *spare = spots->spare;

#define GOES_BEFORE(b, a) goes_before(spots, *(b), *(a))
    spots->order = MERGE_SORT(items, spare, spots->order_count, GOES_BEFORE);
#undef GOES_BEFORE
    spots->spare = spots->order == items ? spare : items;
}

/* The spots of the group that a member may use, in order. */
static void choose_order(struct spots *spots, uint32_t job)
{
    const struct round *round = spots->r->round;
    uint32_t count = spots->only ? spots->only->count : spots->count;

    spots->order_count = 0;
    round->counters->nodes_examined += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = spots->only ? spots->place[spots->only->nodes[i]] : i;
        if (at != NONE &&
            reserve_matches(spots->r, job, spots->items[at].node)) {
            spots->items[at].key =
                pool_weigh(round->pool, &spots->items[at].room);
            spots->order[spots->order_count++] = at;
        }
    }
    ASSERT(spots->order_count <= spots->count);
    sort_order(spots);
}

static bool take_spot(struct spots *spots, struct spot *spot,
                      const struct resource_vec *request)
{
    const struct node *node = &spots->r->round->sched->nodes.items[spot->node];
    struct resource_vec left = spot->room;

    if (spots->is_on_empty) {
        left = node->capacity;
        amounts_subtract(&left, &spot->taken);
    }
    if (!amounts_fit(request, &left)) {
        return false;
    }
    amounts_subtract(&spot->room, request);
    amounts_add(&spot->taken, request);
    ASSERT(amounts_is_sum(&spot->taken));
    return true;
}

static int compare_classes(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->class_index != y->class_index) {
        return x->class_index < y->class_index ? -1 : 1;
    }
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int compare_kinds(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->kind_first != y->kind_first) {
        return x->kind_first < y->kind_first ? -1 : 1;
    }
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

uint32_t spots_list_members(struct spots *spots)
{
    const struct sched *sched = spots->r->round->sched;
    const struct seq *waiting = &spots->gang->waiting;
    struct member *members = arena_alloc_array(
        spots->r->round->arena, waiting->count, sizeof(*members));
    uint32_t count = 0, kinds = 0;

    for (struct seq_cursor c = {0}; !seq_is_end(waiting, c);
         seq_next(waiting, &c)) {
        uint32_t job = seq_get(waiting, c);
        members[count] =
            (struct member){job, class_of_job(sched, job), count, count};
        kinds += (sched->job_flags.items[job] & JOB_AVOIDS) != 0;
        count++;
    }
    qsort(members, count, sizeof(*members), compare_classes);
    for (uint32_t i = 0; i < count; i++) {
        bool is_first =
            i == 0 || members[i].class_index != members[i - 1].class_index;
        members[i].kind_first =
            is_first ? members[i].ordinal : members[i - 1].kind_first;
        kinds += is_first;
    }
    qsort(members, count, sizeof(*members), compare_kinds);
    ASSERT(kinds > 0 && kinds <= 2 * count);
    spots->members = members;
    spots->member_count = count;
    return kinds;
}

/* Whether enough members find a place. */
static bool fill(struct spots *spots)
{
    const struct sched *sched = spots->r->round->sched;
    uint32_t done = 0, skipped = 0, last_class = NONE, at = 0;

    ASSERT(spots->needed + spots->skipped_max == spots->member_count);
    for (uint32_t i = 0; i < spots->member_count; i++) {
        uint32_t job = spots->members[i].job;
        uint32_t class_index = spots->members[i].class_index;
        bool has_avoided = sched->job_flags.items[job] & JOB_AVOIDS;
        const struct resource_vec *request =
            &sched->classes.items[class_index].request;
        if (class_index != last_class || has_avoided) {
            choose_order(spots, job);
            at = 0;
        }
        last_class = has_avoided ? NONE : class_index;
        while (at < spots->order_count &&
               !take_spot(spots, &spots->items[spots->order[at]], request)) {
            at++;
        }
        if (at == spots->order_count) {
            if (++skipped > spots->skipped_max) {
                return false;
            }
        } else if (++done == spots->needed) {
            return true;
        }
    }
    return false;
}

/* The spots of the group, in order of names. */
static void order_by_name(struct spots *spots)
{
    uint32_t count = spots->only ? spots->only->count : spots->count;
    const uint32_t *ranks = spots->r->round->sched->ranks;

    spots->order_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = spots->only ? spots->place[spots->only->nodes[i]] : i;
        if (at != NONE) {
            spots->items[at].key = ranks[spots->items[at].node];
            spots->order[spots->order_count++] = at;
        }
    }
    sort_order(spots);
}

/* The same for a gang that has its nodes whole, at a time that is known. */
static bool fill_whole(struct spots *spots)
{
    struct round *round = spots->r->round;

    order_by_name(spots);
    struct exclusive_room *rooms =
        arena_alloc_array(round->arena, spots->order_count, sizeof(*rooms));
    for (uint32_t i = 0; i < spots->order_count; i++) {
        const struct spot *spot = &spots->items[spots->order[i]];
        rooms[i] =
            (struct exclusive_room){.node = spot->node, .left = spot->room};
    }
    if (!exclusive_node_fits(round, spots->gang, rooms, spots->order_count)) {
        return false;
    }
    for (uint32_t i = 0; i < spots->order_count; i++) {
        struct spot *spot = &spots->items[spots->order[i]];
        spot->room = rooms[i].left;
        spot->taken = rooms[i].taken;
    }
    return true;
}

/* The same where members are to be near together. */
static bool fill_by_locality(struct spots *spots)
{
    struct round *round = spots->r->round;
    const struct topology *topology = topology_of(round->sched, round->p);
    struct exclusive_room *rooms = reserve_locality_rooms(spots->locality);

    order_by_name(spots);
    for (uint32_t i = 0; i < spots->order_count; i++) {
        const struct spot *spot = &spots->items[spots->order[i]];
        rooms[topology->place[spot->node]].left = spot->room;
    }
    if (!reserve_locality_fits(spots->locality)) {
        return false;
    }
    for (uint32_t i = 0; i < spots->order_count; i++) {
        struct spot *spot = &spots->items[spots->order[i]];
        spot->room = rooms[topology->place[spot->node]].left;
        spot->taken = rooms[topology->place[spot->node]].taken;
        ASSERT(amounts_is_sum(&spot->taken));
    }
    return true;
}

static bool fill_now(struct spots *spots)
{
    if (spots->is_on_empty) {
        return fill(spots);
    }
    return spots->locality    ? fill_by_locality(spots)
           : spots->r->holder ? fill_whole(spots)
                              : fill(spots);
}

/* Whether a maintenance window keeps the gang from a node at a time: by the
 * limit of the job that stands for it. */
static bool is_closed_at(const struct spots *spots, uint32_t node,
                         int64_t at_ms)
{
    const struct round *round = spots->r->round;
    uint32_t class_index = class_of_job(round->sched, spots->r->claim->job);

    return at_ms != SCHED_START_UNKNOWN && windows_are_any(round->sched) &&
           windows_bar(round->sched, class_at(round, class_index), node, at_ms);
}

/* Set what is free at a time in the group. */
static void set_rooms(struct spots *spots, int64_t at_ms)
{
    const struct resource_vec none = {0};
    uint32_t count = spots->only ? spots->only->count : spots->count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = spots->only ? spots->place[spots->only->nodes[i]] : i;
        if (at == NONE) {
            continue;
        }
        struct spot *spot = &spots->items[at];
        struct resource_vec now = reserve_room(spots->r, spot->node);
        spot->room = is_closed_at(spots, spot->node, at_ms)
                         ? none
                         : profile_room_at(&now,
                                           spots->r->releases.items +
                                               spot->release_first,
                                           spot->release_count, at_ms);
        spot->taken = (struct resource_vec){0};
    }
}

bool spots_fit_at(struct spots *spots, int64_t at_ms)
{
    struct round *round = spots->r->round;
    bool is_by_locality = spots->locality && !spots->is_on_empty;
    const struct label_index *index = is_by_locality
                                          ? place_groups(round, spots->gang)
                                          : locality_groups(round, spots->gang);

    spots->only = NULL;
    if (!index) {
        set_rooms(spots, at_ms);
        return fill_now(spots);
    }
    for (uint32_t i = 0; i < index->group_count; i++) {
        spots->only = &index->groups[i];
        if (place_is_open(round, spots->gang, spots->only)) {
            set_rooms(spots, at_ms);
            if (fill_now(spots)) {
                return true;
            }
            set_rooms(spots, at_ms); /* nothing of it is taken after all */
        }
    }
    return false;
}
