#include "sched/away.h"
#include "sched/kinds.h"
#include "sched/lane_share.h"
#include "sched/lanes.h"
#include "sched/lend.h"
#include "sched/need.h"
#include "sched/order.h"
#include "sched/sub_groups.h"
#include "sched/victim_memo.h"
#include "sched/whole_node.h"

/* A class that was not asked for longer searches afresh.  One that goes to a
 * node that moved keeps its cursor, which is further on, as long as not too
 * many have moved since. */
enum { MOVED_MAX = 2048, MOVED_NEAR_MAX = 256 };

/* More open nodes are told to the index, asked or not: what is undone looks at
 * all that are open. */
enum { OPEN_NODES_MAX = 1024 };

/* Ask about labels and taints themselves. */
static bool is_static_match(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);

    if (!class->requirement) {
        class->requirement =
            class_decode(round->sched, search->class_index, round->arena);
    }
    round->counters->nodes_examined += class->match_work;
    return match_static(round->sched, class->requirement, index) ==
               SCHED_EXCLUSIONS &&
           (!class->is_away || away_is_of_type(round->sched, class, index));
}

uint64_t *place_kinds(struct round *round, struct class *class)
{
    size_t words = (size_t)intern_count(round->sched->kinds) / 32 + 1;

    if (!class->kinds && !class->asks_names &&
        round->kinds_bytes < KINDS_BYTES_MAX) {
        class->kinds =
            arena_alloc_array(round->arena, words, sizeof(*class->kinds));
        round->kinds_bytes += words * sizeof(*class->kinds);
    }
    return class->kinds;
}

/* Whether labels and taints of a node's kind allow the class. */
static bool is_kind_match(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    uint32_t kind = round->sched->kinds_of[index];
    uint64_t *kinds = place_kinds(round, class_at(round, search->class_index));

    if (!kinds) {
        return is_static_match(search, index);
    }
    uint32_t shift = kind % 32 * 2;
    uint64_t *word = &kinds[kind / 32];
    if (!(*word >> shift & 1)) {
        *word |= (uint64_t)(is_static_match(search, index) ? 3 : 1) << shift;
    }
    return *word >> shift & 2;
}

bool place_matches_class(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    const struct node *node = &round->sched->nodes.items[index];
    const struct class *class = class_at(round, search->class_index);

    if (!node->is_accepting || node->pool != round->p ||
        (node->is_on_trial && node->trial_plan == round->sched->plan_count)) {
        return false;
    }
    bool is_any = class->is_plain && !node->taint_set && !class->is_away;
    return is_any || is_kind_match(search, index);
}

bool place_matches_ever(const struct search *search, uint32_t index)
{
    return place_matches_class(search, index) &&
           !job_avoids(search->round->sched, search->job, index);
}

bool place_matches(const struct search *search, uint32_t index)
{
    return place_matches_ever(search, index) &&
           !whole_node_bars(search->round, search->job, index);
}

bool place_is_special(const struct search *search)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;

    return round->reserve.own ||
           (sched->job_flags.items[search->job] & JOB_AVOIDS) ||
           (sched->whole_gang_count &&
            sched->jobs.items[search->job].gang != NONE &&
            whole_node_is_for(
                &sched->gangs.items[sched->jobs.items[search->job].gang]));
}

/* Whether a node is kept for work that asks for its GPUs.  That is only said
 * late in a round, so what was learnt before still holds; what is learnt by
 * it, see note_keeping(). */
static bool is_kept(const struct search *search, uint32_t index)
{
    const struct sched *sched = search->round->sched;
    const struct resource_vec *request =
        &class_at(search->round, search->class_index)->request;
    int64_t has = 0, asks = 0;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (sched->gpu_columns >> r & 1) {
            has |= sched->nodes.items[index].capacity.v[r];
            asks |= request->v[r];
        }
    }
    return has > 0 && asks <= 0;
}

/* What is reserved only grows in a round, so what this forbids stays so. */
static bool is_open(const struct search *search, uint32_t index)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);

    if (round->keeps_gpus && is_kept(search, index)) {
        return false;
    }
    bool passes =
        reserve_pass(round, round->reserve.hold, class, index) != PASS_NO &&
        reserve_pass(round, round->reserve.own, class, index) != PASS_NO &&
        !whole_node_is_kept(round, search->job, search->class_index, index);
    round->reserve.has_refused |= !passes;
    return passes;
}

