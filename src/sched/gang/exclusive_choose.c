#include "sched/gang/exclusive_choose.h"

#include "sched/data/cover.h"
#include "sched/gang/exclusive_clear.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/victims.h"

/* Members that are alike: of one class; one that avoids nodes is alone. */
struct members {
    const struct seq *asked;
    uint32_t class_index;
    uint32_t only; /* the one, or NONE */
    uint64_t weight;
};

/* How many members fit in a room, up to `most`. */
static uint32_t count_in(const struct exclusive_choice *choice,
                         const struct members *members, uint32_t job,
                         const struct exclusive_candidate *room, uint32_t most)
{
    struct round *round = choice->round;
    struct search search = {round, members->class_index, job, NULL};
    const struct class *class = class_round(round, members->class_index);
    uint32_t count =
        class->is_impossible ? 0 : amounts_times(&class->request, &room->left);

    count = count < most ? count : most;
    count = choice->is_later || room->is_busy
                ? extras_times_empty(round->sched, room->node, class, count)
                : extras_times(round->sched, room->node, class, count);
    if (choice->is_later) {
        return count && place_matches_ever(&search, room->node) ? count : 0;
    }
    if (round->sched->nodes.items[room->node].is_on_trial && count > 0) {
        count = room->is_held ? 0 : 1; /* one job, of whichever members */
    }
    bool may =
        count && (room->is_busy ? place_allows_evicting(&search, room->node)
                                : place_allows(&search, room->node));
    return may ? count : 0;
}

/* Whether a job is one of those. */
static bool is_of(const struct exclusive_choice *choice,
                  const struct members *members, uint32_t job)
{
    const struct sched *sched = choice->round->sched;

    if (members->only != NONE) {
        return job == members->only;
    }
    return class_of_job(sched, job) == members->class_index &&
           !(sched->job_flags.items[job] & JOB_AVOIDS);
}

/* Go to the next of them at or after `at`. */
static uint32_t next_of(const struct exclusive_choice *choice,
                        const struct members *members, struct seq_cursor *at)
{
    while (!seq_is_end(members->asked, *at)) {
        uint32_t job = seq_get(members->asked, *at);
        if (is_of(choice, members, job)) {
            return job;
        }
        seq_next(members->asked, at);
    }
    return NONE;
}

static void fill_room(struct exclusive_choice *choice,
                      const struct members *members,
                      struct exclusive_candidate *room, uint32_t count,
                      struct seq_cursor *at)
{
    const struct resource_vec *request =
        &class_at(choice->round, members->class_index)->request;

    /* Each member that waits gets one place at most. */
    ASSERT(choice->place_count + count <= choice->gang->waiting.count);
    for (uint32_t i = 0; i < count; i++) {
        choice->places[choice->place_count++] = (struct exclusive_place){
            next_of(choice, members, at), room->node, members->class_index,
            (uint32_t)(room - choice->rooms)};
        seq_next(members->asked, at);
        amounts_subtract(&room->left, request);
    }
    ASSERT(amounts_is_sum(&room->left) || count == 0);
    room->is_held = true;
}

/* The cover of what the held nodes have left over. */
static bool cover(struct exclusive_choice *choice,
                  const struct members *members, uint32_t job, uint32_t count,
                  struct seq_cursor *at)
{
    struct round *round = choice->round;
    uint32_t n = choice->room_count;
    struct cover_item *items =
        arena_alloc_array(round->arena, n, sizeof(*items));
    bool *chosen = arena_alloc_array(round->arena, n, sizeof(*chosen));

    for (uint32_t i = 0; i < n; i++) {
        const struct exclusive_candidate *room = &choice->rooms[i];
        items[i] = (struct cover_item){
            .cost = pool_weigh(round->pool, &room->left),
            .pod_count = room->is_held || room->is_busy
                             ? 0
                             : count_in(choice, members, job, room, count),
            .rank = i,
        };
    }
    if (!cover_choose(items, n, count, round->arena, chosen)) {
        return false;
    }
    for (uint32_t i = 0; i < n && count; i++) {
        if (chosen[i]) {
            uint32_t here =
                items[i].pod_count < count ? items[i].pod_count : count;
            fill_room(choice, members, &choice->rooms[i], here, at);
            count -= here;
        }
    }
    return true;
}

