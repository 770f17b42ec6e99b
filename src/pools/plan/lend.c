/* Lends waiting jobs after a plan at home, and recalls borrowed ones. */
#include "pools/plan/plan.h"
#include "pools/tables/borrow.h"
#include "pools/tables/classes.h"
#include "pools/tables/match.h"
#include "pools/tables/pool_names.h"

/* Returning. */

/* All that were not placed are to go home, but for those that came since the
 * plan began; how many. */
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

/* What one round at home knows. */
struct lending {
    struct pools *pools;
    struct shard *home;
    const struct pool_policy *weights;
    struct lender at_home; /* what is idle there */
    struct lender *lenders;
    uint32_t lender_count;
    struct map fits; /* of class and shard: 1 yes, 0 no */
    struct arena arena;
    uint32_t moved_count;
    uint64_t look_count; /* at nodes, and at lenders */
    /* Jobs that have been with all that have room, and turns that end early or
     * begin anew: memory that the log must know of. */
    uint32_t restart_count;
    uint32_t group; /* the next of the plan's */
};

void lender_of(const struct pools *pools, const struct shard *shard,
               struct lender *ret_lender)
{
    *ret_lender = (struct lender){
        .shard = shard->index,
        .name = str_of(shard->name),
        .idle = sched_idle(shard->sched),
        .waiting_count = shard->waiting_count + shard->borrower_count,
    };
    ret_lender->idle_weight = borrow_weigh(
        pools->policy, &pools->policy->pools[0], &ret_lender->idle);
}

static void find_lenders(struct lending *l)
{
    struct pools *pools = l->pools;

    l->lenders =
        arena_alloc_array(&l->arena, pools->shards.count, sizeof(*l->lenders));
    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (!shard || shard == l->home ||
            !match_may_borrow(shard_record(l->home), shard_record(shard))) {
            continue;
        }
        if (shard->is_busy) {
            l->home->must_ask_again = true; /* who knows what it has */
            continue;
        }
        struct lender lender;
        lender_of(pools, shard, &lender);
        if (lender.idle_weight > 0) {
            lender.has_own_waiting =
                shard->waiting_count && sched_has_own_waiting(shard->sched);
            l->lenders[l->lender_count++] = lender;
        }
    }
    borrow_sort(l->lenders, l->lender_count);
}

/* Whether nodes of a shard have room for a part now. */
static bool has_nodes(struct lending *l, struct shard *shard,
                      const struct loan_part *part)
{
    struct key128 key = {(uint64_t)part->class_index << 32 | shard->index,
                         part->count};
    uint32_t known = map_find(&l->fits, key);

    if (known == MAP_NONE) {
        uint32_t local = shard_class(l->pools, shard, part->class_index);
        known = sched_class_fits(shard->sched, local, part->count);
        l->look_count += sched_nodes_end(shard->sched);
        map_put(&l->fits, key, known);
    }
    return known == 1;
}

/* Whether a shard has room for each part of a loan now; its sum, which is to
 * be had without a look at nodes, says no as a rule. */
static bool has_room(struct lending *l, struct shard *shard,
                     const struct lender *lender, const struct loan *loan)
{
    bool has = borrow_has_room(lender, &loan->needed, 1);

    for (uint32_t i = 0; has && i < loan->part_count; i++) {
        has = has_nodes(l, shard, &loan->parts[i]);
    }
    return has;
}

/* Which of the lenders takes it, or NONE: it stays at home. */
static uint32_t choose(struct lending *l, uint32_t job, const struct loan *loan)
{
    const struct pool_job *row = &l->pools->jobs.items[job];
    uint32_t passed = 0;

    l->look_count += l->lender_count;

    for (uint32_t i = 0; i < l->lender_count; i++) {
        const struct lender *lender = &l->lenders[i];
        struct shard *shard = l->pools->shards.items[lender->shard];
        if (!has_room(l, shard, lender, loan)) {
            continue;
        }
        if (passed++ < row->try_count) {
            continue; /* it has been there */
        }
        /* That may have its place by now, which nobody hears of. */
        l->home->must_ask_again |= lender->has_own_waiting;
        return lender->has_own_waiting ? NONE : i;
    }
    l->home->must_ask_again |= passed > 0; /* from the first on */
    if (row->try_count > 0) {
        move_later(l->home, job, row->local, MOVE_RESTART, 0);
        l->restart_count++;
    }
    return NONE;
}

/* An admitted job that goes is no longer admitted at home: that is said. */
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

/* So many of a class are needed; next to its like it is one part with it. */
static void loan_add(const struct shard *home, struct loan *loan,
                     struct loan_part *parts, uint32_t job, uint32_t count)
{
    uint32_t class_index = class_back(home, sched_job_class(home->sched, job));
    struct resource_vec one = sched_job_request(home->sched, job);

    if (loan->part_count == 0 ||
        parts[loan->part_count - 1].class_index != class_index) {
        parts[loan->part_count++] =
            (struct loan_part){.class_index = class_index};
    }
    parts[loan->part_count - 1].count += count;
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t more;
        if (__builtin_mul_overflow(one.v[r], count, &more) ||
            __builtin_add_overflow(loan->needed.v[r], more,
                                   &loan->needed.v[r])) {
            loan->needed.v[r] = INT64_MAX; /* nobody has so much */
        }
    }
}

void loan_of(const struct pools *pools, uint32_t job, struct arena *arena,
             struct loan *ret_loan)
{
    const struct shard *home = shard_of(pools, job);
    const struct pool_job *row = &pools->jobs.items[job];
    struct sched_job record;
    struct loan loan = {.first = row->local, .count = 1};
    uint32_t asked = 0;

    ASSERT(row->node == NONE); /* what runs is not lent */
    sched_job_record(home->sched, row->local, &record);
    if (row->gang != NONE) {
        loan.members =
            sched_gang_waiting(home->sched, row->local, arena, &loan.count);
        asked = sched_gang_asked(home->sched, row->local);
    }
    /* What a gang has to spare goes along, to wait: growth does not borrow. */
    loan.starting = asked ? asked : loan.count;
    ASSERT(loan.starting <= loan.count);
    struct loan_part *parts =
        arena_alloc_array(arena, loan.starting, sizeof(*parts));
    loan.parts = parts;
    if (record.gang_terms.byte_count == 0 && record.gang_minimum > 0 &&
        record.gang_minimum < loan.count) {
        /* Any so many may start. */
        loan_add(home, &loan, parts, loan.first, record.gang_minimum);
    } else {
        for (uint32_t i = 0; i < loan.starting; i++) {
            loan_add(home, &loan, parts, loan_member(&loan, i), 1);
        }
    }
    *ret_loan = loan;
}

/* Lend a job, with what waits of its gang; false: it stays. */
static bool lend(struct lending *l, uint32_t job)
{
    struct pools *pools = l->pools;
    struct shard *home = l->home;
    struct loan loan;

    loan_of(pools, job, &l->arena, &loan);
    if (has_room(l, home, &l->at_home, &loan)) {
        return false; /* something else keeps it */
    }
    uint32_t at = choose(l, job, &loan);
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

/* Lend what waits, from where the last turn has ended.  A turn ends early
 * when it has asked for so many, or has looked so much; then another one is
 * wanted soon. */
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
    find_lenders(&l);
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
