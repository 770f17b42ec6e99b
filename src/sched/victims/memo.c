#include "sched/victims/memo.h"

#include <string.h>

#include "sched/place/place.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/group_victims.h"
#include "sched/victims/searches.h"

enum {
    BLOCK = 64, /* nodes */
    MEMOS_MAX = 32,
    LEAVES_MAX = 1 << 18, /* of all memos */
    LEAVES_A_LOOK = 16,   /* remembered ones are so much cheaper to look at */
};

/* What is remembered of a node. */
struct leaf {
    struct victim_set set;
    uint64_t serial; /* of the search that found it */
    bool has_set;
};

/* Whether the queue's turn was before that of another one. */
enum turn { TURN_UNASKED, TURN_AFTER, TURN_BEFORE };

/* What is remembered for a class and a queue. */
struct victim_memo {
    uint32_t class_index, queue;
    uint64_t serial; /* of the last search */
    size_t noted_seen, changes_seen;
    struct leaf *leaves; /* by node */
    uint32_t *bests;     /* by block: a node, or NONE */
    bool *is_stale;      /* by block: its best is not known */
    uint8_t *turns;      /* by queue */
    uint32_t *asked;     /* queues whose turns are known */
    uint32_t asked_count;
};

struct victim_memos {
    struct victim_memo items[MEMOS_MAX];
    uint32_t count, capacity;
    uint32_t block_count;
    uint32_t pods_max; /* that run on a node */
    uint64_t serial;
    struct victim_memo *asking; /* is being brought up to date; or NULL */
};

/* What is noted. */

void victim_memo_note_turn(struct round *round, uint32_t queue, bool is_before)
{
    struct victim_memo *memo =
        round->searches->memos ? round->searches->memos->asking : NULL;

    if (!memo) {
        return;
    }
    /* What is remembered of a turn does not change while it is asked for. */
    ASSERT(memo->asked_count <= round->sched->queues.count);
    if (memo->turns[queue] == TURN_UNASKED) {
        memo->asked[memo->asked_count++] = queue;
    }
    memo->turns[queue] = is_before ? TURN_BEFORE : TURN_AFTER;
}

/* Making a memo. */

static struct victim_memos *memos_create(struct round *round)
{
    const struct sched *sched = round->sched;
    struct victim_memos *memos = arena_alloc(round->arena, sizeof(*memos));
    uint32_t nodes = (uint32_t)sched->nodes.count;
    uint32_t fit = LEAVES_MAX / (nodes + 1);

    memset(memos, 0, sizeof(*memos));
    memos->capacity = fit < 1 ? 1 : fit > MEMOS_MAX ? MEMOS_MAX : fit;
    memos->block_count = (nodes + BLOCK - 1) / BLOCK;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t count = sched->nodes.items[i].run_count;
        memos->pods_max = count > memos->pods_max ? count : memos->pods_max;
    }
    return memos;
}

static void memo_init(struct round *round, struct victim_memo *memo)
{
    const struct sched *sched = round->sched;
    uint32_t blocks = round->searches->memos->block_count;

    *memo = (struct victim_memo){
        .leaves = arena_alloc_array(round->arena, sched->nodes.count,
                                    sizeof(*memo->leaves)),
        .bests = arena_alloc_array(round->arena, blocks, sizeof(*memo->bests)),
        .is_stale =
            arena_alloc_array(round->arena, blocks, sizeof(*memo->is_stale)),
        .turns = arena_alloc_array(round->arena, sched->queues.count,
                                   sizeof(*memo->turns)),
        .asked = arena_alloc_array(round->arena, sched->queues.count,
                                   sizeof(*memo->asked)),
    };
}

/* That of a class and a queue; else one that nothing is known of, made anew
 * or of the search that is longest ago. */
