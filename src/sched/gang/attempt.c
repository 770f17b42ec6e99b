#include "sched/gang/attempt.h"

#include "sched/gang/exclusive_place.h"
#include "sched/gang/price.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/sweep.h"
#include "sched/place/place.h"
#include "sched/state/exclusive.h"
#include "sched/state/floating.h"
#include "sched/victims/affordable.h"
#include "sched/victims/group_room.h"
#include "sched/victims/ways.h"

struct mark attempt_mark(const struct round *round)
{
    return (struct mark){round->sched->journal.count,
                         round->sched->decisions.count, round->rest_count};
}

void attempt_back(struct round *round, struct mark mark)
{
    struct sched *sched = round->sched;
    size_t count = sched->decisions.count;

    /* A plan only goes back to where it was before. */
    ASSERT(mark.decisions <= count && mark.rests <= round->rest_count);
    for (size_t i = mark.decisions; i < count; i++) {
        sched->job_flags.items[sched->decisions.items[i].job] &=
            (uint8_t)~JOB_PLANNED;
    }
    place_rollback(round, mark.journal);
    for (size_t i = mark.decisions; i < count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        uint32_t list = sched->jobs.items[decision->job].list;
        uint32_t lane = round->lane_of_queue[sched->lists.items[list].queue];
        if (decision->action == SCHED_PREEMPT && lane != NONE) {
            lane_rewind(round, &round->lanes[lane]);
        }
    }
    round_undecide(round, mark.decisions);
    affordable_undo(round);
    round->rest_count = mark.rests;
}

/* Whether the node of the member before is the best for this one as well: it
 * was the fullest that had room, and still has. */
static bool is_like_last(const struct attempt *attempt,
                         const struct search *search)
{
    const struct sched *sched = attempt->round->sched;

    return attempt->only && attempt->last_node != NONE &&
           attempt->last_class == search->class_index &&
           !(sched->job_flags.items[search->job] & JOB_AVOIDS) &&
           amounts_fit(&class_at(attempt->round, search->class_index)->request,
                       &sched->free[attempt->last_node]) &&
           place_allows(search, attempt->last_node);
}

/* The ways that are open to the next member. */
static unsigned ways_of_member(const struct attempt *attempt)
{
    bool may_preempt = attempt->placed_count < attempt->preempt_until;
    unsigned ways = WAY_HERE | (may_preempt ? WAY_PREEMPTING : 0);

    if (attempt->may_go_away) {
        ways |= WAY_AWAY | (may_preempt ? WAY_AWAY_PREEMPTING : 0);
    }
    return ways;
}

uint32_t attempt_find(struct attempt *attempt, uint32_t job,
                      uint32_t *ret_class)
{
    struct round *round = attempt->round;
    struct search search = {round, class_of_job(round->sched, job), job,
                            attempt->only};
    unsigned ways = ways_of_member(attempt);
    enum way way = WAY_HERE;
    uint32_t node;

    attempt->is_over |= sweep_is_past(round, attempt->work_end);
    if (attempt->is_over) {
        *ret_class = search.class_index;
        return NONE;
    }
    if (is_like_last(attempt, &search)) {
        node = attempt->last_node; /* in a group searches look at each node */
    } else {
        way = ways_find(&search, ways, &node);
    }
    /* The next one may follow to a node that was chosen of all and is free. */
    bool is_choosy = round->sched->job_flags.items[job] & JOB_AVOIDS;
    attempt->last_node = way == WAY_HERE && !is_choosy ? node : NONE;
    attempt->last_class = class_of_job(round->sched, job);
    *ret_class = search.class_index;
    return node;
}

void attempt_lease(struct attempt *attempt, uint32_t job, uint32_t node,
                   uint32_t class_index)
{
    struct round *round = attempt->round;
    const struct class *class = class_at(round, class_index);
    int64_t charge =
        share_take(round, attempt->lane, class, attempt->placed_count);

    /* No more members start than wait. */
    ASSERT(attempt->placed_count < attempt->wanted);
    place_put(round, attempt->lane, class_index, node, 1);
    round_decide_lease(round, job, node, class, charge);
    attempt->placed_count++;
    amounts_add(&attempt->placed_sum, &class->request);
}

/* Whether the limits allow one more, of a class. */
static bool is_within(const struct attempt *attempt, uint32_t class_index)
{
    struct round *round = attempt->round;
    const struct resource_vec *request = &class_at(round, class_index)->request;

    return !attempt->is_limited ||
           (lane_is_within(round, attempt->lane, class_index, request) &&
            floating_short(round->sched, round->p, &round->used, request) < 0);
}

bool attempt_place(struct attempt *attempt)
{
    struct sched *sched = attempt->round->sched;
    uint32_t failed_count = 0, failed_class = NONE;

    ASSERT(attempt->needed <= attempt->wanted);
    attempt->placed_count = 0;
    attempt->last_node = NONE;
    attempt->placed_sum = (struct resource_vec){0};
    if (exclusive_node_is_for(attempt->gang)) {
        return exclusive_node_place(attempt);
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&attempt->gang->waiting, at);
         seq_next(&attempt->gang->waiting, &at)) {
        uint32_t job = seq_get(&attempt->gang->waiting, at);
        uint32_t class_index = class_of_job(sched, job);
        bool has_avoided = sched->job_flags.items[job] & JOB_AVOIDS;
        uint32_t node = NONE, class_there = class_index;
        if ((class_index != failed_class || has_avoided) &&
            is_within(attempt, class_index)) {
            node = attempt_find(attempt, job, &class_there);
        }
        if (node != NONE) {
            attempt_lease(attempt, job, node, class_there);
            if (gang_price_is_over(attempt)) {
                return false;
            }
            continue;
        }
        failed_class = has_avoided ? failed_class : class_index;
        if (++failed_count > attempt->wanted - attempt->needed) {
            return false;
        }
    }
    return true;
}

bool attempt_may_hold(const struct attempt *attempt,
                      const struct label_group *group)
{
    struct round *round = attempt->round;
    bool is_unknown = attempt->preempt_until > 0 && !group_room_is_known(round);

    if (attempt->class_index == NONE || attempt->may_go_away ||
        round->reserve.asking || is_unknown) {
        return true;
    }
    return attempt->preempt_until > 0
               ? group_holds_most(round, attempt->class_index, group,
                                  attempt->needed)
               : group_holds_free(round, attempt->class_index, group,
                                  attempt->needed);
}
