/* When a gang would start: the first time at which all its members find places
 * (gang_spots.h). */
#include <stdlib.h>
#include <string.h>

#include "sched/gang/locality_fit.h"
#include "sched/gang/locality_place.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/gang_spots.h"
#include "sched/reserve/private.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/group_room.h"

/* Kinds of members times nodes: beyond it a gang gets no reservation, so that
 * no job makes a round slow for the others. */
enum { RESERVE_LOOKS_MAX = 1 << 19 };

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
        is_halved |=
            spots->locality && reserve_locality_is_long(spots->locality);
        size_t middle = is_halved ? (low + high) / 2 : low;
        if (spots_fit_at(spots, times[middle])) {
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

/* Collect the nodes of the pool that may have room. */
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
    if (!is_uniform(round->sched, gang) ||
        class_at(round, class_index)->extra_count > 0) {
        return false; /* only a reservation tells */
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
    if (spots->locality && at_ms != SCHED_START_UNKNOWN) {
        spots->allowed = allowed;
        spots->at_ms = at_ms;
        collect_spots(spots);
        spots->allowed = NULL;
        *ret_is_made = spots_fit_at(spots, at_ms);
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
    return spots_fit_at(spots, reservation->start_ms);
}

/* How many sub-groups ask. */
static uint32_t count_asking(const struct gang *gang)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        count += sub_group_required(gang, i)->count > 0;
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
    if (reserve_locality_matters(round, gang)) {
        spots.locality = reserve_locality_begin(round, gang);
    }
    bool has_caps = spots.locality && count_asking(gang) > 1 &&
                    locality_is_capped(round, gang);
    if (is_uniform(sched, gang) && !has_caps &&
        reserve_uniform(&spots, &is_made)) {
        return is_made;
    }
    uint32_t kinds = spots_list_members(&spots);
    collect_spots(&spots);
    if ((uint64_t)kinds * spots.count > RESERVE_LOOKS_MAX) {
        return false;
    }
    is_made = find_places(&spots, (uint64_t)kinds * spots.count);
    if (spots.locality && reserve_locality_is_spent(spots.locality)) {
        spots.locality = NULL; /* where there is room, however far apart */
        is_made = find_places(&spots, (uint64_t)kinds * spots.count);
    }
    if (!is_made) {
        return false;
    }
    keep_places(&spots);
    return true;
}
