#include "sched/reserve/tree.h"

#include "sched/order/lanes.h"
#include "sched/order/round.h"
#include "sched/state/windows.h"

enum {
    FEW = 16,       /* one node of so many is not many, ... */
    FEW_MIN = 8,    /* nor are so many nodes */
    TRIES_MAX = 64, /* nodes that do not allow the job, then all are asked */
    PAUSE = 4,      /* questions without a tree once much has changed */
    DEPTH_MAX = 32,
};

/* The tree. */

static struct profile_winner winner_of(const struct reserving *r,
                                       const struct profile_memory *m,
                                       uint32_t node)
{
    const struct node_profile *profile = &m->nodes.items[node];

    if (r->round->sched->nodes.items[node].pool != r->round->p) {
        return (struct profile_winner){NONE, INT64_MAX};
    }
    return (struct profile_winner){
        .node = profile->is_too_small ? NONE : node,
        .until_ms =
            profile->seen == PROFILE_NEVER_SEEN ? INT64_MIN : profile->until_ms,
    };
}

static struct profile_winner better_of(const struct reserving *r,
                                       const struct profile_memory *m,
                                       const struct profile_winner *a,
                                       const struct profile_winner *b)
{
    bool is_second =
        a->node == NONE ||
        (b->node != NONE && reserve_is_better(r, m, b->node, a->node));

    return (struct profile_winner){
        .node = is_second ? b->node : a->node,
        .until_ms = a->until_ms < b->until_ms ? a->until_ms : b->until_ms,
    };
}

/* What is known of a node has changed. */
static void set_leaf(const struct reserving *r, struct profile_memory *m,
                     uint32_t node)
{
    struct profile_winner *items = m->tree.items;
    uint32_t at = m->tree.width + node;

    ASSERT(node < m->tree.width);
    items[at] = winner_of(r, m, node);
    for (at /= 2; at > 0; at /= 2) {
        items[at] = better_of(r, m, &items[at * 2], &items[at * 2 + 1]);
    }
}

/* All nodes are known: make the tree anew. */
static void build(const struct reserving *r, struct profile_memory *m)
{
    struct profile_tree *tree = &m->tree;
    uint32_t width = 1;

    while (width < m->nodes.count) {
        width *= 2;
    }
    if (width != tree->width) {
        mem_free(tree->items);
        tree->items = mem_alloc_array((size_t)width * 2, sizeof(*tree->items));
        tree->width = width;
    }
    for (uint32_t i = 0; i < width; i++) {
        tree->items[width + i] = i < m->nodes.count
                                     ? winner_of(r, m, i)
                                     : (struct profile_winner){NONE, INT64_MAX};
    }
    for (uint32_t i = width - 1; i > 0; i--) {
        tree->items[i] =
            better_of(r, m, &tree->items[i * 2], &tree->items[i * 2 + 1]);
    }
    while (tree->is_stale.count < m->nodes.count) {
        VEC_PUSH(&tree->is_stale, false);
    }
    ASSERT(tree->width >= m->nodes.count);
    tree->is_whole = true;
}

void reserve_tree_forget(struct profile_memory *m)
{
    mem_free(m->tree.items);
    VEC_FREE(&m->tree.stale);
    VEC_FREE(&m->tree.is_stale);
    m->tree = (struct profile_tree){.pause = 1};
}

/* What changed. */

/* With more changes than this, read all nodes again. */
static bool is_few(const struct profile_memory *m, size_t count)
{
    return count <= FEW_MIN + m->nodes.count / FEW;
}

void reserve_tree_note(struct profile_memory *m, uint32_t node)
{
    struct profile_tree *tree = &m->tree;

    if (tree->is_whole && node < tree->is_stale.count &&
        !tree->is_stale.items[node] && is_few(m, tree->stale.count)) {
        tree->is_stale.items[node] = true;
        VEC_PUSH(&tree->stale, node);
    }
}

static void clear_stale(struct profile_tree *tree)
{
    for (size_t i = 0; i < tree->stale.count; i++) {
        tree->is_stale.items[tree->stale.items[i]] = false;
    }
    tree->stale.count = 0;
}

/* Add the nodes that changed since the last question; false: nobody knows. */
static bool add_changed(const struct sched *sched, struct profile_memory *m)
{
    uint64_t now = sched->changed_base + sched->changed.count;
    bool is_known = m->tree.seen >= sched->changed_base;

    for (uint64_t i = m->tree.seen; is_known && i < now; i++) {
        reserve_tree_note(m, sched->changed.items[i - sched->changed_base]);
    }
    m->tree.seen = now;
    return is_known;
}

/* Add the nodes of which the plan has taken or given something. */
static void add_planned(const struct reserving *r, struct profile_memory *m)
{
    const struct sched *sched = r->round->sched;

    for (size_t i = 0; i < sched->journal.count; i++) {
        reserve_tree_note(m, sched->journal.items[i].node);
    }
}

