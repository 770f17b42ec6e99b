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

/* More than so many have holes in them: they are made anew. */
enum { STEPS_PER_NODE = 256, PILES_PER_NODE = 32 };

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

/* Whether what is remembered was asked for the like. */
static bool is_alike(const struct reserving *r, const struct ready_memory *m,
                     const struct resource_vec *request)
{
    return m->level == r->claim->level && m->holder == r->holder &&
           m->is_of_gang == r->claim->is_gang &&
           m->steps.count <= STEPS_PER_NODE * (m->nodes.count + 1) &&
           m->piles.count <= PILES_PER_NODE * (m->nodes.count + 1) &&
           memcmp(m->weights, r->round->pool->weights, sizeof(m->weights)) ==
               0 &&
           memcmp(&m->request, request, sizeof(*request)) == 0;
}

/* Other runs yield now. */
static void forget_revocables(const struct sched *sched, struct ready_memory *m)
{
    for (size_t i = 0; i < sched->revocables.count; i++) {
        uint32_t node = sched->runs.items[sched->revocables.items[i]].node;
        ASSERT(sched->runs.items[sched->revocables.items[i]].yield_place == i);
        if (node < m->nodes.count) {
            *reserve_seen(m, node) = READY_NEVER_SEEN;
            reserve_tree_note(m, node);
        }
    }
}

/* The lifetimes of some queues' work are worth something else now. */
static void note_flips(const struct reserving *r, struct ready_memory *m,
                       uint64_t queues)
{
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        struct ready_node *ready = &m->nodes.items[i];
        if (!(ready->queues & queues) ||
            *reserve_seen(m, i) == READY_NEVER_SEEN) {
            continue;
        }
        reserve_tree_note(m, i);
        if (ready->is_piled) {
            reserve_sum_piles(r, m, i);
        } else {
            *reserve_seen(m, i) = READY_NEVER_SEEN;
        }
    }
}

void reserve_put_back(struct ready_memory *m)
{
    for (size_t i = 0; i < m->aside.count; i++) {
        m->nodes.items[m->aside.items[i].node] = m->aside.items[i].ready;
    }
    m->aside.count = 0;
}

static void forget(struct ready_memory *m)
{
    VEC_FREE(&m->aside);
    VEC_FREE(&m->nodes);
    VEC_FREE(&m->steps);
    VEC_FREE(&m->piles);
    VEC_FREE(&m->may_go);
    VEC_FREE(&m->counts);
    VEC_FREE(&m->allowed);
    reserve_tree_forget(m);
    *m = (struct ready_memory){.last_ms = INT64_MIN, .tree = m->tree};
}

/* The memory that was asked for the like, or else the one longest not asked,
 * empty. */
static struct ready_memory *choose(const struct reserving *r,
                                   const struct resource_vec *request)
{
    struct ready_memories *memories = &r->round->pool->ready;
    struct ready_memory *oldest = &memories->items[0];

    memories->turn++;
    for (uint32_t i = 0; i < READY_MEMORIES; i++) {
        struct ready_memory *m = &memories->items[i];
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

struct ready_memory *reserve_recall(struct reserving *r,
                                    const struct resource_vec *request)
{
    const struct sched *sched = r->round->sched;
    struct ready_memory *m = choose(r, request);
    size_t queue_count = sched->queues.count;
    uint64_t flipped = 0;

    m->turn = r->round->pool->ready.turn;
    reserve_put_back(m);
    if (m->serial != r->claim->serial) {
        m->serial = r->claim->serial;
        forget_revocables(sched, m);
    }
    while (m->nodes.count < sched->nodes.count) {
        VEC_PUSH(&m->nodes, (struct ready_node){.seen = READY_NEVER_SEEN});
    }
    while (m->is_of_gang && m->counts.count < sched->nodes.count) {
        VEC_PUSH(&m->counts, (struct ready_count){.seen = READY_NEVER_SEEN});
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
static void ask(struct reserving *r, struct ready_memory *m, uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];
    struct resource_vec room;
    int64_t next_ms;

    ready->is_piled = false;
    ready->at_ms = ready_at(r, node, &m->request, &room, &next_ms);
    ready->key = pool_weigh(r->round->pool, &room);
    ready->queues = r->queues;
    /* What is ready gets more room with the next bound; what is bounded in vain
     * counts as free all along. */
    ready->until_ms = ready->at_ms == INT64_MIN ? next_ms : ready->at_ms;
    bool is_time_known = ready->at_ms == INT64_MIN ||
                         ready->at_ms == INT64_MAX ||
                         (!r->is_moving && r->moving_ms > ready->at_ms);
    if (!is_time_known) {
        ready->seen = READY_NEVER_SEEN;
    }
}

/* Look at a node afresh. */
static void look(struct reserving *r, struct ready_memory *m, uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];
    const struct node *record = &r->round->sched->nodes.items[node];

    ready->at_ms = INT64_MAX;
    ready->until_ms = INT64_MAX;
    ready->queues = 0;
    ready->seen = r->round->sched->change_counts[node];
    ready->is_too_small = !amounts_fit(&m->request, &record->capacity);
    if (ready->is_too_small) {
        ready->is_piled = false;
    } else if (!reserve_pile(r, m, node)) {
        ask(r, m, node);
    }
}

/* Look at a node with what the plan did there; what is known of it without
 * that is right again after the plan. */
static void look_planned(struct reserving *r, struct ready_memory *m,
                         uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];
    const struct node *record = &r->round->sched->nodes.items[node];
    bool is_known = ready->seen == r->round->sched->change_counts[node];

    if (is_known && ready->is_too_small) {
        return;
    }
    if (is_known) {
        VEC_PUSH(&m->aside, (struct ready_aside){node, *ready});
    }
    if (!is_known || !ready->is_piled || r->is_touched[node] != TOUCH_PLACED ||
        !reserve_sum_planned(r, m, node)) {
        ready->is_too_small = !amounts_fit(&m->request, &record->capacity);
        ask(r, m, node);
    }
    ready->seen = READY_NEVER_SEEN;
}

const struct ready_node *reserve_ready_of(struct reserving *r,
                                          struct ready_memory *m, uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];

    if (r->is_touched && r->is_touched[node]) {
        look_planned(r, m, node);
    } else if (ready->seen != r->round->sched->change_counts[node]) {
        look(r, m, node);
    } else if (ready->until_ms > r->round->now_ms) {
        return ready;
    } else if (ready->is_piled) {
        reserve_sum_piles(r, m, node);
    } else {
        look(r, m, node);
    }
    return ready;
}

void reserve_forget(struct pool *pool)
{
    for (uint32_t i = 0; i < READY_MEMORIES; i++) {
        forget(&pool->ready.items[i]);
    }
    pool->ready.turn = 0;
}

/* Choosing. */

bool reserve_is_better(const struct reserving *r, const struct ready_memory *m,
                       uint32_t node, uint32_t than)
{
    const struct ready_node *a = &m->nodes.items[node];
    const struct ready_node *b = &m->nodes.items[than];
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
