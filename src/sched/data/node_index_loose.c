/* Keeps nodes that moved recently beside the blocks of the index. */
#include <string.h>

#include "sched/data/node_index_private.h"

/* Of those that moved loosely the first so many take their places when there
 * is no room for more. */
enum { SETTLED = NODE_INDEX_LOOSE_MAX / 2 };

/* Where a node stands among those that moved loosely: mostly at the end. */
static uint32_t loose_place(const struct node_index_loose *loose, uint32_t node)
{
    for (uint32_t i = loose->count; i > 0; i--) {
        if (loose->nodes[i - 1] == node) {
            return i - 1;
        }
    }
    return NODE_INDEX_NONE;
}

/* Take out `count` of those that moved loosely. */
static void drop_loose(struct node_index_loose *loose, uint32_t at,
                       uint32_t count)
{
    uint32_t behind = loose->count - at - count;

    memmove(&loose->nodes[at], &loose->nodes[at + count],
            behind * sizeof(*loose->nodes));
    memmove(&loose->keys[at], &loose->keys[at + count],
            behind * sizeof(*loose->keys));
    memmove(&loose->words[at], &loose->words[at + count],
            behind * sizeof(*loose->words));
    memmove(&loose->block_keys[at], &loose->block_keys[at + count],
            behind * sizeof(*loose->block_keys));
    loose->count -= count;
}

bool node_index_fasten(struct node_index *index, uint32_t node, uint64_t *key)
{
    struct node_index_loose *loose = &index->loose;
    uint32_t at = loose_place(loose, node);

    if (at == NODE_INDEX_NONE) {
        return false;
    }
    *key = loose->block_keys[at];
    drop_loose(loose, at, 1);
    return true;
}

/* Those that moved longest ago take their places. */
static void settle(struct node_index *index)
{
    struct node_index_loose *loose = &index->loose;

    for (uint32_t i = 0; i < SETTLED; i++) {
        node_index_relocate(index, loose->nodes[i], loose->block_keys[i],
                            loose->keys[i], loose->words[i]);
    }
    drop_loose(loose, 0, SETTLED);
}

/* Make room at the end for what stands at a place now. */
static void shift_loose(struct node_index_loose *loose, uint32_t at)
{
    for (; at + 1 < loose->count; at++) {
        loose->nodes[at] = loose->nodes[at + 1];
        loose->keys[at] = loose->keys[at + 1];
        loose->words[at] = loose->words[at + 1];
        loose->block_keys[at] = loose->block_keys[at + 1];
    }
}

void node_index_move_loosely(struct node_index *index, uint32_t node,
                             uint64_t old_key, uint64_t key)
{
    struct node_index_loose *loose = &index->loose;
    uint64_t word = node_index_word(index, node), block_key = old_key;
    uint32_t at = loose_place(loose, node);

    if (at != NODE_INDEX_NONE) {
        block_key = loose->block_keys[at];
        shift_loose(loose, at);
    } else if (key == old_key) {
        node_index_relocate(index, node, key, key, word);
        return;
    } else {
        node_index_relocate(index, node, old_key, old_key, 0);
        if (loose->count == NODE_INDEX_LOOSE_MAX) {
            settle(index);
        }
        loose->count++;
    }
    at = loose->count - 1;
    loose->nodes[at] = node;
    loose->keys[at] = key;
    loose->words[at] = word;
    loose->block_keys[at] = block_key;
}
