#include "sched/whole_node.h"

#include <string.h>

#include "sched/cover.h"
#include "sched/lanes.h"
#include "sched/merge_sort.h"
#include "sched/sub_groups.h"
#include "sched/victims_take.h"
#include "sched/whole_clear.h"

bool whole_node_is_for(const struct gang *gang)
{
    return gang->subs && gang->subs->terms.is_whole_node;
}

/* The gang of a job that has its nodes whole, or NONE. */
static uint32_t holder_of(const struct sched *sched, uint32_t job)
{
    uint32_t gang = job == NONE ? NONE : sched->jobs.items[job].gang;

    return gang != NONE && whole_node_is_for(&sched->gangs.items[gang]) ? gang
                                                                        : NONE;
}

bool whole_node_serves(const struct sched *sched, uint32_t job)
{
    return holder_of(sched, job) != NONE;
}

bool whole_node_is_kept(const struct round *round, uint32_t job,
                        uint32_t class_index, uint32_t node)
{
    const struct reserve *reserve = &round->reserve;

    if (!round->sched->whole_gang_count || (!reserve->hold && !reserve->own) ||
        !whole_node_serves(round->sched, job)) {
        return false;
    }
    const struct class *class = class_at(round, class_index);
    return reserve_pass_whole(round, reserve->hold, class, node) == PASS_NO ||
           reserve_pass_whole(round, reserve->own, class, node) == PASS_NO;
}

/* Another gang that has members on a node, after one has left it. */
static void hand_over(struct sched *sched, struct node *node)
{
    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t gang = holder_of(sched, sched->runs.items[at].job);
        if (gang != NONE && (!node->holder || node->holder == gang + 1)) {
            node->holder = gang + 1;
            node->holder_count++;
        }
    }
}

void whole_node_count(struct sched *sched, const struct run *run, int sign)
{
    struct node *node = &sched->nodes.items[run->node];
    uint32_t holder = sched->jobs.items[run->job].gang + 1;

    if (sign > 0 && !node->holder) {
        node->holder = holder;
    }
    if (node->holder != holder) {
        return; /* it came where others were; they hold it */
    }
    node->holder_count += (uint32_t)sign;
    if (node->holder_count == 0) {
        node->holder = 0;
        hand_over(sched, node);
    }
}

void whole_node_take(struct round *round, uint32_t gang, uint32_t node)
{
    struct node *item = &round->sched->nodes.items[node];

    item->planned_plan = round->sched->plan_count;
    item->planned_holder = gang + 1;
}

/* Whether the gang that holds a node has runs there that the plan leaves. */
static bool is_still_held(const struct sched *sched, const struct node *node)
{
    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (sched->jobs.items[run->job].gang + 1 == node->holder &&
            run->state != RUN_PREEMPTED) {
            return true;
        }
    }
    return false;
}

/* Whether nobody uses a node, as the plan leaves it. */
static bool is_unused(const struct sched *sched, uint32_t node)
{
    const struct node *item = &sched->nodes.items[node];

    return memcmp(&sched->free[node], &item->capacity,
                  sizeof(item->capacity)) == 0;
}

/* 1 + the gang that holds a node, as the plan leaves it, or 0. */
static uint32_t holder_in_plan(const struct sched *sched,
                               const struct node *node)
{
    if (node->planned_plan == sched->plan_count) {
        return node->planned_holder;
    }
    return node->holder && is_still_held(sched, node) ? node->holder : 0;
}

bool whole_node_bars_indeed(const struct round *round, uint32_t job,
                            uint32_t node)
{
    const struct sched *sched = round->sched;
    const struct node *item = &sched->nodes.items[node];
    uint32_t holder = holder_in_plan(sched, item);
    uint32_t own = holder_of(sched, job);

    if (holder || own == NONE) {
        return holder && holder != own + 1;
    }
    return !is_unused(sched, node); /* who would hold it must find it empty */
}

bool whole_node_is_right(const struct sched *sched, uint32_t index)
{
    const struct node *node = &sched->nodes.items[index];
    uint32_t count = 0;
    bool is_any = false;

    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t gang = holder_of(sched, sched->runs.items[at].job);
        is_any |= gang != NONE;
        count += gang != NONE && gang + 1 == node->holder;
    }
    return is_any == (node->holder != 0) && count == node->holder_count;
}