static struct victim_memo *memo_get(struct round *round, uint32_t class_index,
                                    uint32_t queue, bool *ret_is_known)
{
    struct victim_memos *memos = round->searches->memos;
    struct victim_memo *memo = &memos->items[0];

    for (uint32_t i = 0; i < memos->count; i++) {
        struct victim_memo *item = &memos->items[i];
        if (item->class_index == class_index && item->queue == queue) {
            *ret_is_known = true;
            return item;
        }
        memo = item->serial < memo->serial ? item : memo;
    }
    if (memos->count < memos->capacity) {
        memo = &memos->items[memos->count++];
        memo_init(round, memo);
    }
    ASSERT(memos->count > 0 && memos->count <= memos->capacity);
    memo->class_index = class_index;
    memo->queue = queue;
    *ret_is_known = false;
    return memo;
}

/* Bringing it up to date. */

static void look_at(const struct search *search,
                    const struct victim_rules *rules, struct victim_memo *memo,
                    uint32_t node)
{
    const struct round *round = search->round;
    struct leaf *leaf = &memo->leaves[node];

    if (leaf->serial == memo->serial ||
        round->sched->nodes.items[node].pool != round->p) {
        return;
    }
    leaf->serial = memo->serial;
    leaf->has_set = victim_sets_judge(search, node, rules, &leaf->set);
    memo->is_stale[node / BLOCK] = true;
}

static void look_at_all(const struct search *search,
                        const struct victim_rules *rules,
                        struct victim_memo *memo)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t blocks = round->searches->memos->block_count;

    memset(memo->leaves, 0, sched->nodes.count * sizeof(*memo->leaves));
    memset(memo->turns, 0, sched->queues.count * sizeof(*memo->turns));
    memset(memo->bests, 0xff, blocks * sizeof(*memo->bests));
    memset(memo->is_stale, 0, blocks * sizeof(*memo->is_stale));
    memo->asked_count = 0;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        look_at(search, rules, memo, i);
    }
}

static void look_at_members(const struct search *search,
                            const struct victim_rules *rules,
                            struct victim_memo *memo, const struct seq *leased)
{
    const struct sched *sched = search->round->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(leased, at);
         seq_next(leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(leased, at)].run;
        look_at(search, rules, memo, sched->runs.items[run].node);
    }
}

/* While a sub-group has more surplus than runs on any node, all its pods are
 * surplus on each, whatever the number; and whether the gang would break is
 * asked where one has less.  What changes for other reasons changes on every
 * node: surplus goes where the minimums may go. */
static void look_at_gang(const struct search *search,
                         const struct victim_rules *rules,
                         struct victim_memo *memo,
                         const struct surplus_change *change)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct gang *gang = &sched->gangs.items[change->gang];
    uint32_t pods_max = round->searches->memos->pods_max;

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        if (change->sub_group == NONE ||
            sub_group_surplus(sched, gang, i) < pods_max ||
            (change->sub_group == i && change->surplus_min < pods_max)) {
            look_at_members(search, rules, memo, sub_group_leased(gang, i));
        }
    }
}

static void look_at_changed(const struct search *search,
                            const struct victim_rules *rules,
                            struct victim_memo *memo)
{
    const struct watch *watch = &search->round->watch;

    for (size_t i = memo->noted_seen; i < watch->costs.count; i++) {
        look_at(search, rules, memo, watch->costs.items[i]);
    }
    for (size_t i = memo->changes_seen; i < watch->surplus.count; i++) {
        look_at_gang(search, rules, memo, &watch->surplus.items[i]);
    }
}

/* Whether some turn is another than it was. */
static bool has_turned(const struct search *search,
                       const struct victim_memo *memo)
{
    for (uint32_t i = 0; i < memo->asked_count; i++) {
        uint32_t queue = memo->asked[i];
        enum turn turn = group_victims_is_turn_before(search, queue)
                             ? TURN_BEFORE
                             : TURN_AFTER;
        if (turn != memo->turns[queue]) {
            return true;
        }
    }
    return false;
}

