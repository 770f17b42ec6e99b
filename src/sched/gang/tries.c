#include "sched/gang/tries.h"

#include "sched/gang/attempt.h"
#include "sched/gang/locality_place.h"
#include "sched/gang/price.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/searches.h"

/* How good a try was: one without victims comes before one with victims, then
 * more members win, then the lower cost.  Among tries without cost the first
 * wins. */
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

/* Which groups to try; NULL: each is checked when its turn comes.  A try with
 * victims makes the next check expensive and changes no answer, so all groups
 * are checked before the first such try. */
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
static bool locality_decides(const struct attempt *attempt)
{
    struct round *round = attempt->round;
    bool is_free = attempt->preempt_until == 0 && !attempt->may_go_away;

    return locality_matters(round, attempt->gang) &&
           (is_free || locality_is_capped(round, attempt->gang));
}

bool gang_try(struct attempt *attempt)
{
    struct round *round = attempt->round;
    struct mark mark = attempt_mark(round);
    bool is_done = false;

    if (locality_decides(attempt)) {
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

bool gang_try_preempting(struct attempt *attempt)
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
    if (!gang_try(attempt)) {
        return false;
    }
    if (!takes_surplus(sched, mark)) {
        return true;
    }
    struct victim_set with = gang_price_of(attempt);
    attempt_back(round, mark);
    attempt->only = NULL;
    round->searches->keeps_surplus = true;
    bool is_done = gang_try(attempt);
    round->searches->keeps_surplus = false;
    struct victim_set without = gang_price_of(attempt);
    if (is_done && victim_set_compare(round, &without, &with) < 0) {
        return true;
    }
    attempt_back(round, mark);
    attempt->only = NULL;
    return gang_try(attempt);
}
