#include "sched/cut_memo.h"

enum { MEMOS_MAX = 8 };

/* What is known of a node: not, if it or the memo changed since. */
struct known {
    uint32_t serial;  /* of the memo */
    uint32_t changes; /* of the node */
    uint32_t most;
};

struct cut_memo {
    uint32_t class_index;
    uint32_t serial;
    uint64_t turn; /* of its last use */
    struct known *nodes;
};

struct cut_memos {
    struct cut_memo items[MEMOS_MAX];
    uint32_t count;
    uint32_t serial;
    uint64_t turn;
};

/* One that is not in use yet, or else that of the class which did not ask for
 * longest. */
static struct cut_memo *take(struct round *round, struct cut_memos *memos)
{
    struct cut_memo *oldest = &memos->items[0];

    if (memos->count < MEMOS_MAX) {
        struct cut_memo *fresh = &memos->items[memos->count++];
        fresh->nodes = arena_alloc_array(
            round->arena, round->sched->nodes.count, sizeof(*fresh->nodes));
        return fresh;
    }
    for (uint32_t i = 1; i < MEMOS_MAX; i++) {
        if (memos->items[i].turn < oldest->turn) {
            oldest = &memos->items[i];
        }
    }
    return oldest;
}

struct cut_memo *cut_memo_of(struct round *round, uint32_t class_index)
{
    if (!round->cuts) {
        round->cuts = arena_alloc(round->arena, sizeof(*round->cuts));
    }
    struct cut_memos *memos = round->cuts;
    struct cut_memo *memo = NULL;

    for (uint32_t i = 0; i < memos->count && !memo; i++) {
        memo = memos->items[i].class_index == class_index ? &memos->items[i]
                                                          : NULL;
    }
    if (!memo) {
        memo = take(round, memos);
        memo->class_index = class_index;
        memo->serial = ++memos->serial; /* what it has is of another class */
    }
    memo->turn = ++memos->turn;
    return memo;
}

uint32_t cut_memo_most(const struct round *round, const struct cut_memo *memo,
                       uint32_t node)
{
    const struct known *known = &memo->nodes[node];
    bool is_known =
        known->serial == memo->serial && known->changes == round->changes[node];

    return is_known ? known->most : UINT32_MAX;
}

void cut_memo_set(const struct round *round, struct cut_memo *memo,
                  uint32_t node, uint32_t most)
{
    memo->nodes[node] =
        (struct known){memo->serial, round->changes[node], most};
}
