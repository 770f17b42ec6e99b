/* Whether a job could ever run: at home, or in a pool that it may borrow from.
 */
#include "pools/ask/ask.h"
#include "pools/tables/classes.h"
#include "pools/tables/match.h"
#include "pools/tables/pool_names.h"

uint32_t class_there(void *context, uint32_t class_index)
{
    const struct translation *t = context;

    return shard_class(t->pools, t->to, class_back(t->from, class_index));
}

/* Asks one lender. */
typedef bool ask_fn(struct sched *sched, uint32_t job,
                    const struct sched_elsewhere *there, uint32_t *ret_looks);

static bool ask_for_job(struct sched *sched, uint32_t job,
                        const struct sched_elsewhere *there,
                        uint32_t *ret_looks)
{
    return sched_has_place_at(sched, job, there, ret_looks);
}

/* Whether a job that is in `here` may run in `there` too. */
static bool may_go(const struct pools *pools, uint32_t job,
                   const struct shard *here, const struct shard *there)
{
    const struct shard *home = home_of_name(pools, pools->jobs.items[job].name);

    return there && there != here &&
           (there == home ||
            match_may_borrow(home->name ? &home->record : NULL,
                             there->name ? &there->record : NULL));
}

/* Ask all shards that a job may go to, but the one that it is in. */
static enum pools_answer ask_others(struct pools *pools, uint32_t job,
                                    uint32_t fit_no, ask_fn *ask,
                                    uint32_t *ret_looks)
{
    struct shard *here = shard_of(pools, job);
    const struct pool_job *row = &pools->jobs.items[job];
    enum pools_answer answer = POOLS_NO;

    if (!sched_job_may_borrow(here->sched, row->local)) {
        return POOLS_NO;
    }
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *to = pools->shards.items[i];
        struct translation translation = {pools, here, to};
        if (!may_go(pools, job, here, to)) {
            continue;
        }
        if (to->is_busy) {
            answer = POOLS_LATER;
            continue;
        }
        struct sched_elsewhere there = {
            .sched = to->sched,
            .pool = pool_in(pools, to, row->name),
            .class_of = class_there,
            .context = &translation,
            .fit_no = fit_no,
        };
        if (ask(here->sched, row->local, &there, ret_looks)) {
            return POOLS_YES;
        }
    }
    return answer;
}

enum pools_answer pools_has_place(struct pools *pools, uint32_t job,
                                  uint32_t *ret_looks)
{
    if (!pools->is_mapped) {
        return sched_has_place(first_of(pools), job, ret_looks) ? POOLS_YES
                                                                : POOLS_NO;
    }
    struct shard *here = shard_of(pools, job);
    if (here->is_busy) {
        return POOLS_LATER;
    }
    if (sched_has_place(here->sched, pools->jobs.items[job].local, ret_looks)) {
        return POOLS_YES;
    }
    return ask_others(pools, job, 0, ask_for_job, ret_looks);
}

enum pools_answer pools_gang_may_fit(struct pools *pools, uint32_t job,
                                     uint32_t fit_no, uint32_t *ret_looks,
                                     struct sched_gang_miss *ret_miss)
{
    if (!pools->is_mapped) {
        return sched_gang_may_fit(first_of(pools), job, fit_no, ret_looks,
                                  ret_miss)
                   ? POOLS_YES
                   : POOLS_NO;
    }
    struct shard *here = shard_of(pools, job);
    if (here->is_busy) {
        return POOLS_LATER;
    }
    if (sched_gang_may_fit(here->sched, pools->jobs.items[job].local, fit_no,
                           ret_looks, ret_miss)) {
        return POOLS_YES;
    }
    return ask_others(pools, job, fit_no, sched_gang_may_fit_at, ret_looks);
}

bool pools_has_lenders(const struct pools *pools, uint32_t job)
{
    bool has = false;

    if (!pools->is_mapped) {
        return false;
    }
    const struct shard *here = shard_of(pools, job);
    for (size_t i = 0; i < pools->shards.count && !has; i++) {
        has = may_go(pools, job, here, pools->shards.items[i]);
    }
    return has &&
           sched_job_may_borrow(here->sched, pools->jobs.items[job].local);
}
