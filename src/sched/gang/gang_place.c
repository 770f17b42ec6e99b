#include "sched/evict/cooldown.h"
#include "sched/evict/evict.h"
#include "sched/gang/attempt.h"
#include "sched/gang/gang.h"
#include "sched/gang/locality_place.h"
#include "sched/gang/price.h"
#include "sched/order/lanes.h"
#include "sched/order/order.h"
#include "sched/order/starts.h"
#include "sched/order/sweep.h"
#include "sched/place/place.h"
#include "sched/state/floating.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/affordable.h"
#include "sched/victims/searches.h"

/* How good a try was: without victims before with, then more members, then
 * what it costs others.  Of those that cost nobody anything the first. */
struct score {
    struct victim_set price;
    uint32_t placed;
};

static bool is_better(struct round *round, const struct score *a,
                      const struct score *b)
{
    /* A try that succeeds places someone. */
    ASSERT(a->placed > 0 && b->placed > 0);
    if ((a->price.count == 0) != (b->price.count == 0)) {
        return a->price.count == 0;
    }
    if (a->placed != b->placed) {
        return a->placed > b->placed;
    }
    return a->price.count > 0 &&
           victim_set_compare(round, &a->price, &b->price) < 0;
}

static bool try_scored(struct attempt *attempt, struct score *ret_score)
{
    bool is_enough = attempt_place(attempt);

    ret_score->placed = attempt->placed_count;
    if (is_enough) {
        ret_score->price = gang_price_of(attempt);
    }
    return is_enough;
}

/* Whether it is worth the while to try at all: of a class that fits on no
 * free node nobody does, in whatever group; unless others make way. */
static bool may_fit(struct attempt *attempt)
{
    struct round *round = attempt->round;
    uint32_t job = seq_get(&attempt->gang->waiting, (struct seq_cursor){0});
    struct search search = {round, attempt->class_index, job, NULL};

    return attempt->class_index == NONE || attempt->may_go_away ||
           attempt->preempt_until > 0 || place_is_special(&search) ||
           place_find(&search) != NONE;
}

static bool is_candidate(const struct attempt *attempt,
                         const struct label_group *group)
{
    return attempt_may_hold(attempt, group) &&
           place_is_open(attempt->round, attempt->gang, group);
}

/* Which groups are to be tried.  A try with victims leaves much to be brought
 * up to date before the next is asked about, and nothing else: so all are asked
 * about before the first; NULL: each when its turn comes. */
static const bool *candidates_of(const struct attempt *attempt,
                                 const struct label_index *index)
{
    bool *are = NULL;

    if (attempt->preempt_until > 0) {
        are = arena_alloc_array(attempt->round->arena, index->group_count,
                                sizeof(*are));
    }
    for (uint32_t i = 0; are && i < index->group_count; i++) {
        are[i] = is_candidate(attempt, &index->groups[i]);
    }
    return are;
}

/* Try one group of nodes after the other; the best one stands. */
static bool try_groups(struct attempt *attempt, const struct label_index *index)
{
    struct round *round = attempt->round;
    struct mark mark = attempt_mark(round);
    struct score score, best = {.placed = 0};
    const struct label_group *best_group = NULL;
    const bool *candidates = candidates_of(attempt, index);

    for (uint32_t i = 0; i < index->group_count; i++) {
        attempt->only = &index->groups[i];
        if (candidates ? !candidates[i]
                       : !is_candidate(attempt, attempt->only)) {
            continue;
        }
        bool is_full = best_group && best.placed == attempt->wanted;
        gang_price_limit(attempt, is_full ? &best.price : NULL);
        bool is_enough = try_scored(attempt, &score);
        if (is_enough && score.price.count == 0 &&
            score.placed == attempt->wanted) {
            return true;
        }
        if (is_enough && (!best_group || is_better(round, &score, &best))) {
            best = score;
            best_group = attempt->only;
        }
        attempt_back(round, mark);
    }
    attempt->only = best_group;
    gang_price_limit(attempt, NULL);
    return best_group && attempt_place(attempt);
}

/* Whether the topology says where members go: always of those with a cap, and
 * of the others as long as there is free space. */
static bool goes_near(const struct attempt *attempt)
{
    struct round *round = attempt->round;
    bool is_free = attempt->preempt_until == 0 && !attempt->may_go_away;

    return locality_matters(round, attempt->gang) &&
           (is_free || locality_is_capped(round, attempt->gang));
}

static bool try_gang(struct attempt *attempt)
{
    struct round *round = attempt->round;
    struct mark mark = attempt_mark(round);
    bool is_done = false;

    if (goes_near(attempt)) {
        is_done = locality_try(attempt);
    } else if (may_fit(attempt)) {
        const struct label_index *groups = place_groups(round, attempt->gang);
        is_done = groups ? try_groups(attempt, groups) : attempt_place(attempt);
    }
    if (!is_done) {
        attempt_back(round, mark);
    }
    return is_done;
}

/* Whether surplus of gangs with terms is to go. */
static bool takes_surplus(const struct sched *sched, struct mark mark)
{
    for (size_t i = mark.decisions; i < sched->decisions.count; i++) {
        if (sched->decisions.items[i].action == SCHED_PREEMPT &&
            sched->decisions.items[i].preemption == SCHED_PREEMPT_SURPLUS) {
            return true;
        }
    }
    return false;
}

/* Try with victims.  Member by member surplus is the cheapest; all in all
 * others may be, who make more room at once: try without it, too, and let the
 * better stand (PG-06). */
static bool try_preempting(struct attempt *attempt)
{
    struct round *round = attempt->round;
    const struct sched *sched = round->sched;
    struct mark mark = attempt_mark(round);

    /* What is preempted is for members that are needed, surplus included. */
    ASSERT(attempt->needed > 0 && !round->searches->keeps_surplus);
    attempt->only = NULL;
    attempt->preempt_until = attempt->needed;
    round->searches->gang_cost =
        lane_new_cost(round, attempt->lane, &attempt->gang->waiting_sum);
    if (!try_gang(attempt)) {
        return false;
    }
    if (!takes_surplus(sched, mark)) {
        return true;
    }
    struct victim_set with = gang_price_of(attempt);
    attempt_back(round, mark);
    attempt->only = NULL;
    round->searches->keeps_surplus = true;
    bool is_done = try_gang(attempt);
    round->searches->keeps_surplus = false;
    struct victim_set without = gang_price_of(attempt);
    if (is_done && victim_set_compare(round, &without, &with) < 0) {
        return true;
    }
    attempt_back(round, mark);
    attempt->only = NULL;
    return try_gang(attempt);
}

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

    if (try_gang(attempt)) {
        return true;
    }
    if (may_go_away(round, attempt->gang)) {
        attempt->only = NULL;
        attempt->may_go_away = true;
        if (try_gang(attempt)) {
            return true;
        }
    }
    return round->kind == ROUND_BALANCE && !round->is_filling &&
           try_preempting(attempt);
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
        gang->subs->joined_plan = sched->plan_count;
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
