/* The runs of a node, and the mark that it changed. */
#include "sched/reserve/reserve.h"
#include "sched/state/extras.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"

void nodes_relink_runs(struct sched *sched, uint32_t index, uint32_t pool)
{
    VEC(uint32_t) runs = {0};

    for (uint32_t run = sched->nodes.items[index].run_first; run != NONE;
         run = sched->runs.items[run].node_next) {
        VEC_PUSH(&runs, run);
    }
    for (size_t i = 0; i < runs.count; i++) {
        run_unlink(sched, runs.items[i]);
    }
    pool_nodes_leave(sched, index);
    sched->nodes.items[index].pool = pool;
    for (size_t i = 0; i < runs.count; i++) {
        run_link(sched, runs.items[i]);
    }
    VEC_FREE(&runs);
}

/* Whether more than its level says when a run would make room: it must end, or
 * may be preempted only when it is old enough. */
static bool is_held(const struct run *run, const struct class *class)
{
    return class->deadline_ms != INT64_MAX ||
           (!run->is_urgency_preemptible &&
            class->lifetime_ms != LIFETIME_INFINITE);
}

/* Put a run first in the list of its node, or take it off. */
static void list_run(struct sched *sched, struct node *node, uint32_t index,
                     int sign)
{
    struct run *run = &sched->runs.items[index];

    if (sign > 0) {
        run->node_next = node->run_first;
        run->node_previous = NONE;
        if (node->run_first != NONE) {
            sched->runs.items[node->run_first].node_previous = index;
        }
        node->run_first = index;
        return;
    }
    /* Only the first run of a node has none before it. */
    ASSERT((run->node_previous == NONE) == (node->run_first == index));
    if (run->node_next != NONE) {
        sched->runs.items[run->node_next].node_previous = run->node_previous;
    }
    if (run->node_previous != NONE) {
        sched->runs.items[run->node_previous].node_next = run->node_next;
    } else {
        node->run_first = run->node_next;
    }
}

void node_add_run(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    struct node *node = &sched->nodes.items[run->node];
    uint32_t list = sched->jobs.items[run->job].list;
    uint32_t c = sched->lists.items[list].class_index;
    const struct resource_vec *request = &sched->classes.items[c].request;

    ASSERT(sign > 0 || node->run_count > 0); /* a node loses what it has */
    if (sign > 0) {
        run->is_held = is_held(run, &sched->classes.items[c]);
    }
    if (node->pool != NONE &&
        sched->pools.items[node->pool].memory.profiles.turn) {
        reserve_note_run(sched, run, &sched->classes.items[c], sign);
    }
    node->held_count += run->is_held ? (uint32_t)sign : 0;
    floating_count(sched, node->pool, request, sign);
    amounts_count(&sched->free[run->node], request, -sign);
    extras_count(sched, run->node, &sched->classes.items[c], sign);
    if (run->is_urgency_preemptible) {
        amounts_count(
            &sched->urgency_preemptible[(size_t)run->node * sched->level_count +
                                        run->level],
            request, sign);
        ASSERT(sign > 0 || sched->urgency_preemptible_count[run->level] > 0);
        sched->urgency_preemptible_count[run->level] += (uint32_t)sign;
    }
    list_run(sched, node, index, sign);
    node->run_count += (uint32_t)sign;
    ASSERT(node->held_count <= node->run_count); /* they are among its runs */
    if (node->is_on_trial) {
        node_refresh(sched, run->node);
    }
    node_touch(sched, run->node);
}