bool place_allows(const struct search *search, uint32_t index)
{
    return place_matches(search, index) && is_open(search, index);
}

bool place_allows_evicting(const struct search *search, uint32_t index)
{
    const struct sched *sched = search->round->sched;

    return sched->nodes.items[index].planned_plan == sched->plan_count
               ? place_allows(search, index)
               : place_matches_ever(search, index) && is_open(search, index);
}

static bool is_match(void *context, uint32_t node)
{
    return place_allows(context, node);
}

static uint32_t find_in_group(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct resource_vec *request =
        &class_at(round, search->class_index)->request;
    uint32_t best = NONE;
    uint64_t best_key = 0;
    uint64_t word = packed_of(&round->pool->index.scale, request);

    for (uint32_t i = 0; i < search->only->count; i++) {
        uint32_t node = search->only->nodes[i];
        round->counters->nodes_examined++;
        /* Words lag behind what was placed last, and only say too much. */
        if (!packed_fits(word, sched->free_words[node]) ||
            !amounts_fit(request, &sched->free[node]) ||
            !place_allows(search, node)) {
            continue;
        }
        uint64_t key = pool_weigh(round->pool, &sched->free[node]);
        if (best == NONE || key < best_key ||
            (key == best_key && sched->ranks[node] < sched->ranks[best])) {
            best = node;
            best_key = key;
        }
    }
    return best;
}

/* Whether node `a` goes before the place (key, rank) of the index. */
static bool is_before(const struct sched *sched, uint32_t a, uint64_t key,
                      uint32_t rank)
{
    uint64_t a_key = sched->nodes.items[a].key;

    return a_key != key ? a_key < key : sched->ranks[a] < rank;
}

enum { MOVED_STRIDE = 4 };

/* The first from `at` on of the nodes that moved with which a request may fit
 * at or before a key, as they were then; so many at once, without a branch for
 * each, for most do not. */
static size_t next_moved(const struct round *round, size_t at, uint64_t word,
                         uint64_t key)
{
    size_t count = round->moved.count;

    for (; at + MOVED_STRIDE <= count; at += MOVED_STRIDE) {
        const uint64_t *words = &round->moved_words.items[at];
        const uint64_t *keys = &round->moved_keys.items[at];
        unsigned any = 0;
        for (uint32_t i = 0; i < MOVED_STRIDE; i++) {
            any |= (unsigned)packed_fits(word, words[i]) & (keys[i] <= key);
        }
        if (any) {
            break;
        }
    }
    while (at < count && (!packed_fits(word, round->moved_words.items[at]) ||
                          round->moved_keys.items[at] > key)) {
        at++;
    }
    return at;
}

/* The best of the nodes that moved before the class's cursor since its last
 * search, or NONE. */
static uint32_t find_moved(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint64_t key = class->cursor_key;
    uint32_t rank = class->cursor_rank, best = NONE;
    uint64_t word = packed_of(&round->pool->index.scale, &class->request);

    for (size_t i = class->moved_seen;
         (i = next_moved(round, i, word, key)) < round->moved.count; i++) {
        /* Where it was otherwise, it is here once more. */
        uint32_t node = round->moved.items[i];
        if (amounts_fit(&class->request, &sched->free[node]) &&
            is_before(sched, node, key, rank) && place_allows(search, node)) {
            best = node;
            key = sched->nodes.items[node].key;
            rank = sched->ranks[node];
        }
    }
    return best;
}

/* Search the index, from the cursor on if it still holds. */
static uint32_t find_indexed(const struct search *search, bool has_cursor)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);
    struct search context = *search;
    uint64_t key = has_cursor ? class->cursor_key
                              : pool_weigh(round->pool, &class->request);

    struct node_query query = {
        .request = &class->request,
        .key_min = key,
        .rank_min = has_cursor ? class->cursor_rank : 0,
        .kinds = place_kinds(round, class),
        .match = is_match,
        .context = &context,
    };
    return node_index_find(&round->pool->index, &query,
                           &round->counters->nodes_examined);
}

