/* The planner's data structures, each by the sentences of its header. */
#include "sched/bucket.h"
#include "sched/cost.h"
#include "sched/node_index.h"
#include "sched/seq.h"
#include "unit.h"

enum { MANY = 5000 };

static bool less(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

/* Any order of insertion and removal leaves a sorted sequence. */
static void seq_stays_sorted(void **state)
{
    struct seq seq = {0};
    uint32_t last = 0, count = 0;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        seq_insert(&seq, i * 2654435761u % 65537u * 8 + i % 8, less, NULL);
    }
    for (uint32_t i = 0; i < MANY; i += 3) {
        seq_remove(&seq, i * 2654435761u % 65537u * 8 + i % 8, less, NULL);
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&seq, at);
         seq_next(&seq, &at)) {
        assert_true(count == 0 || seq_get(&seq, at) > last);
        last = seq_get(&seq, at);
        count++;
    }
    assert_int_equal(count, seq.count);
    assert_int_equal(last, seq_last(&seq));
    assert_int_equal(count, MANY - (MANY + 2) / 3);
    seq_fini(&seq);
}

/* An empty sequence holds no memory. */
static void seq_empties(void **state)
{
    struct seq seq = {0};

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        seq_insert(&seq, i, less, NULL);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        seq_remove(&seq, i, less, NULL);
    }
    assert_null(seq.blocks);
    assert_true(seq_is_end(&seq, (struct seq_cursor){0}));
}

static bool any(void *context, uint32_t node)
{
    return context == NULL || node != *(const uint32_t *)context;
}

/* The first node in the order that has room and matches, as a scan of all
 * nodes finds it, while they move about. */
static void node_index_finds_the_first(void **state)
{
    enum { NODES = 700 };
    static struct resource_vec free[NODES];
    static uint32_t ranks[NODES];
    struct node_index index = {.free = free, .ranks = ranks};
    uint64_t examined = 0, random = 1;

    (void)state;
    for (uint32_t i = 0; i < NODES; i++) {
        ranks[i] = i * 37 % NODES;
        free[i].v[0] = i % 50;
        free[i].v[1] = i * 7 % 90;
        node_index_insert(&index, i, (uint64_t)(free[i].v[0] + free[i].v[1]));
    }
    for (int turn = 0; turn < 3000; turn++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct resource_vec ask = {
            {(int64_t)(random >> 33) % 40, (int64_t)(random >> 40) % 80}};
        uint64_t key_min = (uint64_t)(ask.v[0] + ask.v[1]);
        uint32_t not_this = (uint32_t)(random >> 48) % NODES;
        uint32_t want = NODE_INDEX_NONE;
        for (uint32_t i = 0; i < NODES; i++) {
            int64_t key = free[i].v[0] + free[i].v[1];
            int64_t best = want == NODE_INDEX_NONE
                               ? INT64_MAX
                               : free[want].v[0] + free[want].v[1];
            if (i != not_this && ask.v[0] <= free[i].v[0] &&
                ask.v[1] <= free[i].v[1] &&
                (key < best || (key == best && ranks[i] < ranks[want]))) {
                want = i;
            }
        }
        struct node_query query = {.request = &ask,
                                   .key_min = key_min,
                                   .match = any,
                                   .context = &not_this};
        uint32_t got = node_index_find(&index, &query, &examined);
        assert_int_equal(got, want);
        /* Move some node: it fills up, or is emptied. */
        uint32_t node = (uint32_t)(random >> 20) % NODES;
        node_index_remove(&index, node,
                          (uint64_t)(free[node].v[0] + free[node].v[1]));
        free[node].v[0] = (int64_t)(random >> 25) % 50;
        free[node].v[1] = (int64_t)(random >> 37) % 90;
        node_index_insert(&index, node,
                          (uint64_t)(free[node].v[0] + free[node].v[1]));
    }
    node_index_fini(&index);
}

/* A bucket never used is full, refills evenly, and says when. */
static void bucket_refills_evenly(void **state)
{
    struct bucket_rule rule = {.size = 20, .refill = 20, .period_ms = 10000};
    struct bucket bucket = {0};

    (void)state;
    assert_true(bucket_has(&bucket, &rule, 20, 0));
    bucket_take(&bucket, &rule, 20, 0);
    assert_false(bucket_has(&bucket, &rule, 1, 499));
    assert_true(bucket_has(&bucket, &rule, 1, 500));
    assert_int_equal(bucket_when(&bucket, &rule, 3, 100), 1500);
}

/* What is larger than the bucket goes when it is full, and overdraws it. */
static void bucket_lets_one_overdraw(void **state)
{
    struct bucket_rule rule = {.size = 20, .refill = 20, .period_ms = 10000};
    struct bucket bucket = {0};

    (void)state;
    assert_true(bucket_has(&bucket, &rule, 30, 0));
    bucket_take(&bucket, &rule, 30, 0);
    assert_int_equal(bucket_when(&bucket, &rule, 1, 0), 5500);
    assert_int_equal(bucket_when(&bucket, &rule, 30, 0), 15000);
}

/* Costs that are equal compare as equal, whatever doubles make of them. */
static void cost_is_exact(void **state)
{
    static const bool dominant[RESOURCE_COLUMNS_MAX] = {true, true};
    struct resource_vec total = {{3000000000000000000, 7000000000000000000}};
    struct resource_vec third = {{1000000000000000000, 0}};
    struct resource_vec same = {{0, 2333333333333333333}};
    struct cost_base base;

    (void)state;
    cost_base_set(&base, &total, dominant, 2);
    struct cost a = cost_of(&base, &third, NULL, 1000000);
    struct cost b = cost_of(&base, &same, NULL, 1000000);
    assert_int_equal(cost_compare(&base, &a, &b), 1);
    same.v[1]++;
    b = cost_of(&base, &same, NULL, 1000000);
    assert_int_equal(cost_compare(&base, &a, &b), -1);
    third.v[0] = 3;
    b = cost_of(&base, &third, NULL, 2000000);
    third.v[0] = 6;
    a = cost_of(&base, &third, NULL, 1000000);
    assert_int_equal(cost_compare(&base, &a, &b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(seq_stays_sorted),           TEST(seq_empties),
        TEST(node_index_finds_the_first), TEST(bucket_refills_evenly),
        TEST(bucket_lets_one_overdraw),   TEST(cost_is_exact),
    };

    return RUN_TESTS(tests);
}
