#include "sched/victims/depth_memo.h"

#include "sched/victims/searches.h"

enum { MEMOS_MAX = 16 };

/* What is known of a node: not, if it or the memo changed since. */
struct known {
    uint32_t serial;  /* of the memo */
    uint32_t changes; /* of the node */
    uint64_t word;
};

struct depth_memo {
    uint32_t class_index, question;
    uint32_t serial;
    uint64_t turn; /* of its last use */
    struct known *nodes;
};

struct depth_memos {
    struct depth_memo items[MEMOS_MAX];
    uint32_t count;
    uint32_t serial;
    uint64_t turn;
};

/* One that is not in use yet, or else that of the question which was not asked
 * for longest. */
static struct depth_memo *take(struct round *round, struct depth_memos *memos)
{
    struct depth_memo *oldest = &memos->items[0];

    if (memos->count < MEMOS_MAX) {
        struct depth_memo *fresh = &memos->items[memos->count++];
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

struct depth_memo *depth_memo_of(struct round *round, uint32_t class_index,
                                 uint32_t question)
{
    if (!round->searches->depths) {
        round->searches->depths =
            arena_alloc(round->arena, sizeof(*round->searches->depths));
    }
    struct depth_memos *memos = round->searches->depths;
    struct depth_memo *memo = NULL;

    for (uint32_t i = 0; i < memos->count && !memo; i++) {
        struct depth_memo *item = &memos->items[i];
        bool is_asked =
            item->class_index == class_index && item->question == question;
        memo = is_asked ? item : NULL;
    }
    if (!memo) {
        memo = take(round, memos);
        memo->class_index = class_index;
        memo->question = question;
        memo->serial = ++memos->serial; /* what it has answers another one */
    }
    memo->turn = ++memos->turn;
    return memo;
}

bool depth_memo_get(const struct round *round, const struct depth_memo *memo,
                    uint32_t node, uint64_t *ret_word)
{
    const struct known *known = &memo->nodes[node];

    *ret_word = known->word;
    return known->serial == memo->serial &&
           known->changes == round->watch.counts[node];
}

void depth_memo_set(const struct round *round, struct depth_memo *memo,
                    uint32_t node, uint64_t word)
{
    memo->nodes[node] =
        (struct known){memo->serial, round->watch.counts[node], word};
}