static struct victim_memo *memo_update(const struct search *search,
                                       const struct victim_rules *rules)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t list = sched->jobs.items[search->job].list;
    bool is_known;

    if (!round->searches->memos) {
        round->searches->memos = memos_create(round);
        round->watch.is_of_costs = true;
    }
    struct victim_memos *memos = round->searches->memos;
    struct victim_memo *memo = memo_get(
        round, search->class_index, sched->lists.items[list].queue, &is_known);
    memo->serial = ++memos->serial;
    memos->asking = memo;
    if (is_known && !has_turned(search, memo)) {
        look_at_changed(search, rules, memo);
    } else {
        look_at_all(search, rules, memo);
    }
    memos->asking = NULL;
    memo->noted_seen = round->watch.costs.count;
    memo->changes_seen = round->watch.surplus.count;
    return memo;
}

/* Searching it. */

/* What is asked about a place notes what was refused, so all are asked that
 * would be. */
static uint32_t find_in_order(const struct search *search,
                              const struct victim_memo *memo)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t best = NONE;

    round->counters->nodes_examined += sched->nodes.count / LEAVES_A_LOOK;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct leaf *leaf = &memo->leaves[i];
        if (leaf->has_set &&
            (best == NONE || victim_set_compare(round, &leaf->set,
                                                &memo->leaves[best].set) < 0) &&
            victim_set_is_allowed(search, &leaf->set)) {
            best = i;
        }
    }
    return best;
}

static uint32_t best_of_block(struct round *round,
                              const struct victim_memo *memo, uint32_t block)
{
    const struct sched *sched = round->sched;
    uint32_t best = NONE, first = block * BLOCK;

    round->counters->nodes_examined += BLOCK / LEAVES_A_LOOK;
    for (uint32_t i = first; i < first + BLOCK && i < sched->nodes.count; i++) {
        const struct leaf *leaf = &memo->leaves[i];
        if (leaf->has_set &&
            (best == NONE || victim_set_compare(round, &leaf->set,
                                                &memo->leaves[best].set) < 0)) {
            best = i;
        }
    }
    return best;
}

static uint32_t best_of_all(struct round *round, const struct victim_memo *memo)
{
    uint32_t best = NONE;

    round->counters->nodes_examined +=
        round->searches->memos->block_count / LEAVES_A_LOOK;
    for (uint32_t b = 0; b < round->searches->memos->block_count; b++) {
        if (memo->is_stale[b]) {
            memo->bests[b] = best_of_block(round, memo, b);
            memo->is_stale[b] = false;
        }
        uint32_t node = memo->bests[b];
        if (node != NONE &&
            (best == NONE || victim_set_compare(round, &memo->leaves[node].set,
                                                &memo->leaves[best].set) < 0)) {
            best = node;
        }
    }
    return best;
}

/* What a node is refused for stays so until something moves there. */
static uint32_t find_in_blocks(const struct search *search,
                               struct victim_memo *memo)
{
    struct round *round = search->round;

    for (;;) {
        uint32_t node = best_of_all(round, memo);
        if (node == NONE ||
            victim_set_is_allowed(search, &memo->leaves[node].set)) {
            return node;
        }
        memo->leaves[node].has_set = false;
        memo->is_stale[node / BLOCK] = true;
    }
}

bool victim_memo_serves(const struct search *search,
                        const struct victim_rules *rules)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct job *job = &sched->jobs.items[search->job];

    return !search->only && job->gang == NONE && !rules->takes_surplus &&
           !rules->spares_groups && !rules->is_bound &&
           !round->reserve.asking && !round->reserve.ordinal_min &&
           !round->searches->keeps_surplus && !round->is_lending &&
           !place_is_special(search) && !borrowed_has(sched, search->job);
}

bool victim_memo_find(const struct search *search,
                      const struct victim_rules *rules,
                      struct victim_set *ret_set)
{
    const struct round *round = search->round;
    struct victim_memo *memo = memo_update(search, rules);
    bool is_ordered = !round->reserve.hold && !round->is_growth_off_gpus;
    uint32_t node =
        is_ordered ? find_in_blocks(search, memo) : find_in_order(search, memo);

    if (node != NONE) {
        *ret_set = memo->leaves[node].set;
    }
    return node != NONE;
}
