#include "sched/place/changes.h"

#include <string.h>

#include "sched/data/packed.h"
#include "sched/place/place.h"

/* With more open nodes than this the index is updated even without a search:
 * undoing looks at all open nodes. */
enum { OPEN_NODES_MAX = 1024 };

void place_changes_begin(struct round *round)
{
    size_t count = round->sched->nodes.count;
    struct changes *changes = arena_alloc(round->arena, sizeof(*changes));

    changes->recent.places =
        arena_alloc_array(round->arena, count, sizeof(*changes->recent.places));
    memset(changes->recent.places, 0xff,
           count * sizeof(*changes->recent.places));
    changes->is_open =
        arena_alloc_array(round->arena, count, sizeof(*changes->is_open));
    round->changes = changes;
}

void place_changes_end(struct round *round)
{
    recent_fini(&round->changes->recent);
    VEC_FREE(&round->changes->open_nodes);
}

void place_changes_count_work(const struct round *round, uint32_t work)
{
    round->counters->nodes_examined += round_is_what_if(round) ? work : 0;
}

/* The node's place in the index follows what it has free. */
static void move_node(struct round *round, uint32_t node)
{
    const struct sched *sched = round->sched;

    place_changes_count_work(round, WORK_MOVE);
    node_reindex_loosely(round->sched, node);
    recent_note(&round->changes->recent, node,
                (uint32_t)round->watch.moved.count,
                sched->nodes.items[node].key, sched->free_words[node]);
    VEC_PUSH(&round->watch.moved, node);
}

void place_changes_note(struct round *round, uint32_t node, size_t entry)
{
    watch_free(round, node);
    if (!round->changes->is_open[node]) {
        if (round->changes->open_nodes.count >= OPEN_NODES_MAX) {
            place_flush(round);
        }
        round->changes->is_open[node] = true;
        VEC_PUSH(&round->changes->open_nodes, (struct open_node){entry, node});
    }
}

void place_changes_note_growth(struct round *round, uint32_t node, size_t entry)
{
    struct sched *sched = round->sched;

    place_changes_note(round, node, entry);
    sched->free_words[node] =
        packed_of(&round->pool->index.scale, &sched->free[node]);
}

void place_flush(struct round *round)
{
    for (size_t i = 0; i < round->changes->open_nodes.count; i++) {
        uint32_t node = round->changes->open_nodes.items[i].node;
        ASSERT(round->changes->is_open[node]); /* each stands there once */
        round->changes->is_open[node] = false;
        move_node(round, node);
    }
    round->changes->open_nodes.count = 0;
    round->changes->told_count = round->sched->journal.count;
}

void place_changes_undo(struct round *round, size_t mark)
{
    struct open_node *items = round->changes->open_nodes.items;
    bool is_untold = round->changes->told_count <= mark;
    size_t kept = 0;

    ASSERT(mark == round->sched->journal.count);
    for (size_t i = 0; i < round->changes->open_nodes.count; i++) {
        struct open_node item = items[i];
        if (item.entry < mark || item.entry == OPEN_FOR_GOOD) {
            items[kept++] = item;
        } else if (is_untold) {
            round->changes->is_open[item.node] = false;
        } else {
            items[kept++] = (struct open_node){OPEN_FOR_GOOD, item.node};
        }
    }
    ASSERT(kept <= round->changes->open_nodes.count);
    round->changes->open_nodes.count = kept;
    round->changes->told_count = is_untold ? round->changes->told_count : mark;
}
