#include "sched/victims/revocable.h"

#include "sched/victims/lend.h"

/* So many of them are passed over in the time in which a node is examined. */
enum { YIELDERS_A_LOOK = 64 };

/* Whether a node has the label's value that is searched for. */
static bool is_in_group(const struct search *search, uint32_t node)
{
    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        if (search->only->nodes[i] == node) {
            return true;
        }
    }
    return !search->only;
}

bool yielders_is_looked_at(const struct round *round, uint32_t index)
{
    struct sched *sched = round->sched;

    if (sched->nodes.items[index].look == sched->look) {
        return true;
    }
    sched->nodes.items[index].look = sched->look;
    round->counters->nodes_examined++;
    return false;
}

void yielders_look_anew(const struct round *round)
{
    round->sched->look++;
    if (round->reserve.asking) {
        round->counters->nodes_examined +=
            round->sched->yielders.count / YIELDERS_A_LOOK;
    }
}

void yielders_add_room(const struct round *round, uint32_t index,
                       struct resource_vec *room)
{
    const struct sched *sched = round->sched;

    if (!round->reserve.asking || !sched->yielders.count) {
        return;
    }
    for (uint32_t at = sched->nodes.items[index].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (yielders_has(round, run) && !lend_is_victim(round, run)) {
            amounts_add(
                room, &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
}

uint32_t yielders_find(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint32_t best = NONE;
    uint64_t best_key = 0;

    yielders_look_anew(round);
    for (size_t i = 0; round->reserve.asking && i < sched->yielders.count;
         i++) {
        const struct run *run = &sched->runs.items[sched->yielders.items[i]];
        if (!yielders_has(round, run) ||
            yielders_is_looked_at(round, run->node)) {
            continue;
        }
        struct resource_vec room = sched->free[run->node];
        yielders_add_room(round, run->node, &room);
        lend_add_room(round, run->node, &room);
        uint64_t key = pool_weigh(round->pool, &room);
        if (amounts_fit(&class->request, &room) &&
            (best == NONE || key < best_key ||
             (key == best_key &&
              sched->ranks[run->node] < sched->ranks[best])) &&
            is_in_group(search, run->node) && place_allows(search, run->node)) {
            best = run->node;
            best_key = key;
        }
    }
    return best;
}

bool yielders_are_on(const struct round *round, uint32_t node)
{
    const struct sched *sched = round->sched;
    bool may_have = round->reserve.asking && sched->yielders.count;

    for (uint32_t at = may_have ? sched->nodes.items[node].run_first : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        if (yielders_has(round, &sched->runs.items[at])) {
            return true;
        }
    }
    return false;
}
