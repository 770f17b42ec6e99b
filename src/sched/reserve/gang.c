/* Where a gang would start at a later time: its members one after the other,
 * each on the fullest node that has room for it, as gang_place.c does. */
#include <stdlib.h>
#include <string.h>

#include "sched/data/merge_sort.h"
#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_fit.h"
#include "sched/gang/locality_place.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/group_room.h"

/* Kinds of members times nodes: beyond it a gang gets no reservation, so that
 * no job makes a round slow for the others. */
enum { RESERVE_LOOKS_MAX = 1 << 19 };

/* A waiting member. */
struct member {
    uint32_t job, class_index;
    uint32_t ordinal;    /* in the gang's own order */
    uint32_t kind_first; /* the ordinal of the first of its class */
};

/* A node, and what it has to give. */
struct spot {
    uint32_t node;
    struct resource_vec room;  /* at the time in question */
    struct resource_vec taken; /* by the gang */
    uint64_t key;
    uint32_t release_first, release_count; /* of r->releases */
};

/* The nodes of the pool, or of one value of a label. */
struct spots {
    struct reserving *r;
    const struct gang *gang;
    struct member *members; /* those of a class stand together */
    uint32_t member_count;
    struct spot *items; /* all of them */
    uint32_t count;
    uint32_t *place; /* by node: in items, or NONE */
    uint32_t *order; /* those tried, in order */
    uint32_t *spare;
    uint32_t order_count;
    const struct label_group *only; /* or NULL: all */
    uint32_t needed, skipped_max;
    bool is_on_empty;          /* the most room first, and up to the capacity */
    struct reserve_near *near; /* the topology says where members go; or
                                  NULL: it does not, or that is spent */
    /* By node, whether members that are all alike may go there, and the time
     * that is asked about; NULL: any node, at any time. */
    const uint8_t *allowed;
    int64_t at_ms;
};

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

/* The spots that a member may use and that are asked about, in order. */
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

/* List the members; how many orders of the nodes they will ask for.  Classes
 * stand in the order of their first members: their numbers depend on
 * history. */
static uint32_t list_members(struct spots *spots)
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

/* The spots that are asked about, in order of names. */
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
static bool fill_near(struct spots *spots)
{
    struct round *round = spots->r->round;
    const struct topology *topology = topology_of(round->sched, round->p);
    struct exclusive_room *rooms = reserve_near_rooms(spots->near);

    order_by_name(spots);
    for (uint32_t i = 0; i < spots->order_count; i++) {
        const struct spot *spot = &spots->items[spots->order[i]];
        rooms[topology->place[spot->node]].left = spot->room;
    }
    if (!reserve_fits_near(spots->near)) {
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
    return spots->near        ? fill_near(spots)
           : spots->r->holder ? fill_whole(spots)
                              : fill(spots);
}

/* What is free at a time, in the group that is asked about. */
static void set_rooms(struct spots *spots, int64_t at_ms)
{
    uint32_t count = spots->only ? spots->only->count : spots->count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = spots->only ? spots->place[spots->only->nodes[i]] : i;
        if (at == NONE) {
            continue;
        }
        struct spot *spot = &spots->items[at];
        struct resource_vec now = reserve_room(spots->r, spot->node);
        spot->room = profile_room_at(
            &now, spots->r->releases.items + spot->release_first,
            spot->release_count, at_ms);
        spot->taken = (struct resource_vec){0};
    }
}