/* Nodes that could be cleared, and those that need not be. */
static uint32_t add_clear_items(struct exclusive_choice *choice,
                                const struct members *members, uint32_t job,
                                uint32_t most, struct clear_item *items)
{
    const struct search search = {choice->round, members->class_index, job,
                                  NULL};
    struct victim_rules rules = victims_rules(&search);
    uint32_t count = 0;

    for (uint32_t i = 0; i < choice->room_count; i++) {
        const struct exclusive_candidate *room = &choice->rooms[i];
        struct clear_item *item = &items[count];
        if (room->is_held) {
            continue;
        }
        *item = (struct clear_item){
            .room = i,
            .pod_count = count_in(choice, members, job, room, most),
        };
        count += item->pod_count &&
                 victim_sets_of_node(&search, room->node, &rules, &item->set);
    }
    return count;
}

/* The cover, with nodes that are cleared for it. */
static bool cover_clearing(struct exclusive_choice *choice,
                           const struct members *members, uint32_t job,
                           uint32_t count, struct seq_cursor *at)
{
    struct round *round = choice->round;
    struct clear_item *items =
        arena_alloc_array(round->arena, choice->room_count, sizeof(*items));
    uint32_t n = add_clear_items(choice, members, job, count, items);

    if (!exclusive_clear_choose(round, items, n, count)) {
        return false;
    }
    for (uint32_t i = n; i > 0 && count; i--) {
        struct exclusive_candidate *room = &choice->rooms[items[i - 1].room];
        if (items[i - 1].is_chosen && room->is_busy) {
            uint32_t here =
                items[i - 1].pod_count < count ? items[i - 1].pod_count : count;
            fill_room(choice, members, room, here, at);
            count -= here;
        }
    }
    /* Clearing nodes adds to what empty ones hold, and never replaces it. */
    ASSERT(n <= choice->room_count);
    return count == 0 || cover(choice, members, job, count, at);
}

static bool choose_for(struct exclusive_choice *choice,
                       const struct members *members)
{
    struct seq_cursor at = {0};
    uint32_t first = next_of(choice, members, &at), count = 0;

    for (struct seq_cursor c = at; next_of(choice, members, &c) != NONE;
         seq_next(members->asked, &c)) {
        count++;
    }
    ASSERT(first != NONE && count > 0); /* whom a kind of members is of */
    for (uint32_t i = 0; i < choice->room_count && count; i++) {
        struct exclusive_candidate *room = &choice->rooms[i];
        if (room->is_held) {
            uint32_t here = count_in(choice, members, first, room, count);
            fill_room(choice, members, room, here, &at);
            count -= here;
        }
    }
    return count == 0 || cover(choice, members, first, count, &at) ||
           (choice->may_clear &&
            cover_clearing(choice, members, first, count, &at));
}

/* Put what a sub-group asks for at its place among `items`. */
static uint32_t add_members(const struct exclusive_choice *choice,
                            const struct seq *asked, struct members *items,
                            uint32_t count)
{
    const struct sched *sched = choice->round->sched;
    uint32_t first = count;

    for (struct seq_cursor at = {0}; !seq_is_end(asked, at);
         seq_next(asked, &at)) {
        uint32_t job = seq_get(asked, at);
        bool is_alone = sched->job_flags.items[job] & JOB_AVOIDS;
        uint32_t i = is_alone ? count : first;
        while (i < count && !is_of(choice, &items[i], job)) {
            i++;
        }
        if (i == count) {
            uint32_t class_index = class_of_job(sched, job);
            items[count++] = (struct members){
                asked, class_index, is_alone ? job : NONE,
                pool_weigh(choice->round->pool,
                           &class_at(choice->round, class_index)->request)};
        }
    }
    return count;
}

static void sort_members(struct members *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct members item = items[i];
        uint32_t at = i;
        for (; at > 0 && items[at - 1].weight < item.weight; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

bool exclusive_choose(struct exclusive_choice *choice, uint32_t sub_group_first,
                      uint32_t sub_group_count)
{
    uint32_t asked_count = choice->gang->waiting.count, count = 0;
    struct members *items =
        arena_alloc_array(choice->round->arena, asked_count, sizeof(*items));

    ASSERT(sub_group_first + sub_group_count <= sub_groups_count(choice->gang));
    for (uint32_t i = 0; i < sub_group_count; i++) {
        count = add_members(
            choice, sub_group_required(choice->gang, sub_group_first + i),
            items, count);
    }
    ASSERT(count <= asked_count); /* kinds of members, none without any */
    sort_members(items, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!choose_for(choice, &items[i])) {
            return false;
        }
    }
    return true;
}
