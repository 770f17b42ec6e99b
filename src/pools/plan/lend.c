/* Lends waiting jobs after a plan at home, and recalls borrowed ones. */
#include "pools/plan/lend.h"

#include "pools/tables/borrow.h"
#include "pools/tables/classes.h"
#include "pools/tables/match.h"
#include "pools/tables/pool_names.h"

/* Returning. */

/* Send home all borrowers that the plan did not place, except those that came
 * since it began; their number. */
static uint32_t send_borrowers(struct pools *pools, struct shard *shard,
                               const struct sched_plan *plan)
{
    struct map placed = {0};
    uint32_t gone = 0;

    if (shard->borrowers.count == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        map_put(&placed, key_of_u64(plan->decisions[i].job), 0);
    }
    for (size_t i = 0;
         i < shard->borrowers.count && i < shard->planned_borrower_count; i++) {
        uint32_t job = shard->borrowers.items[i];
        if (job_is_borrower(pools, shard, job) &&
            map_find(&placed, key_of_u64(job)) == MAP_NONE) {
            const struct pool_job *row = &pools->jobs.items[job];
            move_later(shard, job, row->local, MOVE_HOME, 0);
            home_of_name(pools, row->name)->must_ask_again = true;
            gone++;
        }
    }
    map_fini(&placed);
    return gone;
}

bool pools_must_ask_again(const struct pools *pools, uint32_t shard)
{
    const struct shard *home = pools->shards.items[shard];

    return home->must_ask_again && home->waiting_count > 0 &&
           !(home->name && home->record.is_borrowing_off);
}

bool pools_has_borrowers(const struct pools *pools, uint32_t shard)
{
    return pools->shards.items[shard]->borrowers.count > 0;
}

uint32_t pools_lent_count(const struct pools *pools, uint32_t home)
{
    uint32_t count = 0;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        for (size_t k = 0; shard && k < shard->borrowers.count; k++) {
            uint32_t job = shard->borrowers.items[k];
            count +=
                job_is_borrower(pools, shard, job) &&
                home_of_name(pools, pools->jobs.items[job].name)->index == home;
        }
    }
    return count;
}

/* Lending. */

/* An admitted job that goes is no longer admitted at home: the plan says so. */
static void dismiss(struct lending *l, uint32_t job)
{
    const struct pool_job *row = &l->pools->jobs.items[job];
    struct sched_admission admission;

    if (!sched_job_admission(l->home->sched, row->local, &admission)) {
        return;
    }
    VEC_PUSH(&l->home->decisions,
             (struct sched_decision){
                 .action = SCHED_DISMISS,
                 .job = job,
                 .node = SCHED_NONE,
                 .for_job = SCHED_NONE,
                 .revocable_for = SCHED_NONE,
                 .group = l->group++,
                 .pool_index = pools_shard_pool(l->pools, l->home->index),
             });
}

/* Lend a job, with what waits of its gang; false: it stays. */
static bool lend(struct lending *l, uint32_t job)
{
    struct pools *pools = l->pools;
    struct shard *home = l->home;
    struct loan loan;

    loan_of(pools, job, &l->arena, &loan);
    if (lend_has_room(l, home, &l->at_home, &loan)) {
        return false; /* something else keeps it */
    }
    uint32_t at = lend_choose(l, job, &loan);
    if (at == NONE) {
        return false;
    }
    uint16_t to = (uint16_t)l->lenders[at].shard;
    struct resource_vec sum = {0};
    dismiss(l, job);
    for (uint32_t i = 0; i < loan.count; i++) {
        uint32_t member = home->jobs.items[loan_member(&loan, i)];
        ASSERT(pools->jobs.items[member].shard == home->index);
        ASSERT(pools->jobs.items[member].node == NONE);
        struct resource_vec one =
            sched_job_request(home->sched, pools->jobs.items[member].local);
        for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            sum.v[r] += i < loan.starting ? one.v[r] : 0;
        }
        move_later(home, member, loan_member(&loan, i), MOVE_LEND, to);
        pools->jobs.items[member].is_leaving = true;
        l->moved_count++;
    }
    borrow_take(l->lenders, l->lender_count, at, pools->policy, l->weights,
                &sum);
    return true;
}

/* Nobody who went is admitted at home by the same plan. */
static void drop_admissions(struct lending *l)
{
    struct shard *home = l->home;
    size_t left = 0;

    for (size_t i = 0; i < home->decisions.count; i++) {
        struct sched_decision decision = home->decisions.items[i];
        if (decision.action != SCHED_ADMIT ||
            !l->pools->jobs.items[decision.job].is_leaving) {
            home->decisions.items[left++] = decision;
        }
    }
    home->decisions.count = left;
}

/* Lend waiting jobs, starting where the last turn ended.  A turn ends early
 * after a number of jobs or of looks at nodes; then it asks for another turn
 * soon. */
static void take_turn(struct lending *l)
{
    struct shard *home = l->home;
    uint32_t *jobs =
        arena_alloc_array(&l->arena, POOLS_LEND_CANDIDATES_MAX, sizeof(*jobs));
    uint32_t count = sched_lend_candidates(home->sched, home->asked_count,
                                           POOLS_LEND_CANDIDATES_MAX, jobs);
    uint32_t at = 0, kept = 0;

    l->at_home.idle = sched_idle(home->sched);
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = home->jobs.items[jobs[i]];
    }
    while (at < count && l->look_count < POOLS_LOOKS_MAX) {
        kept += !lend(l, jobs[at++]);
    }
    bool is_over = at == count && count < POOLS_LEND_CANDIDATES_MAX;
    home->asked_next = is_over ? 0 : home->asked_count + kept;
    home->must_ask_again |= !is_over;
    l->restart_count += home->asked_next != home->asked_count;
}

static uint32_t lend_waiting(struct pools *pools, struct shard *home,
                             struct sched_plan *plan)
{
    struct lending l = {
        .pools = pools,
        .home = home,
        .weights = &pools->policy->pools[0],
        .group = plan->decision_count + 1,
    };

    home->must_ask_again = false;
    lend_find_all(&l);
    if (l.lender_count) {
        take_turn(&l);
    }
    if (l.moved_count) {
        drop_admissions(&l);
        plan->decisions = home->decisions.items;
        plan->decision_count = (uint32_t)home->decisions.count;
    }
    map_fini(&l.fits);
    arena_fini(&l.arena);
    return l.moved_count + l.restart_count;
}

uint32_t pools_borrow(struct pools *pools, uint32_t index, enum round_kind kind,
                      struct sched_plan *plan)
{
    struct shard *shard = pools->shards.items[index];
    const struct pool_record *record = shard_record(shard);

    if (!pools->is_mapped) {
        return 0;
    }
    ASSERT(!shard->is_busy);
    shard->asked_next = shard->asked_count;
    uint32_t count = send_borrowers(pools, shard, plan);
    bool is_time = kind == ROUND_BALANCE ||
                   (record && record->preemption_order == BORROW_FIRST);
    if (is_time && pools->objects.count && shard->waiting_count &&
        !plan->is_spent && !(record && record->is_borrowing_off)) {
        count += lend_waiting(pools, shard, plan);
    }
    borrowers_settle(pools, shard);
    return count;
}
