/* Nodes on which all that may go for a claim may go at once, or never: what
 * each queue's work would make free there is one pile.
 *
 * So it is where lifetimes are 0 and deadlines are not known, as they mostly
 * are.  Whether a queue is over its share changes with every job that starts or
 * ends; then a sum over a few piles takes the place of asking all runs. */
#include "sched/lanes.h"
#include "sched/reserve.h"
#include "sched/whole_node.h"

enum { PILES_MAX = 16 /* of a node; with more queues there it is asked */ };

struct piles {
    struct ready_pile items[PILES_MAX];
    uint32_t count;
};

static bool add(struct piles *piles, uint32_t queue,
                const struct resource_vec *request)
{
    uint32_t at = 0;

    while (at < piles->count && piles->items[at].queue != queue) {
        at++;
    }
    if (at == PILES_MAX) {
        return false;
    }
    if (at == piles->count) {
        piles->items[piles->count++] = (struct ready_pile){.queue = queue};
    }
    amounts_add(&piles->items[at].sum, request);
    return true;
}

/* Put a run where it belongs; false when it goes neither at once nor never. */
static bool add_run(const struct reserving *r, const struct run *run,
                    struct piles *piles)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    bool is_yielder = run->yields_to && run->yields_to == r->claim->serial;

    if (run->state == RUN_PREEMPTED || !run->is_preemptible ||
        run->level < r->claim->level ||
        (run->level > r->claim->level && !is_yielder)) {
        return true; /* gone, in the sums of levels, or there for good */
    }
    const struct class *class = class_at(round, class_of_job(sched, run->job));
    if (class->lifetime_ms == LIFETIME_INFINITE) {
        return true;
    }
    bool has_begun =
        run->started_ms == INT64_MAX || run->started_ms <= round->now_ms;
    return class->lifetime_ms == 0 && has_begun &&
           add(piles,
               is_yielder ? NONE : sched->accounts.items[run->account].queue,
               &class->request);
}

static bool gather(const struct reserving *r, uint32_t node,
                   struct piles *piles)
{
    const struct sched *sched = r->round->sched;
    size_t first = (size_t)node * sched->level_count;

    piles->items[0] =
        (struct ready_pile){.queue = NONE, .sum = sched->free[node]};
    piles->count = 1;
    for (uint32_t l = 0; l < r->claim->level; l++) {
        amounts_add(&piles->items[0].sum, &sched->preemptible[first + l]);
    }
    uint32_t at =
        reserve_must_ask(r, node) ? sched->nodes.items[node].run_first : NONE;
    for (; at != NONE; at = sched->runs.items[at].node_next) {
        if (!add_run(r, &sched->runs.items[at], piles)) {
            return false;
        }
    }
    return true;
}

/* Put piles where the node has its place in the memory. */
static void keep(struct ready_memory *m, struct ready_node *ready,
                 const struct piles *piles)
{
    if (!ready->is_piled || ready->step_capacity < piles->count) {
        ready->step_first = (uint32_t)m->piles.count;
        ready->step_capacity = piles->count + piles->count / 2;
        for (uint32_t i = 0; i < ready->step_capacity; i++) {
            VEC_PUSH(&m->piles, (struct ready_pile){0});
        }
    }
    ready->is_piled = true;
    ready->step_count = piles->count;
    for (uint32_t i = 0; i < piles->count; i++) {
        m->piles.items[ready->step_first + i] = piles->items[i];
        if (piles->items[i].queue != NONE) {
            ready->queues |= reserve_queue_bit(piles->items[i].queue);
        }
    }
}

void reserve_sum_piles(const struct reserving *r, struct ready_memory *m,
                       uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];
    const struct ready_pile *piles = &m->piles.items[ready->step_first];
    struct resource_vec room = piles[0].sum;

    for (uint32_t i = 1; i < ready->step_count; i++) {
        if (piles[i].queue == NONE || r->may_go[piles[i].queue]) {
            amounts_add(&room, &piles[i].sum);
        }
    }
    ready->at_ms = amounts_fit(&m->request, &room) ? INT64_MIN : INT64_MAX;
    ready->key = pool_weigh(r->round->pool, &room);
}

bool reserve_pile(struct reserving *r, struct ready_memory *m, uint32_t node)
{
    struct piles piles;

    if (!reserve_goes_by_level(r, node) ||
        (r->round->sched->whole_gang_count &&
         whole_node_opens_whole(r->round, r->holder, node)) ||
        !gather(r, node, &piles)) {
        return false;
    }
    keep(m, &m->nodes.items[node], &piles);
    reserve_sum_piles(r, m, node);
    return true;
}