static void set_cursor(const struct round *round, struct class *class,
                       uint32_t node)
{
    class->cached_node = node;
    class->cached_version = round->version;
    class->has_cursor = true;
    class->moved_seen = (uint32_t)round->moved.count;
    class->cursor_key = UINT64_MAX;
    class->cursor_rank = UINT32_MAX;
    if (node != NONE) {
        class->cursor_key = round->sched->nodes.items[node].key;
        class->cursor_rank = round->sched->ranks[node];
    }
}

/* What was learnt while nodes with GPUs were kept holds no longer when they
 * are not; nor what was learnt beside a reservation, for gangs that grow. */
static void note_keeping(const struct round *round, struct class *class)
{
    bool opens =
        round->is_growing && !class->was_growing && round->reserve.hold;

    if ((class->was_kept && !round->keeps_gpus) || opens) {
        class->cached_node = NONE;
        class->has_cursor = false;
    }
    class->was_kept = round->keeps_gpus;
    class->was_growing = round->is_growing;
}

uint32_t place_find(const struct search *search)
{
    struct round *round = search->round;
    struct class *class = class_round(round, search->class_index);
    bool is_special = place_is_special(search);
    uint32_t node = NONE;

    if (class->is_impossible) {
        return NONE;
    }
    if (search->only) {
        return find_in_group(search);
    }
    note_keeping(round, class);
    if (!is_special && class->cached_node != NONE &&
        class->cached_version == round->version &&
        amounts_fit(&class->request, &round->sched->free[class->cached_node]) &&
        is_open(search, class->cached_node)) {
        return class->cached_node;
    }
    place_flush(round);
    bool has_cursor = !is_special && class->has_cursor &&
                      round->moved.count - class->moved_seen < MOVED_MAX;
    if (has_cursor) {
        node = find_moved(search);
    }
    bool is_near =
        node != NONE && round->moved.count - class->moved_seen < MOVED_NEAR_MAX;
    if (node == NONE) {
        node = find_indexed(search, has_cursor);
    }
    if (is_near) {
        class->cached_node = node;
        class->cached_version = round->version;
    } else if (!is_special) {
        set_cursor(round, class, node);
    }
    round->counters->failed_searches += node == NONE;
    return node;
}

/* Trials are bounded by what they do to nodes, too (need.h). */
static void count_work(const struct round *round, uint32_t work)
{
    round->counters->nodes_examined += round->sched->is_trial ? work : 0;
}

/* The node's place in the index follows what it has free. */
static void move_node(struct round *round, uint32_t node)
{
    const struct sched *sched = round->sched;
    uint32_t *last = &round->moved_last[node];

    count_work(round, NEED_MOVE_WORK);
    node_reindex(round->sched, node);
    if (*last != NONE) {
        round->moved_words.items[*last] = 0;
    }
    *last = (uint32_t)round->moved.count;
    VEC_PUSH(&round->moved_words,
             packed_of(&round->pool->index.scale, &sched->free[node]));
    VEC_PUSH(&round->moved_keys, sched->nodes.items[node].key);
    VEC_PUSH(&round->moved, node);
}

/* What a node has free is another now, by the journal's entry `entry` or by
 * undoing some (OPEN_FOR_GOOD); the index is told when it is asked. */
static void open_node(struct round *round, uint32_t node, size_t entry)
{
    round->changes[node]++;
    victim_memo_note_node(round, node);
    if (!round->is_open[node]) {
        if (round->open_nodes.count >= OPEN_NODES_MAX) {
            place_flush(round);
        }
        round->is_open[node] = true;
        VEC_PUSH(&round->open_nodes, (struct open_node){entry, node});
    }
}

/* The same where that may be more than before.  Words only say too much. */
static void open_grown_node(struct round *round, uint32_t node, size_t entry)
{
    struct sched *sched = round->sched;

    open_node(round, node, entry);
    sched->free_words[node] =
        packed_of(&round->pool->index.scale, &sched->free[node]);
}

void place_flush(struct round *round)
{
    for (size_t i = 0; i < round->open_nodes.count; i++) {
        uint32_t node = round->open_nodes.items[i].node;
        round->is_open[node] = false;
        move_node(round, node);
    }
    round->open_nodes.count = 0;
    round->told_count = round->sched->journal.count;
}

/* All is undone down to `mark`: unless the index was told since, nodes that
 * were opened since are as it has them, and nobody need know. */
