/* The planner's data structures, each by the sentences of its header. */
#include <string.h>

#include "sched/data/bucket.h"
#include "sched/data/cost.h"
#include "sched/data/node_index.h"
#include "sched/data/seq.h"
#include "sched/place/recent.h"
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

/* What is not there is told with the place where it would stand. */
static void seq_finds_where_an_item_would_stand(void **state)
{
    struct seq seq = {0};
    struct seq_cursor at;

    (void)state;
    assert_false(seq_find(&seq, 1, less, NULL, &at));
    assert_true(seq_is_end(&seq, at));
    for (uint32_t i = 1; i < 5000; i++) {
        seq_insert(&seq, i * 2, less, NULL);
    }
    for (uint32_t i = 0; i < 9998; i++) {
        assert_int_equal(seq_find(&seq, i, less, NULL, &at), i && i % 2 == 0);
        assert_int_equal(seq_get(&seq, at), i < 2 ? 2 : i + i % 2);
    }
    assert_false(seq_find(&seq, 9999, less, NULL, &at));
    assert_true(seq_is_end(&seq, at));
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

enum { NODES = 700, KINDS = 40, KIND_WORDS = KINDS / 32 + 1 };

/* Nodes with room, in an index. */
struct indexed {
    struct resource_vec free[NODES];
    uint32_t ranks[NODES];
    uint32_t kinds[NODES];
    struct node_index index;
};

static uint64_t key_of(const struct resource_vec *v)
{
    return (uint64_t)(v->v[0] + v->v[1]);
}

/* Whether node `a` is before (key, rank). */
static bool is_before(const struct indexed *all, uint32_t a, uint64_t key,
                      uint32_t rank)
{
    uint64_t a_key = key_of(&all->free[a]);

    return a_key != key ? a_key < key : all->ranks[a] < rank;
}

/* Whether a search knows of a kind that it is not for it. */
static bool is_refused(const struct node_query *query, uint32_t kind)
{
    return query->kinds && (query->kinds[kind / 32] >> kind % 32 * 2 & 3) == 1;
}

/* What a search is to find, by a look at all nodes; and how many have room
 * from where it begins up to there, and are of kinds that may do. */
static uint32_t scan(const struct indexed *all, const struct node_query *query,
                     uint64_t *ret_asked)
{
    uint32_t best = NODE_INDEX_NONE;
    uint64_t key = UINT64_MAX;
    uint32_t rank = UINT32_MAX;

    for (uint32_t pass = 0; pass < 2; pass++) {
        *ret_asked = best != NODE_INDEX_NONE;
        for (uint32_t i = 0; i < NODES; i++) {
            if (!amounts_fit(query->request, &all->free[i]) ||
                is_refused(query, all->kinds[i]) ||
                is_before(all, i, query->key_min, query->rank_min) ||
                !is_before(all, i, key, rank)) {
                continue;
            }
            ++*ret_asked;
            if (pass == 0 && any(query->context, i)) {
                best = i;
                key = key_of(&all->free[i]);
                rank = all->ranks[i];
            }
        }
    }
    return best;
}

/* Move a node in one of the ways there are. */
static void move(struct indexed *all, uint32_t node, uint64_t random)
{
    uint64_t old_key = key_of(&all->free[node]);

    if (random >> 60 < 12) { /* what is used fills up */
        all->free[node].v[0] -= all->free[node].v[0] > 0;
        all->free[node].v[1] -= all->free[node].v[1] > 0;
    } else {
        all->free[node].v[0] = (int64_t)(random >> 25) % 50;
        all->free[node].v[1] = (int64_t)(random >> 37) % 90;
    }
    uint64_t key = key_of(&all->free[node]);
    switch (random >> 16 & 7) {
    case 0:
        node_index_remove(&all->index, node, old_key);
        node_index_insert(&all->index, node, key);
        break;
    case 1:
        node_index_move(&all->index, node, old_key, key);
        break;
    default:
        node_index_move_loosely(&all->index, node, old_key, key);
    }
}

/* Let a search know of kinds: each but the first eight is refused (3 turns of
 * 4), let through or unknown, all of some turns by their evenness. */
static const uint64_t *draw_kinds(uint64_t random, uint64_t *words)
{
    if (random >> 62 == 0) {
        return NULL;
    }
    memset(words, 0, KIND_WORDS * sizeof(*words));
    for (uint32_t kind = 8; kind < KINDS; kind++) {
        uint64_t known = random >> (kind % 16) & 3;
        bool is_out = known > 1 || (random >> 62 == 1 && kind % 2);
        words[kind / 32] |= (is_out ? 1 : known * 3) << kind % 32 * 2;
    }
    return words;
}

/* The first node in the order that has room and matches, as a scan of all
 * nodes finds it, while they move about, some of them loosely; and those with
 * room are asked up to it, but for those of kinds that are known not to do. */
static void node_index_finds_the_first(void **state)
{
    static struct indexed all;
    uint64_t examined = 0, random = 1, asked, words[KIND_WORDS];

    (void)state;
    all.index.free = all.free;
    all.index.ranks = all.ranks;
    all.index.kinds = all.kinds;
    for (uint32_t i = 0; i < NODES; i++) {
        all.ranks[i] = i * 37 % NODES;
        all.kinds[i] = i / 9 % 4 ? i / 40 % KINDS : i * 11 % KINDS;
        all.free[i] = (struct resource_vec){{i % 50, i * 7 % 90}};
        node_index_insert(&all.index, i, key_of(&all.free[i]));
    }
    for (int turn = 0; turn < 6000; turn++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct resource_vec ask = {
            {(int64_t)(random >> 33) % 40, (int64_t)(random >> 40) % 80}};
        uint32_t not_this = (uint32_t)(random >> 48) % NODES;
        struct node_query query = {
            .request = &ask,
            .key_min = key_of(&ask) + (random >> 55) % 3,
            .rank_min = (uint32_t)(random >> 22) % NODES,
            .kinds = draw_kinds(random, words),
            .match = any,
            .context = &not_this,
        };
        uint32_t want = scan(&all, &query, &asked);
        uint32_t node = (uint32_t)(random >> 20) % NODES;
        examined = 0;
        assert_int_equal(node_index_find(&all.index, &query, &examined), want);
        assert_int_equal(examined, asked);
        move(&all, turn % 3 ? node % 80 : node, random);
    }
    node_index_fini(&all.index);
}

/* What moved since, each node once, in the order of the last moves. */
static void recent_moves_are_in_order(void **state)
{
    enum { MOVES = 20000 };
    static uint32_t places[NODES], moved[MOVES], last[NODES];
    struct recent recent = {.places = places};
    uint64_t random = 1;

    (void)state;
    memset(places, 0xff, sizeof(places));
    for (uint32_t turn = 0; turn < MOVES; turn++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t most = random >> 60 < 10 ? 7 : random >> 60 < 15 ? 90 : NODES;
        uint32_t node = (uint32_t)(random >> 33) % most;
        moved[turn] = node;
        last[node] = turn;
        recent_note(&recent, node, turn, node, 1);
        uint32_t since = turn - (uint32_t)(random >> 50) % (turn + 1) % 300;
        size_t at = recent_since(&recent, since);
        for (uint32_t i = since; i <= turn; i++) {
            if (last[moved[i]] != i || moved[i] > NODES / 2) {
                continue;
            }
            at = recent_next(&recent, at, 1, NODES / 2);
            assert_int_equal(recent.nodes.items[at++], moved[i]);
        }
        assert_int_equal(recent_next(&recent, at, 1, NODES / 2),
                         recent.nodes.count);
    }
    recent_fini(&recent);
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
        TEST(seq_stays_sorted),
        TEST(seq_finds_where_an_item_would_stand),
        TEST(seq_empties),
        TEST(node_index_finds_the_first),
        TEST(recent_moves_are_in_order),
        TEST(bucket_refills_evenly),
        TEST(bucket_lets_one_overdraw),
        TEST(cost_is_exact),
    };

    return RUN_TESTS(tests);
}
