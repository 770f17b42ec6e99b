/* The heads of a lane: what they are ordered by, and what they come to next. */
#include "sched/order/due_order.h"
#include "sched/order/lane_lists.h"
#include "sched/order/order.h"
#include "sched/order/sweep.h"
#include "sched/order/window.h"
#include "sched/state/cfs.h"

/* Of a key 8 bits are the level's. */
enum { KEY_PRIORITY_BITS = 14, KEY_SUBMITTED_BITS = 42 };

static uint32_t job_of_head(const struct round *round, const struct head *head)
{
    const struct sched *sched = round->sched;

    return head->class_index == NONE ? sched->gangs.items[head->item].position
                                     : head->item;
}

/* Which has the smaller bound, divided by one more than what it has waited in
 * the pool's measure: below 0 `a`, 0: neither.  In one list it is the older. */
static int compare_aged(const struct round *round, const struct head *a,
                        const struct head *b)
{
    int64_t a_ms = round->now_ms - a->submitted_ms;
    int64_t b_ms = round->now_ms - b->submitted_ms;
    i128 x = (i128)a->bound_ms * (BACKFILL_AGING_MS + (b_ms > 0 ? b_ms : 0));
    i128 y = (i128)b->bound_ms * (BACKFILL_AGING_MS + (a_ms > 0 ? a_ms : 0));

    return (x > y) - (x < y);
}

bool lane_head_less(const struct round *round, const struct head *a,
                    const struct head *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_by_score) {
        return cfs_less(round->sched, job_of_head(round, a),
                        job_of_head(round, b));
    }
    if (a->rank != b->rank) {
        int c = order_compare(&round->pool->base, a->rank, b->rank);
        if (c != 0) {
            return c < 0;
        }
    }
    enum backfill_order order = round->reserve.order;
    if (order == BACKFILL_SHORTEST_FIRST && a->bound_ms != b->bound_ms) {
        return a->bound_ms < b->bound_ms;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    int aged = order == BACKFILL_SHORTEST_AGED ? compare_aged(round, a, b) : 0;
    if (aged) {
        return aged < 0;
    }
    if (order == BACKFILL_SHORTEST_BOUNDED && a->due_ms != b->due_ms) {
        return a->due_ms < b->due_ms;
    }
    if (a->submitted_ms != b->submitted_ms) {
        return a->submitted_ms < b->submitted_ms;
    }
    return job_less(round->sched, job_of_head(round, a), job_of_head(round, b));
}

/* How long a job of a class runs at most, for the order.  Only where that alone
 * decides a lifetime counts: it ends nothing that nobody takes the place of. */
static int64_t bound_of(const struct round *round, const struct class *class)
{
    return round->reserve.order == BACKFILL_SHORTEST_FIRST &&
                   class->lifetime_ms < class->deadline_ms
               ? class->lifetime_ms
               : class->deadline_ms;
}

void lane_lists_note(const struct round *round, struct head *head)
{
    const struct sched *sched = round->sched;
    uint32_t index = job_of_head(round, head);
    const struct job *job = &sched->jobs.items[index];

    if (round->reserve.order == BACKFILL_SHORTEST_BOUNDED) {
        head->due_ms = due_order_of(sched, index);
    } else if (round->reserve.order != BACKFILL_IN_ORDER) {
        head->bound_ms =
            bound_of(round, class_at(round, class_of_job(sched, index)));
    }
    head->level =
        head->rank && head->rank->is_level_ignored ? 0 : head->list_level;
    head->priority = job->priority;
    head->submitted_ms = job->submitted_ms;
}

uint64_t lane_lists_key(const struct round *round, const struct head *head)
{
    const uint64_t priority_max = (1u << KEY_PRIORITY_BITS) - 1;
    const int64_t submitted_max = (INT64_C(1) << KEY_SUBMITTED_BITS) - 1;
    uint64_t key = (uint64_t)(UINT8_MAX - head->level)
                   << (KEY_PRIORITY_BITS + KEY_SUBMITTED_BITS);

    bool is_due = round->reserve.order == BACKFILL_SHORTEST_BOUNDED;
    if (head->is_by_score || head->rank ||
        (round->reserve.order != BACKFILL_IN_ORDER && !is_due)) {
        return key;
    }
    if (head->priority >= priority_max) {
        return key | priority_max << KEY_SUBMITTED_BITS;
    }
    int64_t at_ms = is_due ? head->due_ms : head->submitted_ms;
    at_ms = at_ms > 0 ? at_ms : 0;
    at_ms = at_ms < submitted_max ? at_ms : submitted_max;
    return key | (uint64_t)head->priority << KEY_SUBMITTED_BITS |
           (uint64_t)at_ms;
}

bool lane_lists_has_planned(const struct round *round, const struct head *head)
{
    const struct sched *sched = round->sched;
    uint32_t item = head->item;

    if (head->class_index != NONE) {
        uint8_t flags = sched->job_flags.items[item];
        return flags & JOB_PLANNED || sweep_missed_job(round, item) ||
               (flags & JOB_ADMITTED && window_has(round, item, false));
    }
    const struct gang *gang = &sched->gangs.items[item];
    uint32_t pool = gang_pool(sched, gang);
    return gang->planned == sched->plan_count ||
           (pool != NONE && pool != round->p) ||
           sweep_missed_gang(round, gang) ||
           (gang->is_admitted && window_has(round, item, true));
}

bool lane_lists_move(const struct round *round, struct head *head)
{
    const struct list *list = &round->sched->lists.items[head->list];

    if (head->is_alone) {
        return !lane_lists_has_planned(round, head);
    }
    while (seq_read(&list->seq, &head->at, &head->item)) {
        if (!lane_lists_has_planned(round, head)) {
            return true;
        }
        seq_read_on(&list->seq, &head->at);
    }
    return false;
}
