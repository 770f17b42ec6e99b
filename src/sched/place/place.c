#include "sched/place/place.h"

/* Putting work on nodes, taking it off, and undoing both. */
#include "sched/evict/evicted.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/order/lane_held.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/lending.h"
#include "sched/order/order.h"
#include "sched/place/changes.h"
#include "sched/place/exclusive_node.h"
#include "sched/state/borrowed.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"

static void note(const struct round *round, uint32_t node, uint32_t class_index,
                 uint32_t count, uint32_t job)
{
    struct sched *sched = round->sched;

    place_changes_count_work(round, WORK_PUT);
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

    /* A round places on the nodes of its own pool alone. */
    ASSERT(count > 0 && sched->nodes.items[node].pool == round->p);
    ASSERT_SLOW(extras_times(sched, node, class, count) == count);
    amounts_add_times(&sched->free[node], &class->request, -(int64_t)count);
    extras_count(sched, node, class, count);
    amounts_add_times(&round->used, &class->request, count);
    amounts_add_times(&lane->all, &class->request, count);
    amounts_add_times(&lane->placed, &class->request, count);
    if (lane->limits && !round->is_lending) {
        share_count(lane, class, count);
    }
    if (usage) {
        lending_count_usage(usage, &class->request, count, round->is_lending);
    }
    charge_reservations(round, class, node, count);
    held_charge(round, lane, class, count);
    note(round, node, class_index, count, lane->queue);
    place_changes_note(round, node, sched->journal.count - 1);
    round->changes->version++;
    if (sched->nodes.items[node].is_on_trial) {
        sched->nodes.items[node].trial_plan = sched->plan_count;
    } else if (class->cached_node == node &&
               class->cached_version == round->changes->version - 1) {
        class->cached_version = round->changes->version;
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
    ASSERT(sign == 1 || sign == -1);
    amounts_count(&lane->all, &class->request, sign);
    if (run->state != RUN_EVICTED) {
        amounts_count(&lane->placed, &class->request, sign);
    }
    bool is_borrowed = borrowed_has(round->sched, run->job);
    if (lane->limits) {
        if (!is_borrowed) {
            share_count(lane, class, sign);
        }
        share_give_back(lane, -sign * charge_of(round->sched, run->job));
    }
    struct usage *usage = lane_usage(round, lane, class->priority_class);
    if (usage) {
        lending_count_usage(usage, &class->request, sign, is_borrowed);
    }
}

/* Move a run's request out of (+1) or back to (-1) its node. */
static void vacate(struct sched *sched, const struct run *run,
                   const struct class *class, int sign)
{
    amounts_count(&sched->free[run->node], &class->request, sign);
    extras_count(sched, run->node, class, -sign);
    ASSERT_SLOW(amounts_fit(&sched->free[run->node],
                            &sched->nodes.items[run->node].capacity));
    if (run->is_urgency_preemptible) {
        amounts_count(
            &sched->urgency_preemptible[(size_t)run->node * sched->level_count +
                                        run->level],
            &class->request, -sign);
    }
}

/* What goes of a gang whose rest may win its places back counts no longer for
 * those (-1). */
static void change_unit(const struct round *round, const struct run *run,
                        const struct class *class, int sign)
{
    if (run->state == RUN_EVICTED &&
        round->units.items[round->evicted->runs[run->evicted_run].unit]
            .is_group) {
        ASSERT(round->evicted->runs[run->evicted_run].job == run->job);
        amounts_count(
            round->units.items[round->evicted->runs[run->evicted_run].unit].sum,
            &class->request, sign);
    }
}

void place_preempt(struct round *round, uint32_t job)
{
    struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t class_index = class_of_job(sched, job);
    struct class *class = class_at(round, class_index);

    ASSERT(run->state != RUN_PREEMPTED);
    place_changes_count_work(round, WORK_VICTIM);
    note(round, run->node, run->state, 0, job);
    charge(round, run, class, -1);
    change_unit(round, run, class, -1);
    vacate(sched, run, class, 1);
    amounts_subtract(&round->used, &class->request);
    if (run->state == RUN_EVICTED) {
        ASSERT(round->evicted->count > 0);
        round->evicted->count--;
        round->evicted->runs[run->evicted_run].is_out = false;
    }
    run->state = RUN_PREEMPTED;
    order_lost(round, job, 1);
    sub_groups_lose(sched, job, 1);
    watch_member(round, job, 1);
    place_changes_note_growth(round, run->node, sched->journal.count - 1);
    round->changes->version++;
}

/* Take back that `entry.count` jobs of a class were put on a node. */
static void undo_put(struct round *round, const struct journal_entry *entry)
{
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, entry->class_index);
    struct lane *lane = &round->lanes[round->lane_of_queue[entry->job]];
    int64_t count = entry->count;

    /* What was put somewhere is the work of a lane of this round. */
    ASSERT(round->lane_of_queue[entry->job] != NONE);
    sched->nodes.items[entry->node].trial_plan = 0;
    exclusive_node_let_go(sched, entry->node);
    amounts_add_times(&sched->free[entry->node], &class->request, count);
    extras_count(sched, entry->node, class, -count);
    ASSERT_SLOW(amounts_fit(&sched->free[entry->node],
                            &sched->nodes.items[entry->node].capacity));
    amounts_add_times(&round->used, &class->request, -count);
    amounts_add_times(&lane->all, &class->request, -count);
    amounts_add_times(&lane->placed, &class->request, -count);
    if (lane->limits && !round->is_lending) {
        share_count(lane, class, -count);
    }
    struct usage *usage = lane_usage(round, lane, class->priority_class);
    if (usage) {
        lending_count_usage(usage, &class->request, -count, round->is_lending);
    }
    charge_reservations(round, class, entry->node, -count);
    held_charge(round, lane, class, -count);
}

