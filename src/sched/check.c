#include <string.h>

#include "sched/feature_table.h"
#include "sched/place/exclusive_node.h"
#include "sched/state/borrowed.h"
#include "sched/state/extras.h"
#include "sched/state/floating.h"
#include "sched/state/list_heap.h"
#include "sched/state/sub_groups.h"

/* Recomputing what is kept up to date by deltas. */

static bool same_vec(const struct resource_vec *a, const struct resource_vec *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static const struct resource_vec *request_of(const struct sched *sched,
                                             uint32_t job)
{
    const struct job *record = &sched->jobs.items[job];
    uint32_t c = sched->lists.items[record->list].class_index;

    return &sched->classes.items[c].request;
}

/* Whether a node's sums are those of its runs, whose state is at rest; what
 * they leave free of it. */
static bool are_runs_right(const struct sched *sched, uint32_t index,
                           struct resource_vec *ret_left)
{
    const struct node *node = &sched->nodes.items[index];
    const struct resource_vec *known =
        &sched->urgency_preemptible[(size_t)index * sched->level_count];
    struct resource_vec urgency_preemptible[LEVELS_MAX] = {0};
    uint32_t count = 0, borrowed_count = 0, held_count = 0;
    bool is_right = true;

    *ret_left = node->capacity;
    for (uint32_t r = node->run_first; r != NONE;
         r = sched->runs.items[r].node_next) {
        const struct run *run = &sched->runs.items[r];
        const struct resource_vec *request = request_of(sched, run->job);
        amounts_subtract(ret_left, request);
        if (run->is_urgency_preemptible) {
            amounts_add(&urgency_preemptible[run->level], request);
        }
        count++;
        borrowed_count += borrowed_has(sched, run->job);
        held_count += run->is_held;
        is_right &= run->node == index && run->state == RUN_STEADY &&
                    run->evicted_run == NONE;
    }
    for (uint32_t l = 0; l < sched->level_count; l++) {
        is_right &= same_vec(&urgency_preemptible[l], &known[l]);
    }
    return is_right && count == node->run_count &&
           borrowed_count == node->borrowed_count &&
           held_count == node->held_count;
}

static bool are_rows_right(const struct sched *sched)
{
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        struct resource_vec left;
        if (!node->name) {
            continue;
        }
        if (!are_runs_right(sched, i, &left) ||
            !exclusive_node_is_right(sched, i) ||
            !same_vec(&left, &sched->free[i])) {
            return false;
        }
        if (node->is_indexed != (node->is_accepting && node->pool != NONE) ||
            (node->is_indexed &&
             node->key != pool_weigh(&sched->pools.items[node->pool], &left))) {
            return false;
        }
    }
    return true;
}

/* Whether a node of an index stands there as it is. */
static bool is_entry_right(const struct sched *sched,
                           const struct node_index *index, uint32_t node,
                           uint64_t key, uint64_t word)
{
    return key == sched->nodes.items[node].key &&
           word == packed_of(&index->scale, &sched->free[node]) &&
           word == sched->free_words[node];
}

/* Whether a pool's total is that of its nodes and of what is on no node. */
static bool is_total_right(const struct sched *sched, uint32_t p)
{
    const struct pool *pool = &sched->pools.items[p];
    struct pool sum = {.policy_index = pool->policy_index};

    for (size_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->name && node->pool == p && node_is_in_total(node)) {
            amounts_add(&sum.total, &node->capacity);
        }
    }
    floating_strip(sched, &sum.total);
    floating_set_totals(sched, &sum);
    return same_vec(&sum.total, &pool->total);
}

static bool is_index_right(const struct sched *sched, uint32_t p)
{
    const struct pool *pool = &sched->pools.items[p];
    const struct node_index *index = &pool->index;
    uint64_t key = 0;
    uint32_t rank = 0, count = 0, loose_count = 0;

    for (uint32_t b = 0; b < index->order_count; b++) {
        const struct node_index_block *block = &index->blocks[index->order[b]];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t node = block->nodes[i];
            bool is_after = block->keys[i] > key ||
                            (block->keys[i] == key &&
                             (sched->ranks[node] > rank || count == 0));
            bool is_loose = block->words[i] == 0;
            if (!is_after || sched->nodes.items[node].pool != p ||
                !packed_fits(block->words[i], block->kinds[i] & 1
                                                  ? index->tops[b].odd
                                                  : index->tops[b].even) ||
                (!is_loose &&
                 !is_entry_right(sched, index, node, block->keys[i],
                                 block->words[i]))) {
                return false;
            }
            key = block->keys[i];
            rank = sched->ranks[node];
            count++;
            loose_count += is_loose;
        }
    }
    for (uint32_t i = 0; i < index->loose.count; i++) {
        if (!is_entry_right(sched, index, index->loose.nodes[i],
                            index->loose.keys[i], index->loose.words[i])) {
            return false;
        }
    }
    return count == pool->indexed_count && loose_count == index->loose.count;
}