bool whole_node_opens_whole(const struct round *round, uint32_t own,
                            uint32_t node)
{
    const struct sched *sched = round->sched;
    uint32_t holder = holder_in_plan(sched, &sched->nodes.items[node]);

    return holder ? holder != own : own && !is_unused(sched, node);
}

bool whole_node_keeps_from(const struct sched *sched, uint32_t job,
                           uint32_t node)
{
    uint32_t holder = sched->nodes.items[node].holder;
    uint32_t own = holder_of(sched, job);

    if (holder || own == NONE) {
        return holder && holder != own + 1;
    }
    return !is_unused(sched, node);
}

bool whole_node_keeps_other(const struct sched *sched, bool is_whole,
                            uint32_t node)
{
    return sched->nodes.items[node].holder ||
           (is_whole && !is_unused(sched, node));
}

/* Choosing places. */

/* A place for a member. */
struct place {
    uint32_t job, node, class_index;
    uint32_t room; /* of choice.rooms */
};

/* A node that may be chosen. */
struct room {
    uint32_t node;
    bool is_held; /* by the gang, so that it costs nothing more */
    bool is_busy; /* others are there: `left` is what it has without them */
    struct resource_vec left;
};

struct choice {
    struct round *round;
    bool may_clear; /* others may go */
    bool is_later;  /* not to be placed now */
    const struct gang *gang;
    uint32_t holder;    /* 1 + the gang's index */
    struct room *rooms; /* by name */
    uint32_t room_count;
    struct place *places;
    uint32_t place_count;
};

/* Members that are alike: of one class; one that avoids nodes is alone. */
struct members {
    const struct seq *asked;
    uint32_t class_index;
    uint32_t only; /* the one, or NONE */
    uint64_t weight;
};

static void add_room(struct choice *choice, uint32_t index)
{
    const struct sched *sched = choice->round->sched;
    const struct node *node = &sched->nodes.items[index];

    if (!node->is_accepting || node->pool != choice->round->p) {
        return;
    }
    uint32_t holder = holder_in_plan(sched, node);
    bool is_held = holder && holder == choice->holder;
    bool is_busy = holder ? !is_held : !is_unused(sched, index);
    if (!is_busy || choice->may_clear) {
        choice->rooms[choice->room_count++] = (struct room){
            .node = index,
            .is_held = is_held,
            .is_busy = is_busy,
            .left = is_busy ? node->capacity : sched->free[index],
        };
    }
}

static void add_ranked(struct choice *choice, const struct label_group *only)
{
    struct round *round = choice->round;
    const uint32_t *ranks = round->sched->ranks;
    uint32_t count = only->count;
    uint32_t *items = arena_alloc_array(round->arena, count, sizeof(*items));
    uint32_t *spare = arena_alloc_array(round->arena, count, sizeof(*spare));

    for (uint32_t i = 0; i < count; i++) {
        items[i] = only->nodes[i];
    }
#define GOES_BEFORE(b, a) (ranks[*(b)] < ranks[*(a)])
    items = MERGE_SORT(items, spare, count, GOES_BEFORE);
#undef GOES_BEFORE
    for (uint32_t i = 0; i < count; i++) {
        add_room(choice, items[i]);
    }
}

static void add_rooms(struct choice *choice, const struct label_group *only)
{
    const struct sched *sched = choice->round->sched;
    const struct seq *all = &sched->nodes_by_name;
    uint32_t count = only ? only->count : all->count;

    choice->rooms =
        arena_alloc_array(choice->round->arena, count, sizeof(*choice->rooms));
    if (only) {
        add_ranked(choice, only);
        return;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(all, at); seq_next(all, &at)) {
        add_room(choice, seq_get(all, at));
    }
}

