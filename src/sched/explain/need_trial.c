#include "sched/explain/need_trial.h"

#include "sched/order/sweep.h"
#include "sched/round/plan.h"
#include "sched/state/sub_groups.h"

/* What a trial costs before anybody is looked at. */
static uint64_t base_work(const struct sched *sched)
{
    uint64_t items = 1000 + sched->lists.count +
                     NEED_NODE_WORK * (uint64_t)sched->nodes.count +
                     sched->runs.count + sched->active.count;

    return items * NEED_ITEM_WORK;
}

const struct list *trial_list(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return &sched->lists.items[sched->jobs.items[trials->job].list];
}

struct resource_vec trial_asked(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return trials->gang == NONE || trials->sub_group != NONE
               ? sched->classes.items[trial_list(trials)->class_index].request
               : gang_least(sched, trials->gang);
}

bool trial_may(const struct trials *trials)
{
    uint64_t base = base_work(trials->sched);

    return !trials->is_over && trials->count < NEED_TRIALS_MAX &&
           base * NEED_TRIALS_MIN <= NEED_LOOKS_MAX &&
           trials->work + base <= NEED_LOOKS_MAX;
}

/* Whether a decision starts what is asked about. */
static bool is_of_it(const struct trials *trials,
                     const struct sched_decision *decision)
{
    const struct sched *sched = trials->sched;
    uint32_t job = decision->job;

    if (decision->action != SCHED_LEASE) {
        return false;
    }
    if (trials->gang == NONE || sched->jobs.items[job].gang != trials->gang) {
        return job == trials->job;
    }
    return trials->sub_group == NONE ||
           sub_group_of(sched, job) == trials->sub_group;
}

static bool starts_if(struct trials *trials, int64_t now_ms,
                      const struct what_if *asked)
{
    struct what_if what_if = *asked;
    struct sched_plan plan;
    bool is_leased = false;

    trials->count++;
    trials->work += base_work(trials->sched);
    uint64_t left =
        trials->work < NEED_LOOKS_MAX ? NEED_LOOKS_MAX - trials->work : 0;
    what_if.grows = trials->sub_group != NONE;
    what_if.work_max = left + 1;
    plan_if(trials->sched, now_ms, &what_if, &plan);
    for (uint32_t i = 0; i < plan.decision_count && !is_leased; i++) {
        is_leased = is_of_it(trials, &plan.decisions[i]);
    }
    uint64_t work = sweep_work(&plan.counters);
    trials->work += work;
    trials->is_over |= !is_leased && work > left;
    return is_leased;
}

bool trial_starts(struct trials *trials, int64_t now_ms)
{
    const struct what_if what_if = {.cooldown_waived = NONE};

    return starts_if(trials, now_ms, &what_if);
}

bool trial_starts_if(struct trials *trials, const struct what_if *what_if)
{
    return starts_if(trials, trials->now_ms, what_if);
}

bool trial_starts_with(struct trials *trials, const struct what_if_more *more)
{
    const struct what_if what_if = {.more = *more, .cooldown_waived = NONE};

    if (!trial_may(trials)) {
        trials->is_over = true;
        return false;
    }
    return starts_if(trials, trials->now_ms, &what_if);
}

/* The least. */

/* One column: down from what starts the job by steps that double, since what
 * was reckoned is mostly right, then by halves. */
static bool shrink_column(struct trials *trials, struct what_if_more *more,
                          uint32_t column)
{
    int64_t *tried = &more->amount.v[column];
    int64_t low = 0, high = *tried; /* high starts it */
    int64_t step = 1;
    bool has_failed = false;

    while (low < high) {
        int64_t middle = has_failed || step > high - low
                             ? low + (high - low) / 2
                             : high - step;
        *tried = middle;
        ASSERT(middle >= 0 && middle < high); /* less than what starts it */
        bool is = trial_starts_with(trials, more);
        if (trials->is_over) {
            *tried = high;
            return false;
        }
        has_failed |= !is;
        step *= 2;
        high = is ? middle : high;
        low = is ? low : middle + 1;
    }
    *tried = high;
    return true;
}

bool trial_shrink(struct trials *trials, struct what_if_more *more)
{
    struct resource_vec before;
    bool is_least;

    /* Again as long as one gives room for less of another. */
    do {
        before = more->amount;
        is_least = true;
        for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            if (more->amount.v[r] > 0) {
                is_least &= shrink_column(trials, more, r);
            }
        }
    } while (is_least && memcmp(&before, &more->amount, sizeof(before)) != 0);
    return is_least;
}