bool nodes_are_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        if (!is_index_right(sched, p) || !is_total_right(sched, p)) {
            return false;
        }
    }
    return are_rows_right(sched) && extras_are_right(sched);
}

bool accounts_are_right(const struct sched *sched, struct arena *scratch)
{
    struct account *sums =
        arena_alloc_array(scratch, sched->accounts.count, sizeof(*sums));

    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE) {
            continue;
        }
        if (sched->job_flags.items[i] & JOB_PLANNED) {
            return false;
        }
        if (job->run == NONE) {
            struct account *sum = &sums[sched->lists.items[job->list].account];
            if (!sub_group_is_optional(sched, i)) {
                amounts_add(&sum->queued, request_of(sched, i));
            }
            sum->queued_count++;
        } else {
            struct account *sum = &sums[sched->runs.items[job->run].account];
            amounts_add(&sum->allocated, request_of(sched, i));
            sum->leased_count++;
        }
    }
    for (uint32_t i = 0; i < sched->accounts.count; i++) {
        const struct account *account = &sched->accounts.items[i];
        if (!same_vec(&sums[i].queued, &account->queued) ||
            !same_vec(&sums[i].allocated, &account->allocated) ||
            sums[i].queued_count != account->queued_count ||
            sums[i].leased_count != account->leased_count) {
            return false;
        }
    }
    return true;
}

bool gangs_are_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (size_t g = 0; g < sched->gangs.count; g++) {
        const struct gang *gang = &sched->gangs.items[g];
        struct resource_vec sum = {0}, least = {0};
        uint32_t left = gang->least_count;
        if (!gang->is_live) {
            continue;
        }
        for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
             seq_next(&gang->waiting, &at)) {
            amounts_add(&sum, request_of(sched, seq_get(&gang->waiting, at)));
            if (left > 0 && --left == 0) {
                least = sum;
            }
        }
        if (!same_vec(&sum, &gang->waiting_sum) ||
            (gang->least_count > 0 && !same_vec(&least, &gang->least)) ||
            gang_is_ready(gang) != (gang->position != NONE) ||
            (gang->is_admitted && gang->position == NONE) ||
            !sub_groups_are_right(sched, gang)) {
            return false;
        }
    }
    return true;
}

/* How many of a pool's runs are of gangs with terms, and protected. */
bool run_counts_are_right(const struct sched *sched, struct arena *scratch)
{
    uint32_t terms_count = 0, protected_count = 0;

    (void)scratch;
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        uint32_t terms = 0, protected = 0;
        for (uint32_t i = 0; i < sched->jobs.count; i++) {
            const struct job *job = &sched->jobs.items[i];
            if (job->list == LIST_NONE || job->run == NONE) {
                continue;
            }
            const struct run *run = &sched->runs.items[job->run];
            bool is_here = sched->nodes.items[run->node].pool == p;
            terms += is_here && sub_groups_is_member(sched, i);
            protected += is_here && run->is_protected;
        }
        if (terms != pool->terms_run_count ||
            protected != pool->protected_run_count) {
            return false;
        }
        terms_count += terms;
        protected_count += protected;
    }
    return terms_count == sched->terms_run_count &&
           protected_count == sched->protected_run_count;
}

bool queues_are_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (uint32_t q = 0; q < sched->queues.count; q++) {
        if (!list_heap_are_right(sched, q)) {
            return false;
        }
    }
    for (size_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->app == NONE &&
            (list->seq.count > 0) != (list->place != NONE)) {
            return false; /* its queue's heap lacks it, or has too much */
        }
    }
    return true;
}

bool sched_is_consistent(struct sched *sched)
{
    auto_arena scratch = {0};
    const struct feature *feature;

    nodes_sync(sched);
    for (size_t i = 0; (feature = feature_at(i)); i++) {
        if (feature->is_right && !feature->is_right(sched, &scratch)) {
            return false;
        }
    }
    return true;
}