/* Take back that a job was preempted. */
static void undo_preempt(struct round *round, const struct journal_entry *entry)
{
    struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[sched->jobs.items[entry->job].run];
    const struct class *class =
        class_at(round, class_of_job(sched, entry->job));

    ASSERT(run->state == RUN_PREEMPTED);
    vacate(sched, run, class, -1);
    amounts_add(&round->used, &class->request);
    run->state = (uint8_t)entry->class_index;
    order_lost(round, entry->job, -1);
    sub_groups_lose(sched, entry->job, -1);
    watch_member(round, entry->job, -1);
    if (run->state == RUN_EVICTED) {
        round->evicted->count++;
        round->evicted->runs[run->evicted_run].is_out = true;
    }
    charge(round, run, class, 1);
    change_unit(round, run, class, 1);
}

void place_rollback(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    uint32_t last = NONE;

    ASSERT(mark <= sched->journal.count);
    while (sched->journal.count > mark) {
        struct journal_entry entry =
            sched->journal.items[--sched->journal.count];
        place_changes_count_work(round, WORK_PUT);
        if (entry.count) {
            undo_put(round, &entry);
        } else {
            undo_preempt(round, &entry);
        }
        place_changes_note_growth(round, entry.node, OPEN_FOR_GOOD);
        /* What was learnt of the node meanwhile no longer holds. */
        if (entry.node != last) {
            VEC_PUSH(&round->watch.grown, entry.node);
            last = entry.node;
        }
    }
    place_changes_undo(round, mark);
    share_rollback(round, mark);
    round->changes->version++;
}

void place_undo(struct sched *sched)
{
    for (size_t i = sched->journal.count; i > 0; i--) {
        struct journal_entry entry = sched->journal.items[i - 1];
        if (entry.count) {
            const struct class *class =
                &sched->classes.items[entry.class_index];
            amounts_add_times(&sched->free[entry.node], &class->request,
                              entry.count);
            extras_count(sched, entry.node, class, -(int64_t)entry.count);
        } else {
            struct run *run =
                &sched->runs.items[sched->jobs.items[entry.job].run];
            ASSERT(run->state == RUN_PREEMPTED);
            vacate(sched, run,
                   &sched->classes.items[class_of_job(sched, entry.job)], -1);
            run->state = RUN_STEADY;
            run->evicted_run = NONE;
        }
        node_index_later(sched, entry.node); /* it is as it was */
    }
    sched->journal.count = 0;
}
