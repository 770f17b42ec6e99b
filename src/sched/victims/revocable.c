#include "sched/victims/revocable.h"

#include "sched/place/place.h"
#include "sched/victims/recall.h"

/* So many of them are passed over in the time in which a node is examined. */
enum { REVOCABLES_A_LOOK = 64 };

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

bool revocables_is_looked_at(const struct round *round, uint32_t index)
{
    struct sched *sched = round->sched;

    if (sched->nodes.items[index].look == sched->look) {
        return true;
    }
    sched->nodes.items[index].look = sched->look;
    round->counters->nodes_examined++;
    return false;
}

void revocables_look_anew(const struct round *round)
{
    round->sched->look++;
    if (round->reserve.asking) {
        round->counters->nodes_examined +=
            round->sched->revocables.count / REVOCABLES_A_LOOK;
    }
}

void revocables_add_room(const struct round *round, uint32_t index,
                         struct resource_vec *room)
{
    const struct sched *sched = round->sched;

    if (!round->reserve.asking || !sched->revocables.count) {
        return;
    }
    for (uint32_t at = sched->nodes.items[index].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (revocables_has(round, run) && !recall_is_victim(round, run)) {
            amounts_add(
                room, &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
}

uint32_t revocables_find(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint32_t best = NONE;
    uint64_t best_key = 0;

    revocables_look_anew(round);
    for (size_t i = 0; round->reserve.asking && i < sched->revocables.count;
         i++) {
        const struct run *run = &sched->runs.items[sched->revocables.items[i]];
        ASSERT(run->revocable_place == i && run->revocable_for > 0);
        if (!revocables_has(round, run) ||
            revocables_is_looked_at(round, run->node)) {
            continue;
        }
        struct resource_vec room = sched->free[run->node];
        revocables_add_room(round, run->node, &room);
        recall_add_room(round, run->node, &room);
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

bool revocables_are_on(const struct round *round, uint32_t node)
{
    const struct sched *sched = round->sched;
    bool may_have = round->reserve.asking && sched->revocables.count;

    for (uint32_t at = may_have ? sched->nodes.items[node].run_first : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        if (revocables_has(round, &sched->runs.items[at])) {
            return true;
        }
    }
    return false;
}