static void close_undone(struct round *round, size_t mark)
{
    struct open_node *items = round->open_nodes.items;
    bool is_untold = round->told_count <= mark;
    size_t kept = 0;

    for (size_t i = 0; i < round->open_nodes.count; i++) {
        struct open_node item = items[i];
        if (item.entry < mark || item.entry == OPEN_FOR_GOOD) {
            items[kept++] = item;
        } else if (is_untold) {
            round->is_open[item.node] = false;
        } else {
            items[kept++] = (struct open_node){OPEN_FOR_GOOD, item.node};
        }
    }
    round->open_nodes.count = kept;
    round->told_count = is_untold ? round->told_count : mark;
}

static void note(const struct round *round, uint32_t node, uint32_t class_index,
                 uint32_t count, uint32_t job)
{
    struct sched *sched = round->sched;

    count_work(round, NEED_PUT_WORK);
    VEC_PUSH(&sched->journal,
             (struct journal_entry){node, class_index, count, job});
}

static void charge_reservations(const struct round *round,
                                const struct class *class, uint32_t node,
                                int64_t count)
{
    if (round->reserve.hold) {
        reserve_charge(round, round->reserve.hold, class, node, count);
    }
    if (round->reserve.own) {
        reserve_charge(round, round->reserve.own, class, node, count);
    }
}

void place_put(struct round *round, struct lane *lane, uint32_t class_index,
               uint32_t node, uint32_t count)
{
    struct sched *sched = round->sched;
    struct class *class = class_at(round, class_index);
    struct usage *usage = lane_usage(round, lane, class->priority_class);

    amounts_add_times(&sched->free[node], &class->request, -(int64_t)count);
    amounts_add_times(&round->used, &class->request, count);
    amounts_add_times(&lane->all, &class->request, count);
    amounts_add_times(&lane->placed, &class->request, count);
    if (lane->limits && !round->is_lending) {
        share_count(lane, class, count);
    }
    if (usage) {
        amounts_add_times(&usage->used, &class->request, count);
        if (round->is_lending) {
            amounts_add_times(&usage->foreign, &class->request, count);
        }
    }
    charge_reservations(round, class, node, count);
    note(round, node, class_index, count, lane->queue);
    open_node(round, node, sched->journal.count - 1);
    round->version++;
    if (sched->nodes.items[node].is_on_trial) {
        sched->nodes.items[node].trial_plan = sched->plan_count;
    } else if (class->cached_node == node &&
               class->cached_version == round->version - 1) {
        class->cached_version = round->version;
    }
}

/* The lane whose job this is, or NULL: it has none in this pool. */
static struct lane *lane_of(struct round *round, const struct run *run)
{
    const struct account *account = &round->sched->accounts.items[run->account];

    if (account->pool != round->p ||
        round->lane_of_queue[account->queue] == NONE) {
        return NULL;
    }
    return &round->lanes[round->lane_of_queue[account->queue]];
}

/* Take a run's request from its lane (-1), or give it back (+1). */
static void charge(struct round *round, const struct run *run,
                   const struct class *class, int sign)
{
    struct lane *lane = lane_of(round, run);

    if (!lane) {
        return;
    }
    if (sign < 0) {
        share_fall(round, lane);
    }
    amounts_count(&lane->all, &class->request, sign);
    if (run->state != RUN_EVICTED) {
        amounts_count(&lane->placed, &class->request, sign);
    }
    bool is_foreign = lend_is_foreign(round->sched, run->job);
    if (lane->limits) {
        if (!is_foreign) {
            share_count(lane, class, sign);
        }
        share_give_back(lane, -sign * charge_of(round->sched, run->job));
    }
    struct usage *usage = lane_usage(round, lane, class->priority_class);
    if (usage) {
        amounts_count(&usage->used, &class->request, sign);
        if (is_foreign) {
            amounts_count(&usage->foreign, &class->request, sign);
        }
    }
}

/* Move a run's request out of (+1) or back to (-1) its node. */
static void vacate(struct sched *sched, const struct run *run,
                   const struct class *class, int sign)
{
    amounts_count(&sched->free[run->node], &class->request, sign);
    if (run->is_preemptible) {
        amounts_count(
            &sched->preemptible[(size_t)run->node * sched->level_count +
                                run->level],
            &class->request, -sign);
    }
}

