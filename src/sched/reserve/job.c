/* Where a single job would start at the first time at which it has room.
 *
 * What is known about a node stays valid until the node changes: each node
 * counts its changes, and a round examines again only nodes that changed since,
 * that it placed work on or evicted work from, or whose bounds move with the
 * clock.  A few requests are remembered side by side, because the first of the
 * list of admitted work often alternates. */
#include <string.h>

#include "sched/order/round.h"
#include "sched/reserve/tree.h"

/* With more entries than this there are gaps: make them anew. */
enum { STEPS_PER_NODE = 256, QUEUE_SUMS_PER_NODE = 32 };

/* When a node has room for `request`, and what it has free then.  INT64_MIN:
 * now; INT64_MAX: not known, and all that is bounded counts as free.  The next
 * bound after that is `*ret_next_ms`. */
static int64_t ready_at(struct reserving *r, uint32_t node,
                        const struct resource_vec *request,
                        struct resource_vec *ret_room, int64_t *ret_next_ms)
{
    struct profile profile = reserve_profile(r, node);
    int64_t at_ms = profile_first_fit(&profile, request);

    ASSERT(at_ms == INT64_MIN || at_ms > r->round->now_ms);
    *ret_room = profile.room;
    *ret_next_ms = profile_next_ms(&profile);
    return at_ms;
}

/* What is known of the nodes. */

/* Whether the memory is of an equal claim. */
static bool is_alike(const struct reserving *r, const struct profile_memory *m,
                     const struct resource_vec *request)
{
    return m->level == r->claim->level && m->holder == r->holder &&
           m->is_of_gang == r->claim->is_gang &&
           m->steps.count <= STEPS_PER_NODE * (m->nodes.count + 1) &&
           m->queue_sums.count <= QUEUE_SUMS_PER_NODE * (m->nodes.count + 1) &&
           memcmp(m->weights, r->round->pool->weights, sizeof(m->weights)) ==
               0 &&
           memcmp(&m->request, request, sizeof(*request)) == 0;
}

/* Other runs yield now. */
static void forget_revocables(const struct sched *sched,
                              struct profile_memory *m)
{
    for (size_t i = 0; i < sched->revocables.count; i++) {
        uint32_t node = sched->runs.items[sched->revocables.items[i]].node;
        ASSERT(sched->runs.items[sched->revocables.items[i]].revocable_place ==
               i);
        if (node < m->nodes.count) {
            *reserve_seen(m, node) = PROFILE_NEVER_SEEN;
            reserve_tree_note(m, node);
        }
    }
}

/* The lifetimes of some queues' work are worth something else now. */
static void note_flips(const struct reserving *r, struct profile_memory *m,
                       uint64_t queues)
{
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        struct node_profile *profile = &m->nodes.items[i];
        if (!(profile->queues & queues) ||
            *reserve_seen(m, i) == PROFILE_NEVER_SEEN) {
            continue;
        }
        reserve_tree_note(m, i);
        if (profile->is_summed) {
            reserve_sum_again(r, m, i);
        } else {
            *reserve_seen(m, i) = PROFILE_NEVER_SEEN;
        }
    }
}

void reserve_put_back(struct profile_memory *m)
{
    for (size_t i = 0; i < m->aside.count; i++) {
        m->nodes.items[m->aside.items[i].node] = m->aside.items[i].profile;
    }
    m->aside.count = 0;
}

static void forget(struct profile_memory *m)
{
    VEC_FREE(&m->aside);
    VEC_FREE(&m->nodes);
    VEC_FREE(&m->steps);
    VEC_FREE(&m->queue_sums);
    VEC_FREE(&m->may_go);
    VEC_FREE(&m->counts);
    VEC_FREE(&m->allowed);
    reserve_tree_forget(m);
    *m = (struct profile_memory){.last_ms = INT64_MIN, .tree = m->tree};
}

/* The memory of an equal claim, or else the one that was not used for longest,
 * emptied. */
static struct profile_memory *choose(const struct reserving *r,
                                     const struct resource_vec *request)
{
    struct profile_memories *memories = &r->round->memory->profiles;
    struct profile_memory *oldest = &memories->items[0];

    memories->turn++;
    for (uint32_t i = 0; i < PROFILE_MEMORIES; i++) {
        struct profile_memory *m = &memories->items[i];
        if (m->turn && is_alike(r, m, request)) {
            return m;
        }
        oldest = m->turn < oldest->turn ? m : oldest;
    }
    ASSERT(oldest->turn < memories->turn);
    forget(oldest);
    oldest->level = r->claim->level;
    oldest->holder = r->holder;
    oldest->is_of_gang = r->claim->is_gang;
    oldest->request = *request;
    memcpy(oldest->weights, r->round->pool->weights, sizeof(oldest->weights));
    return oldest;
}