/* Whether the gang has room at a time; leaves its places in `taken`. */
static bool fits_at(struct spots *spots, int64_t at_ms)
{
    struct round *round = spots->r->round;
    bool is_near = spots->near && !spots->is_on_empty;
    const struct label_index *index = is_near
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

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The moments at which there is more room, the first of them now, each once;
 * their number. */
static size_t list_times(const struct spots *spots, int64_t *times)
{
    const struct round *round = spots->r->round;
    size_t count = spots->r->releases.count, kept = 1;

    times[0] = round->now_ms;
    for (size_t i = 0; i < count; i++) {
        int64_t at_ms = spots->r->releases.items[i].at_ms;
        times[i + 1] = at_ms > round->now_ms ? at_ms : round->now_ms;
    }
    qsort(times, count + 1, sizeof(*times), compare_times);
    ASSERT(times[0] == round->now_ms); /* no room comes before now */
    for (size_t i = 1; i <= count; i++) {
        if (times[i] != times[kept - 1]) {
            times[kept++] = times[i];
        }
    }
    return kept;
}

/* The first time at which the gang has room, or SCHED_START_UNKNOWN.  Unlike
 * members may have room at one time and none at a later one, so each is tried;
 * where that is too much, halving finds one that may be later. */
static int64_t first_time(struct spots *spots, uint64_t looks_each)
{
    int64_t *times = arena_alloc_array(
        spots->r->round->arena, spots->r->releases.count + 1, sizeof(*times));
    size_t count = list_times(spots, times), low = 0, high = count;
    bool is_halved = looks_each * count > RESERVE_LOOKS_MAX;

    while (low < high) {
        is_halved |= spots->near && reserve_near_is_long(spots->near);
        size_t middle = is_halved ? (low + high) / 2 : low;
        if (fits_at(spots, times[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low < count ? times[low] : SCHED_START_UNKNOWN;
}

/* No nodes yet, and room for all. */
static void spots_make(struct spots *spots)
{
    struct round *round = spots->r->round;
    uint32_t n = (uint32_t)round->sched->nodes.count;

    spots->items = arena_alloc_array(round->arena, n, sizeof(*spots->items));
    spots->place = arena_alloc_array(round->arena, n, sizeof(*spots->place));
    spots->order = arena_alloc_array(round->arena, n, sizeof(*spots->order));
    spots->spare = arena_alloc_array(round->arena, n, sizeof(*spots->spare));
    memset(spots->place, 0xff, n * sizeof(*spots->place));
}

/* Whether a node may have room. */
static bool is_of_use(const struct spots *spots, uint32_t node)
{
    return !spots->allowed ||
           (spots->allowed[node] &&
            reserve_count_on(spots->r->memory, node, spots->at_ms) > 0);
}

/* The nodes that are asked about. */
static void collect_spots(struct spots *spots)
{
    const struct round *round = spots->r->round;
    const struct sched *sched = round->sched;
    uint32_t n = (uint32_t)sched->nodes.count;

    spots_make(spots);
    spots->count = 0;
    spots->r->releases.count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (sched->nodes.items[i].pool != round->p ||
            !sched->nodes.items[i].is_accepting || !is_of_use(spots, i)) {
            continue;
        }
        struct spot *spot = &spots->items[spots->count];
        spots->place[i] = spots->count++;
        *spot = (struct spot){
            .node = i,
            .release_first = (uint32_t)spots->r->releases.count,
        };
        reserve_gather(spots->r, i);
        spot->release_count =
            (uint32_t)spots->r->releases.count - spot->release_first;
    }
}

static void keep_places(struct spots *spots)
{
    struct reserving *r = spots->r;
    const struct resource_vec none = {0};

    ASSERT(r->reservation->start_ms >= r->round->now_ms);
    r->reservation->nodes = arena_alloc_array(r->round->arena, spots->count,
                                              sizeof(*r->reservation->nodes));
    for (uint32_t i = 0; i < spots->count; i++) {
        struct spot *spot = &spots->items[i];
        if (!amounts_fit(&spot->taken, &none)) {
            amounts_add(&spot->room, &spot->taken);
            /* Of a node that it has whole nothing is left beside it. */
            reserve_add(r, spot->node, &spot->taken,
                        r->holder ? &spot->taken : &spot->room);
        }
    }
}

/* Whether its members are all alike, down to the nodes that they avoid. */
static bool is_uniform(const struct sched *sched, const struct gang *gang)
{
    uint32_t class_index = class_of_job(sched, seq_last(&gang->waiting));

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t job = seq_get(&gang->waiting, at);
        if (class_of_job(sched, job) != class_index ||
            sched->job_flags.items[job] & JOB_AVOIDS) {
            return false;
        }
    }
    return true;
}

bool reserve_gang_is_plain(struct reserving *r, bool *ret_is_possible)
{
    struct round *round = r->round;
    const struct gang *gang = &round->sched->gangs.items[r->claim->item];
    uint32_t class_index = class_of_job(round->sched, r->claim->job);
    uint32_t needed = gang_needed(gang);

    if (!locality_may_ever_fit(round->sched, round->p, gang)) {
        *ret_is_possible = false;
        return true;
    }
    if (!is_uniform(round->sched, gang)) {
        return false;
    }
    const struct label_index *index = locality_groups(round, gang);
    *ret_is_possible =
        !index && group_holds_empty(round, class_index, NULL, 0) >= needed;
    for (uint32_t i = 0; index && i < index->group_count; i++) {
        *ret_is_possible |=
            group_holds_empty(round, class_index, index, i) >= needed &&
            place_is_open(round, gang, &index->groups[i]);
    }
    return true;
}

/* For a gang of like members the time is found by what each node holds; false:
 * that does not tell where they would go. */
static bool reserve_uniform(struct spots *spots, bool *ret_is_made)
{
    struct reserving *r = spots->r;
    const struct label_group *group;
    const uint8_t *allowed;
    int64_t at_ms =
        reserve_first_time(r, spots->gang, spots->needed, &group, &allowed);

    ASSERT(at_ms >= r->round->now_ms);
    r->reservation->start_ms = at_ms;
    if (spots->near && at_ms != SCHED_START_UNKNOWN) {
        spots->allowed = allowed;
        spots->at_ms = at_ms;
        collect_spots(spots);
        spots->allowed = NULL;
        *ret_is_made = fits_at(spots, at_ms);
        if (*ret_is_made) {
            keep_places(spots);
        }
        return *ret_is_made;
    }
    *ret_is_made =
        r->holder && at_ms != SCHED_START_UNKNOWN
            ? reserve_exclusive(r, spots->gang, at_ms, group, allowed)
            : reserve_alike(r, spots->gang, spots->needed, at_ms, group,
                            allowed);
    return true;
}

/* The time at which it starts, or else its places on empty nodes. */
static bool find_places(struct spots *spots, uint64_t looks_each)
{
    struct reservation *reservation = spots->r->reservation;

    spots->is_on_empty = false;
    reservation->start_ms = first_time(spots, looks_each);
    spots->is_on_empty = reservation->start_ms == SCHED_START_UNKNOWN;
    /* Once more: the search may have ended on a time that was too early. */
    return fits_at(spots, reservation->start_ms);
}

/* How many sub-groups ask. */
static uint32_t count_asking(const struct gang *gang)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gang->subs->terms.sub_group_count; i++) {
        count += gang->subs->items[i].asked.count > 0;
    }
    return count;
}

bool reserve_for_gang(struct reserving *r)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    const struct gang *gang = &sched->gangs.items[r->claim->item];
    struct spots spots = {.r = r, .gang = gang};
    bool is_made;

    if (!locality_may_ever_fit(sched, round->p, gang)) {
        return false;
    }
    spots.needed = gang_needed(gang);
    spots.skipped_max = gang->waiting.count - spots.needed;
    if (reserve_goes_near(round, gang)) {
        spots.near = reserve_near_begin(round, gang);
    }
    bool has_caps =
        spots.near && count_asking(gang) > 1 && locality_is_capped(round, gang);
    if (is_uniform(sched, gang) && !has_caps &&
        reserve_uniform(&spots, &is_made)) {
        return is_made;
    }
    uint32_t kinds = list_members(&spots);
    collect_spots(&spots);
    if ((uint64_t)kinds * spots.count > RESERVE_LOOKS_MAX) {
        return false;
    }
    is_made = find_places(&spots, (uint64_t)kinds * spots.count);
    if (spots.near && reserve_near_is_spent(spots.near)) {
        spots.near = NULL; /* where there is room, however far apart */
        is_made = find_places(&spots, (uint64_t)kinds * spots.count);
    }
    if (!is_made) {
        return false;
    }
    keep_places(&spots);
    return true;
}