/* What goes of a gang whose rest may win its places back counts no longer for
 * those (-1). */
static void change_unit(const struct round *round, const struct run *run,
                        const struct class *class, int sign)
{
    if (round->sched->terms_run_count && run->state == RUN_EVICTED &&
        round->units[run->unit].is_group) {
        amounts_count(round->units[run->unit].sum, &class->request, sign);
    }
}

void place_preempt(struct round *round, uint32_t job)
{
    struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t class_index = class_of_job(sched, job);
    struct class *class = class_at(round, class_index);

    ASSERT(run->state != RUN_PREEMPTED);
    count_work(round, NEED_VICTIM_WORK);
    note(round, run->node, run->state, 0, job);
    charge(round, run, class, -1);
    change_unit(round, run, class, -1);
    vacate(sched, run, class, 1);
    amounts_subtract(&round->used, &class->request);
    round->evicted_count -= run->state == RUN_EVICTED;
    run->state = RUN_PREEMPTED;
    order_lost(round, job, 1);
    if (sched->terms_run_count) {
        sub_groups_lose(sched, job, 1);
        victim_memo_note_job(round, job, 1);
    }
    open_grown_node(round, run->node, sched->journal.count - 1);
    round->version++;
}

void place_rollback(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    uint32_t last = NONE;

    while (sched->journal.count > mark) {
        struct journal_entry entry =
            sched->journal.items[--sched->journal.count];
        count_work(round, NEED_PUT_WORK);
        if (entry.count) {
            const struct class *class = class_at(round, entry.class_index);
            struct lane *lane = &round->lanes[round->lane_of_queue[entry.job]];
            int64_t count = entry.count;
            sched->nodes.items[entry.node].trial_plan = 0;
            sched->nodes.items[entry.node].planned_plan = 0;
            amounts_add_times(&sched->free[entry.node], &class->request, count);
            amounts_add_times(&round->used, &class->request, -count);
            amounts_add_times(&lane->all, &class->request, -count);
            amounts_add_times(&lane->placed, &class->request, -count);
            if (lane->limits && !round->is_lending) {
                share_count(lane, class, -count);
            }
            struct usage *usage =
                lane_usage(round, lane, class->priority_class);
            if (usage) {
                amounts_add_times(&usage->used, &class->request, -count);
                if (round->is_lending) {
                    amounts_add_times(&usage->foreign, &class->request, -count);
                }
            }
            charge_reservations(round, class, entry.node, -count);
        } else {
            struct run *run =
                &sched->runs.items[sched->jobs.items[entry.job].run];
            const struct class *class =
                class_at(round, class_of_job(sched, entry.job));
            vacate(sched, run, class, -1);
            amounts_add(&round->used, &class->request);
            run->state = (uint8_t)entry.class_index;
            order_lost(round, entry.job, -1);
            if (sched->terms_run_count) {
                sub_groups_lose(sched, entry.job, -1);
                victim_memo_note_job(round, entry.job, -1);
            }
            round->evicted_count += run->state == RUN_EVICTED;
            charge(round, run, class, 1);
            change_unit(round, run, class, 1);
        }
        open_grown_node(round, entry.node, OPEN_FOR_GOOD);
        /* What was learnt of the node meanwhile no longer holds. */
        if (entry.node != last) {
            VEC_PUSH(&round->grown, entry.node);
            last = entry.node;
        }
    }
    close_undone(round, mark);
    share_rollback(round, mark);
    round->version++;
}

void place_undo(struct sched *sched)
{
    for (size_t i = sched->journal.count; i > 0; i--) {
        struct journal_entry entry = sched->journal.items[i - 1];
        if (entry.count) {
            amounts_add_times(&sched->free[entry.node],
                              &sched->classes.items[entry.class_index].request,
                              entry.count);
        } else {
            struct run *run =
                &sched->runs.items[sched->jobs.items[entry.job].run];
            vacate(sched, run,
                   &sched->classes.items[class_of_job(sched, entry.job)], -1);
            run->state = RUN_STEADY;
            run->unit = NONE;
        }
        node_index_later(sched, entry.node); /* it is as it was */
    }
    sched->journal.count = 0;
}