struct profile_memory *reserve_recall(struct reserving *r,
                                      const struct resource_vec *request)
{
    const struct sched *sched = r->round->sched;
    struct profile_memory *m = choose(r, request);
    size_t queue_count = sched->queues.count;
    uint64_t flipped = 0;

    m->turn = r->round->memory->profiles.turn;
    reserve_put_back(m);
    if (m->serial != r->claim->serial) {
        m->serial = r->claim->serial;
        forget_revocables(sched, m);
    }
    while (m->nodes.count < sched->nodes.count) {
        VEC_PUSH(&m->nodes, (struct node_profile){.seen = PROFILE_NEVER_SEEN});
    }
    while (m->is_of_gang && m->counts.count < sched->nodes.count) {
        VEC_PUSH(&m->counts, (struct member_count){.seen = PROFILE_NEVER_SEEN});
        VEC_PUSH(&m->allowed, false);
    }
    while (m->may_go.count < queue_count) {
        VEC_PUSH(&m->may_go, false);
    }
    for (uint32_t q = 0; q < queue_count; q++) {
        if (m->may_go.items[q] != r->may_go[q]) {
            m->may_go.items[q] = r->may_go[q];
            flipped |= reserve_queue_bit(q);
        }
    }
    if (flipped) {
        note_flips(r, m, flipped);
    }
    r->memory = m;
    return m;
}

/* Ask all that runs on a node afresh. */
static void ask(struct reserving *r, struct profile_memory *m, uint32_t node)
{
    struct node_profile *profile = &m->nodes.items[node];
    struct resource_vec room;
    int64_t next_ms;

    profile->is_summed = false;
    profile->at_ms = ready_at(r, node, &m->request, &room, &next_ms);
    profile->key = pool_weigh(r->round->pool, &room);
    profile->queues = r->queues;
    /* What is ready gets more room with the next bound; what is bounded in vain
     * counts as free all along. */
    profile->until_ms = profile->at_ms == INT64_MIN ? next_ms : profile->at_ms;
    bool is_time_known = profile->at_ms == INT64_MIN ||
                         profile->at_ms == INT64_MAX ||
                         (!r->is_moving && r->moving_ms > profile->at_ms);
    if (!is_time_known) {
        profile->seen = PROFILE_NEVER_SEEN;
    }
}

/* Look at a node afresh. */
static void look(struct reserving *r, struct profile_memory *m, uint32_t node)
{
    struct node_profile *profile = &m->nodes.items[node];
    const struct node *record = &r->round->sched->nodes.items[node];

    profile->at_ms = INT64_MAX;
    profile->until_ms = INT64_MAX;
    profile->queues = 0;
    profile->seen = r->round->sched->change_counts[node];
    profile->is_too_small = !amounts_fit(&m->request, &record->capacity);
    if (profile->is_too_small) {
        profile->is_summed = false;
    } else if (!reserve_sum_queues(r, m, node)) {
        ask(r, m, node);
    }
}

/* Look at a node with what the plan did there; what is known of it without
 * that is right again after the plan. */
static void look_planned(struct reserving *r, struct profile_memory *m,
                         uint32_t node)
{
    struct node_profile *profile = &m->nodes.items[node];
    const struct node *record = &r->round->sched->nodes.items[node];
    bool is_known = profile->seen == r->round->sched->change_counts[node];

    if (is_known && profile->is_too_small) {
        return;
    }
    if (is_known) {
        VEC_PUSH(&m->aside, (struct profile_aside){node, *profile});
    }
    if (!is_known || !profile->is_summed ||
        r->is_touched[node] != TOUCH_PLACED ||
        !reserve_sum_planned(r, m, node)) {
        profile->is_too_small = !amounts_fit(&m->request, &record->capacity);
        ask(r, m, node);
    }
    profile->seen = PROFILE_NEVER_SEEN;
}

const struct node_profile *
reserve_profile_of(struct reserving *r, struct profile_memory *m, uint32_t node)
{
    struct node_profile *profile = &m->nodes.items[node];

    if (r->is_touched && r->is_touched[node]) {
        look_planned(r, m, node);
    } else if (profile->seen != r->round->sched->change_counts[node]) {
        look(r, m, node);
    } else if (profile->until_ms > r->round->now_ms) {
        return profile;
    } else if (profile->is_summed) {
        reserve_sum_again(r, m, node);
    } else {
        look(r, m, node);
    }
    return profile;
}

void reserve_forget(struct reserve_memory *memory)
{
    for (uint32_t i = 0; i < PROFILE_MEMORIES; i++) {
        forget(&memory->profiles.items[i]);
    }
    memory->profiles.turn = 0;
}

/* Choosing. */

bool reserve_is_better(const struct reserving *r,
                       const struct profile_memory *m, uint32_t node,
                       uint32_t than)
{
    const struct node_profile *a = &m->nodes.items[node];
    const struct node_profile *b = &m->nodes.items[than];
    const uint32_t *ranks = r->round->sched->ranks;

    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms;
    }
    if (a->key != b->key) {
        /* Without a time: where most of the room is to be had. */
        return a->at_ms != INT64_MAX ? a->key < b->key : a->key > b->key;
    }
    return ranks[node] < ranks[than];
}

bool reserve_for_job(struct reserving *r)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    uint32_t job = r->claim->job;
    struct resource_vec request =
        class_at(round, class_of_job(sched, job))->request;
    uint32_t best = reserve_tree_first(r, reserve_recall(r, &request));

    if (best == NONE) {
        return false;
    }
    struct resource_vec room;
    int64_t next_ms;
    int64_t at_ms = ready_at(r, best, &request, &room, &next_ms);
    /* What is remembered of a node is what asking it says. */
    ASSERT_SLOW(at_ms == r->memory->nodes.items[best].at_ms);
    r->reservation->nodes =
        arena_alloc(round->arena, sizeof(*r->reservation->nodes));
    r->reservation->start_ms = at_ms > round->now_ms ? at_ms : round->now_ms;
    reserve_add(r, best, &request, &room);
    return true;
}