/* Add the nodes whose time has come. */
static void add_due(const struct reserving *r, struct profile_memory *m)
{
    uint32_t stack[DEPTH_MAX * 2], count = 0;

    if (m->tree.is_whole) {
        stack[count++] = 1;
    }
    while (count && is_few(m, m->tree.stale.count)) {
        uint32_t at = stack[--count];
        if (m->tree.items[at].until_ms > r->round->now_ms) {
            continue;
        }
        if (at >= m->tree.width) {
            reserve_tree_note(m, at - m->tree.width);
        } else {
            ASSERT(count + 2 <= ARRAY_COUNT(stack));
            stack[count++] = at * 2;
            stack[count++] = at * 2 + 1;
        }
    }
}

/* The answer. */

/* Whether the claim's job may use a node when there is room; if nobody knows
 * when that is, now. */
static bool allows(const struct reserving *r, const struct profile_memory *m,
                   uint32_t node)
{
    const struct round *round = r->round;
    uint32_t job = r->claim->job;
    int64_t at_ms = m->nodes.items[node].at_ms;

    if (windows_are_any(round->sched) && at_ms != INT64_MAX &&
        windows_bar(round->sched,
                    class_at(round, class_of_job(round->sched, job)), node,
                    at_ms > round->now_ms ? at_ms : round->now_ms)) {
        return false;
    }
    return reserve_matches(r, job, node);
}

/* Ask all nodes. */
static uint32_t ask_all(struct reserving *r, struct profile_memory *m)
{
    const struct sched *sched = r->round->sched;
    uint32_t best = NONE;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].pool == r->round->p &&
            !reserve_profile_of(r, m, i)->is_too_small &&
            (best == NONE || reserve_is_better(r, m, i, best)) &&
            allows(r, m, i)) {
            best = i;
        }
    }
    return best;
}

/* Parts of the tree, that with the best node first. */
struct parts {
    uint32_t items[TRIES_MAX * DEPTH_MAX];
    uint32_t count;
};

static bool part_is_better(const struct reserving *r,
                           const struct profile_memory *m, uint32_t a,
                           uint32_t b)
{
    return reserve_is_better(r, m, m->tree.items[a].node,
                             m->tree.items[b].node);
}

static void add_part(const struct reserving *r, const struct profile_memory *m,
                     struct parts *parts, uint32_t part)
{
    uint32_t at = parts->count;

    if (m->tree.items[part].node == NONE) {
        return;
    }
    ASSERT(at < ARRAY_COUNT(parts->items));
    parts->count++;
    while (at > 0 && part_is_better(r, m, parts->items[at - 1], part)) {
        parts->items[at] = parts->items[at - 1];
        at--;
    }
    parts->items[at] = part;
}

/* The best that allows the job, of those tried; `*ret_is_sure` unless there
 * were too many. */
static uint32_t ask_tree(struct reserving *r, const struct profile_memory *m,
                         bool *ret_is_sure)
{
    struct parts parts = {.count = 0};

    *ret_is_sure = true;
    add_part(r, m, &parts, 1);
    for (uint32_t i = 0; i < TRIES_MAX && parts.count; i++) {
        uint32_t at = parts.items[--parts.count];
        uint32_t node = m->tree.items[at].node;
        if (allows(r, m, node)) {
            return node;
        }
        /* All that is beside the way down to it. */
        while (at < m->tree.width) {
            bool is_left = m->tree.items[at * 2].node == node;
            add_part(r, m, &parts, at * 2 + is_left);
            at = at * 2 + !is_left;
        }
    }
    *ret_is_sure = parts.count == 0;
    return NONE;
}

/* Bring the tree up to date; false: there is none, or too much changed. */
static bool refresh(struct reserving *r, struct profile_memory *m)
{
    struct profile_tree *tree = &m->tree;

    add_planned(r, m);
    add_due(r, m);
    if (!tree->is_whole || !is_few(m, tree->stale.count)) {
        return false;
    }
    for (size_t i = 0; i < tree->stale.count; i++) {
        uint32_t node = tree->stale.items[i];
        ASSERT(tree->is_stale.items[node]);
        if (r->round->sched->nodes.items[node].pool == r->round->p) {
            (void)reserve_profile_of(r, m, node);
        }
        set_leaf(r, m, node);
    }
    clear_stale(tree);
    return true;
}

/* Ask all nodes, and make the tree of what they say if it may last. */
static uint32_t ask_anew(struct reserving *r, struct profile_memory *m,
                         bool is_quiet)
{
    struct profile_tree *tree = &m->tree;
    uint32_t best = ask_all(r, m);

    clear_stale(tree);
    tree->pause = tree->is_whole ? PAUSE : tree->pause;
    tree->is_whole = false;
    if (!is_quiet) {
        tree->pause = PAUSE;
    } else if (tree->pause > 0) {
        tree->pause--;
    } else {
        build(r, m);
    }
    return best;
}

uint32_t reserve_tree_first(struct reserving *r, struct profile_memory *m)
{
    const struct sched *sched = r->round->sched;
    uint64_t change_count =
        sched->changed_base + sched->changed.count - m->tree.seen;
    bool is_quiet =
        add_changed(sched, m) && is_few(m, change_count + sched->journal.count);
    bool is_sure = false;

    if (!is_quiet || m->nodes.count != m->tree.is_stale.count ||
        !refresh(r, m)) {
        return ask_anew(r, m, is_quiet);
    }
    uint32_t best = ask_tree(r, m, &is_sure);
    return is_sure ? best : ask_all(r, m);
}
