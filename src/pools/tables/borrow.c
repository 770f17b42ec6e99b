
#include "pools/tables/borrow.h"

#include <stdlib.h>

enum { MILLI = 1000, PPM = 1000000, GB_BYTES = 1000000000 };

int64_t borrow_weigh(const struct policy *policy,
                     const struct pool_policy *pool,
                     const struct resource_vec *amounts)
{
    const struct resource_schema *schema = &policy->schema;
    bool has_weights = false;
    i128 sum = 0;

    for (uint32_t r = 0; r < schema->column_count; r++) {
        has_weights |= pool->cost_weights_ppm[r] > 0;
    }
    for (uint32_t r = 0; r < schema->column_count; r++) {
        bool is_bytes = resource_is_bytes(schema->columns[r].name);
        int64_t ppm = has_weights ? pool->cost_weights_ppm[r]
                      : is_bytes  ? PPM / 4
                                  : PPM;
        i128 milli = (i128)amounts->v[r] * schema->columns[r].unit_milli;
        if (milli > 0 && ppm > 0 && !policy->is_floating[r]) {
            sum += milli * ppm / (is_bytes ? (i128)MILLI * GB_BYTES : MILLI);
        }
    }
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

static int compare_lenders(const void *a, const void *b)
{
    const struct lender *x = a;
    const struct lender *y = b;

    if (x->idle_weight != y->idle_weight) {
        return x->idle_weight > y->idle_weight ? -1 : 1;
    }
    if (x->waiting_count != y->waiting_count) {
        return x->waiting_count < y->waiting_count ? -1 : 1;
    }
    return str_compare(x->name, y->name);
}

void borrow_sort(struct lender *lenders, uint32_t count)
{
    if (count) {
        qsort(lenders, count, sizeof(*lenders), compare_lenders);
    }
}

bool borrow_has_room(const struct lender *lender,
                     const struct resource_vec *request, uint32_t count)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && lender->idle.v[r] / request->v[r] < count) {
            return false;
        }
    }
    return true;
}

void borrow_take(struct lender *lenders, uint32_t count, uint32_t at,
                 const struct policy *policy, const struct pool_policy *pool,
                 const struct resource_vec *sum)
{
    struct lender lender = lenders[at];

    ASSERT(lender.taken_count <= lender.waiting_count); /* who was lent waits */
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        lender.idle.v[r] -= sum->v[r];
    }
    lender.idle_weight = borrow_weigh(policy, pool, &lender.idle);
    lender.waiting_count++;
    lender.taken_count++;
    /* It has less now, and more wait there: it only goes back. */
    for (; at + 1 < count && compare_lenders(&lender, &lenders[at + 1]) > 0;
         at++) {
        lenders[at] = lenders[at + 1];
    }
    lenders[at] = lender;
    ASSERT_SLOW(at == 0 || compare_lenders(&lenders[at - 1], &lender) <= 0);
    ASSERT_SLOW(at + 1 == count ||
                compare_lenders(&lender, &lenders[at + 1]) <= 0);
}