/* How many members fit in a room, up to `most`. */
static uint32_t count_in(const struct choice *choice,
                         const struct members *members, uint32_t job,
                         const struct room *room, uint32_t most)
{
    struct round *round = choice->round;
    struct search search = {round, members->class_index, job, NULL};
    const struct class *class = class_round(round, members->class_index);
    uint32_t count =
        class->is_impossible ? 0 : amounts_times(&class->request, &room->left);

    count = count < most ? count : most;
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
static bool is_of(const struct choice *choice, const struct members *members,
                  uint32_t job)
{
    const struct sched *sched = choice->round->sched;

    if (members->only != NONE) {
        return job == members->only;
    }
    return class_of_job(sched, job) == members->class_index &&
           !(sched->job_flags.items[job] & JOB_AVOIDS);
}

/* Go to the next of them at or after `at`. */
static uint32_t next_of(const struct choice *choice,
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

static void fill_room(struct choice *choice, const struct members *members,
                      struct room *room, uint32_t count, struct seq_cursor *at)
{
    const struct resource_vec *request =
        &class_at(choice->round, members->class_index)->request;

    for (uint32_t i = 0; i < count; i++) {
        choice->places[choice->place_count++] = (struct place){
            next_of(choice, members, at), room->node, members->class_index,
            (uint32_t)(room - choice->rooms)};
        seq_next(members->asked, at);
        amounts_subtract(&room->left, request);
    }
    room->is_held = true;
}

/* The cover of what the held nodes have left over. */
static bool cover(struct choice *choice, const struct members *members,
                  uint32_t job, uint32_t count, struct seq_cursor *at)
{
    struct round *round = choice->round;
    uint32_t n = choice->room_count;
    struct cover_item *items =
        arena_alloc_array(round->arena, n, sizeof(*items));
    bool *chosen = arena_alloc_array(round->arena, n, sizeof(*chosen));

    for (uint32_t i = 0; i < n; i++) {
        const struct room *room = &choice->rooms[i];
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
static uint32_t add_clear_items(struct choice *choice,
                                const struct members *members, uint32_t job,
                                uint32_t most, struct clear_item *items)
{
    const struct search search = {choice->round, members->class_index, job,
                                  NULL};
    struct victim_rules rules = victims_rules(&search);
    uint32_t count = 0;

    for (uint32_t i = 0; i < choice->room_count; i++) {
        const struct room *room = &choice->rooms[i];
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
static bool cover_clearing(struct choice *choice, const struct members *members,
                           uint32_t job, uint32_t count, struct seq_cursor *at)
{
    struct round *round = choice->round;
    struct clear_item *items =
        arena_alloc_array(round->arena, choice->room_count, sizeof(*items));
    uint32_t n = add_clear_items(choice, members, job, count, items);

    if (!whole_clear_choose(round, items, n, count)) {
        return false;
    }
    for (uint32_t i = n; i > 0 && count; i--) {
        struct room *room = &choice->rooms[items[i - 1].room];
        if (items[i - 1].is_chosen && room->is_busy) {
            uint32_t here =
                items[i - 1].pod_count < count ? items[i - 1].pod_count : count;
            fill_room(choice, members, room, here, at);
            count -= here;
        }
    }
    return count == 0 || cover(choice, members, job, count, at);
}

static bool choose_for(struct choice *choice, const struct members *members)
{
    struct seq_cursor at = {0};
    uint32_t first = next_of(choice, members, &at), count = 0;

    for (struct seq_cursor c = at; next_of(choice, members, &c) != NONE;
         seq_next(members->asked, &c)) {
        count++;
    }
    for (uint32_t i = 0; i < choice->room_count && count; i++) {
        struct room *room = &choice->rooms[i];
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
static uint32_t add_members(const struct choice *choice,
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

/* Choose places for all of sub-groups. */
static bool choose(struct choice *choice, uint32_t sub_group_first,
                   uint32_t sub_group_count)
{
    const struct sub_groups *subs = choice->gang->subs;
    uint32_t asked_count = choice->gang->waiting.count, count = 0;
    struct members *items =
        arena_alloc_array(choice->round->arena, asked_count, sizeof(*items));

    for (uint32_t i = 0; i < sub_group_count; i++) {
        count = add_members(choice, &subs->items[sub_group_first + i].asked,
                            items, count);
    }
    sort_members(items, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!choose_for(choice, &items[i])) {
            return false;
        }
    }
    return true;
}

/* Whether others are on a node where the gang is to go. */
static bool is_to_clear(const struct choice *choice, uint32_t index)
{
    const struct sched *sched = choice->round->sched;
    const struct node *node = &sched->nodes.items[index];

    return choice->may_clear && !is_unused(sched, index) &&
           holder_in_plan(sched, node) != choice->holder;
}

static bool place_all(struct attempt *attempt, uint32_t sub_group_first,
                      uint32_t sub_group_count)
{
    struct round *round = attempt->round;
    uint32_t gang = (uint32_t)(attempt->gang - round->sched->gangs.items);
    struct choice choice = {
        .round = round,
        .gang = attempt->gang,
        .holder = gang + 1,
        .may_clear = attempt->preempt_until > 0,
        .places = arena_alloc_array(round->arena, attempt->gang->waiting.count,
                                    sizeof(*choice.places)),
    };

    add_rooms(&choice, attempt->only);
    if (!choose(&choice, sub_group_first, sub_group_count)) {
        return false;
    }
    for (uint32_t i = 0; i < choice.place_count; i++) {
        const struct place *place = &choice.places[i];
        if (is_to_clear(&choice, place->node)) {
            struct search search = {round, place->class_index, place->job,
                                    NULL};
            if (!victims_clear(&search, place->node)) {
                return false; /* others went with it meanwhile */
            }
        }
        attempt_lease(attempt, place->job, place->node, place->class_index);
        whole_node_take(round, gang, place->node);
        /* It is no place for others of the class. */
        class_at(round, place->class_index)->cached_node = NONE;
    }
    return true;
}

static bool fits(struct round *round, const struct gang *gang,
                 const uint32_t *only, struct whole_room *rooms,
                 uint32_t room_count)
{
    const struct resource_vec none = {0};
    const struct sched *sched = round->sched;
    struct choice choice = {
        .round = round,
        .gang = gang,
        .holder = (uint32_t)(gang - sched->gangs.items) + 1,
        .is_later = true,
        .rooms =
            arena_alloc_array(round->arena, room_count, sizeof(*choice.rooms)),
        .room_count = room_count,
        .places = arena_alloc_array(round->arena, gang->waiting.count,
                                    sizeof(*choice.places)),
    };

    for (uint32_t i = 0; i < room_count; i++) {
        const struct node *node = &sched->nodes.items[rooms[i].node];
        choice.rooms[i] = (struct room){
            .node = rooms[i].node,
            .is_held = holder_in_plan(sched, node) == choice.holder ||
                       !amounts_fit(&rooms[i].taken, &none),
            .left = rooms[i].left,
        };
    }
    if (!choose(&choice, only ? *only : 0,
                only ? 1 : gang->subs->terms.sub_group_count)) {
        return false;
    }
    for (uint32_t i = 0; i < choice.place_count; i++) {
        const struct place *place = &choice.places[i];
        const struct resource_vec *request =
            &class_at(round, place->class_index)->request;
        amounts_subtract(&rooms[place->room].left, request);
        amounts_add(&rooms[place->room].taken, request);
    }
    return true;
}

bool whole_node_fits(struct round *round, const struct gang *gang,
                     struct whole_room *rooms, uint32_t room_count)
{
    return fits(round, gang, NULL, rooms, room_count);
}

bool whole_node_fits_one(struct round *round, const struct gang *gang,
                         uint32_t sub_group, struct whole_room *rooms,
                         uint32_t room_count)
{
    return fits(round, gang, &sub_group, rooms, room_count);
}

bool whole_node_place(struct attempt *attempt)
{
    return place_all(attempt, 0, attempt->gang->subs->terms.sub_group_count);
}

bool whole_node_place_sub_group(struct attempt *attempt, uint32_t sub_group)
{
    return place_all(attempt, sub_group, 1);
}

void whole_node_retake(struct attempt *attempt)
{
    const struct sched *sched = attempt->round->sched;
    uint32_t gang = (uint32_t)(attempt->gang - sched->gangs.items);

    for (size_t i = attempt->decision_mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE) {
            whole_node_take(attempt->round, gang, decision->node);
        }
    }
}
