/* Which pool lends a node to a waiting job. */
#include "pools/plan/lend.h"
#include "pools/tables/borrow.h"
#include "pools/tables/classes.h"
#include "pools/tables/match.h"
#include "pools/tables/pool_names.h"

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

void lend_find_all(struct lending *l)
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

bool lend_has_room(struct lending *l, struct shard *shard,
                   const struct lender *lender, const struct loan *loan)
{
    bool has = borrow_has_room(lender, &loan->needed, 1);

    for (uint32_t i = 0; has && i < loan->part_count; i++) {
        has = has_nodes(l, shard, &loan->parts[i]);
    }
    return has;
}

uint32_t lend_choose(struct lending *l, uint32_t job, const struct loan *loan)
{
    const struct pool_job *row = &l->pools->jobs.items[job];
    uint32_t passed = 0;

    l->look_count += l->lender_count;

    for (uint32_t i = 0; i < l->lender_count; i++) {
        const struct lender *lender = &l->lenders[i];
        struct shard *shard = l->pools->shards.items[lender->shard];
        if (!lend_has_room(l, shard, lender, loan)) {
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
