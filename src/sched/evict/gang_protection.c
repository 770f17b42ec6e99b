#include "sched/evict/gang_protection.h"

#include "base/time_add.h"
#include "sched/evict/evicted.h"

/* Numbers that differ by less are of one share. */
static const double SLACK = 1e-9;

int64_t gang_protection_ms(const struct sched *sched, uint32_t pool)
{
    int index = sched->pools.items[pool].policy_index;

    return index < 0 ? 0 : sched->policy->pools[index].starved_after_ms;
}

bool gang_protection_is_as_near(double due, double all, double rest)
{
    return all + rest <= 2 * due * (1 + SLACK);
}

/* Whether a queue lacks more than half of what it is due and wants. */
static bool is_poor(const struct round *round, const struct share *share)
{
    double due = share_kept(round->sched, round->p, share);

    due = share->demand < due ? share->demand : due;
    return share->actual * 2 < due * (1 - SLACK);
}

/* Asked once a round: there may be many gangs, and many queues. */
static bool is_any_poor(struct round *round)
{
    uint32_t count;
    const struct share *shares = round_shares(round, &count);

    for (uint32_t i = 0; i < count && !round->evicted->are_poor_known; i++) {
        round->evicted->is_any_poor |= is_poor(round, &shares[i]);
    }
    round->evicted->are_poor_known = true;
    return round->evicted->is_any_poor;
}

/* Whether its queue is as near to its share with all of a gang as without. */
static bool is_needed(const struct round *round, const struct share *share,
                      const struct gang *gang)
{
    const struct sched *sched = round->sched;
    struct resource_vec rest = share->allocated;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t class_index = class_of_job(sched, seq_get(&gang->leased, at));
        amounts_subtract(&rest, &class_at(round, class_index)->request);
    }
    double without = cost_of(&round->pool->base, &rest, NULL, 1).approx;
    double due = share_kept(sched, round->p, share);
    return gang_protection_is_as_near(due, share->actual, without);
}

/* When the last of its members has run for so long; INT64_MAX: some have not
 * started. */
static int64_t old_at(const struct round *round, const struct gang *gang,
                      int64_t youth_ms)
{
    const struct sched *sched = round->sched;
    int64_t last_ms = INT64_MIN;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(&gang->leased, at)].run;
        int64_t started_ms = sched->runs.items[run].started_ms;
        last_ms = started_ms > last_ms ? started_ms : last_ms;
    }
    ASSERT(gang->leased.count > 0); /* it runs, else nobody would evict it */
    return time_add_saturating(last_ms, youth_ms);
}

static bool find_out(struct round *round, const struct share *share,
                     const struct gang *gang, int64_t youth_ms)
{
    const struct sched *sched = round->sched;
    struct what_if_gang found = {.until_ms = INT64_MAX};

    if (!is_needed(round, share, gang)) {
        return false;
    }
    found.gang = (uint32_t)(gang - sched->gangs.items);
    found.is_young = is_any_poor(round);
    if (found.is_young) {
        found.until_ms = old_at(round, gang, youth_ms);
        if (found.until_ms <= round->now_ms) {
            return false;
        }
        round_wake_by(round, found.until_ms);
    }
    return !what_if_takes_gang(round->what_if, &found);
}

bool gang_protection_holds(struct round *round, const struct share *share,
                           struct gang *gang)
{
    int64_t youth_ms = gang_protection_ms(round->sched, round->p);

    if (youth_ms == 0 || gang->leased.count < 2) {
        return false;
    }
    if (gang->protected_stamp != round->sched->stamp) { /* one member asked */
        gang->protected_stamp = round->sched->stamp;
        gang->is_protected = find_out(round, share, gang, youth_ms);
    }
    return gang->is_protected;
}
