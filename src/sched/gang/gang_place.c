#include "sched/evict/cooldown.h"
#include "sched/evict/evict.h"
#include "sched/gang/attempt.h"
#include "sched/gang/gang.h"
#include "sched/gang/tries.h"
#include "sched/order/lanes.h"
#include "sched/order/order.h"
#include "sched/order/starts.h"
#include "sched/order/sweep.h"
#include "sched/state/floating.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/affordable.h"

/* Members that found no place are not wanted any more: the gang starts
 * without them.  One that ran already keeps its vacancies open. */
static void fail_rest(struct attempt *attempt)
{
    struct sched *sched = attempt->round->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&attempt->gang->waiting, at);
         seq_next(&attempt->gang->waiting, &at)) {
        uint32_t job = seq_get(&attempt->gang->waiting, at);
        if (!(sched->job_flags.items[job] & JOB_PLANNED)) {
            round_decide(attempt->round, (struct sched_decision){
                                             .action = SCHED_FAIL,
                                             .job = job,
                                             .node = NONE,
                                             .for_job = NONE,
                                         });
        }
    }
}

/* Whether the member that a gang stands by may: they are of one priority
 * class. */
static bool may_go_away(const struct round *round, const struct gang *gang)
{
    uint32_t class_index = class_of_job(round->sched, seq_last(&gang->waiting));

    return class_at(round, class_index)->variant != NONE;
}

/* The class of all that wait, or NONE: they have several. */
static uint32_t only_class(const struct sched *sched, const struct gang *gang)
{
    uint32_t first = class_of_job(sched, seq_last(&gang->waiting));

    ASSERT(gang->waiting.count > 0); /* a gang is tried for who waits */
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        if (class_of_job(sched, seq_get(&gang->waiting, at)) != first) {
            return NONE;
        }
    }
    return first;
}

/* Whether limits let less of the gang start than all that waits. */
static bool is_limited(const struct attempt *attempt)
{
    struct round *round = attempt->round;
    const struct sched *sched = round->sched;
    const struct gang *gang = attempt->gang;
    uint32_t class_index = class_of_job(sched, seq_last(&gang->waiting));

    return attempt->needed < attempt->wanted &&
           (!lane_is_within(round, attempt->lane, class_index,
                            &gang->waiting_sum) ||
            floating_short(sched, round->p, &round->used, &gang->waiting_sum) >=
                0);
}

/* At home, away, and with victims. */
static bool try_all(struct attempt *attempt)
{
    struct round *round = attempt->round;

    if (gang_try(attempt)) {
        return true;
    }
    if (may_go_away(round, attempt->gang)) {
        attempt->only = NULL;
        attempt->may_go_away = true;
        if (gang_try(attempt)) {
            return true;
        }
    }
    return round->kind == ROUND_BALANCE && !round->is_filling &&
           gang_try_preempting(attempt);
}

/* What was placed stands. */
static void settle(const struct attempt *attempt, struct gang *gang)
{
    struct round *round = attempt->round;
    const struct sched *sched = round->sched;
    struct lane *lane = attempt->lane;

    /* Each member that starts has a decision of its own. */
    ASSERT(attempt->placed_count >= attempt->needed &&
           attempt->placed_count <=
               sched->decisions.count - attempt->decision_mark);
    cooldown_mark(round, attempt->decision_mark);
    gang_started(round, lane, attempt->placed_count, &attempt->placed_sum);
    for (size_t i = attempt->decision_mark;
         lane->is_stepwise && i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE) {
            order_leased(round, decision->job);
        }
    }
    evict_return_gang(round, gang);
    lane_refresh_evicted(round, lane);
    gang->planned = sched->plan_count;
    if (gang_has_terms(gang)) {
        sub_groups_note_start(sched, gang);
        watch_gang(round, (uint32_t)(gang - sched->gangs.items));
    }
    round->group++;
}

enum gang_outcome gang_place(struct round *round, struct lane *lane,
                             uint32_t index)
{
    struct sched *sched = round->sched;
    struct gang *gang = &sched->gangs.items[index];
    struct mark mark = attempt_mark(round);
    struct attempt attempt = {
        .round = round,
        .lane = lane,
        .gang = gang,
        .wanted = gang->waiting.count,
        .needed = gang_needed(gang),
        .class_index = only_class(sched, gang),
        .decision_mark = mark.decisions,
        .work_end = sweep_gang_end(round, gang),
    };

    ASSERT(gang->queue == lane->queue);
    attempt.is_limited = is_limited(&attempt);
    if (gang->planned == sched->plan_count) {
        return GANG_WAITS; /* the plan took some of it, or started some */
    }
    affordable_begin_gang(round, gang, attempt.needed);
    bool is_placed = try_all(&attempt);
    affordable_end_gang(round);
    if (!is_placed) {
        return attempt.is_over && sweep_gang_is_cut(round, gang) ? GANG_CUT
                                                                 : GANG_WAITS;
    }
    if (gang->leased.count == 0 && !gang_has_terms(gang)) {
        fail_rest(&attempt);
    }
    if (mark.decisions > 0 && sched->decisions.count > round->decision_max) {
        attempt_back(round, mark);
        return GANG_CUT;
    }
    settle(&attempt, gang);
    return GANG_PLACED;
}
