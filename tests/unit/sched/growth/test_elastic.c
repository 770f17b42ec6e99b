/* One step of growing and shrinking, over units that are only numbers: room
 * is a count of cores. */
#include "sched/growth/elastic.h"
#include "unit.h"

enum {
    UNITS_MAX = 64,
    AGING_MS = 600000,
    /* Resource score 1 for a second. */
    CORE_SECOND = 1000000000,
};

struct cluster {
    struct elastic_unit units[UNITS_MAX];
    int64_t before[UNITS_MAX]; /* by handle */
    int64_t after[UNITS_MAX];  /* likewise */
    uint32_t count;
    int64_t free;
    int64_t load_max, load; /* in cores; 0: none */
    int64_t need[UNITS_MAX], asked[UNITS_MAX];
    uint32_t calls;
    struct elastic_rules rules;
    bool is_truncated;
};

static bool take(struct cluster *c, int64_t count)
{
    c->calls++;
    if (c->free < count || (c->load_max && c->load + count > c->load_max)) {
        return false;
    }
    c->free -= count;
    c->load += count;
    return true;
}

static bool grow(void *context, uint32_t index)
{
    (void)index;
    return take(context, 1);
}

static bool start(void *context, uint32_t index)
{
    struct cluster *c = context;

    return take(c, c->units[index].min);
}

static bool could_start(void *context, uint32_t index)
{
    const struct cluster *c = context;
    int64_t room = c->free;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct elastic_unit *unit = &c->units[i];
        if (i != index && unit->count > unit->min && !unit->is_frozen) {
            room += unit->count - unit->min;
        }
    }
    return room >= c->units[index].min;
}

static bool shrink(void *context, uint32_t index)
{
    struct cluster *c = context;

    (void)index;
    c->free++;
    c->load--;
    return true;
}

static bool is_overloaded(void *context, uint32_t index)
{
    const struct cluster *c = context;

    (void)index;
    return c->load_max && c->load > c->load_max;
}

static uint64_t mark(void *context)
{
    return (uint64_t)((struct cluster *)context)->free;
}

static void back(void *context, uint64_t mark)
{
    struct cluster *c = context;

    c->load += c->free - (int64_t)mark;
    c->free = (int64_t)mark;
}

static int compare_lanes(void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return (a > b) - (a < b);
}

/* A unit of one-core pods, of `count` as it is; its score in thousandths. */
static struct elastic_unit *add(struct cluster *c, int64_t score_milli,
                                uint32_t count, uint32_t min, uint32_t max)
{
    struct elastic_unit *unit = &c->units[c->count];

    *unit = (struct elastic_unit){
        .key = {.weight = 1000,
                .is_running = count >= min,
                .id = {{0, c->count}}},
        .min = min,
        .max = max,
        .count = count,
        .handle = c->count,
    };
    cfs_key_set_work(&unit->key, (u128)score_milli * CORE_SECOND);
    c->before[c->count++] = count;
    return unit;
}

static void step(struct cluster *c)
{
    auto_arena arena = {0};
    struct elastic_space space = {
        .context = c,
        .start = start,
        .could_start = could_start,
        .grow = grow,
        .shrink = shrink,
        .is_overloaded = is_overloaded,
        .mark = mark,
        .back = back,
        .compare_lanes = compare_lanes,
    };

    if (c->rules.aging_ms == 0) {
        c->rules = (struct elastic_rules){AGING_MS, FRACTION_ONE_PPM / 5,
                                          UINT32_MAX, false};
    }
    elastic_sort(c->units, c->count, c->rules.aging_ms, &arena);
    c->is_truncated =
        elastic_step(c->units, c->count, &c->rules, &space, &arena);
    for (uint32_t i = 0; i < c->count; i++) {
        c->after[c->units[i].handle] = c->units[i].count;
    }
}

static int64_t diff(const struct cluster *c, uint32_t handle)
{
    return c->after[handle] - c->before[handle];
}

/* Scores. */

static struct cfs_key key_of(uint32_t weight, uint32_t id)
{
    struct cfs_key key = {
        .weight = weight, .is_running = true, .id = {{0, id}}};

    cfs_key_set_work(&key, (u128)2 * 100 * CORE_SECOND);
    return key;
}

static void tj_06_the_score_is_divided_by_the_weight(void **state)
{
    (void)state;
    struct cfs_key experiment = key_of(10, 1), normal = key_of(1000, 2),
                   production = key_of(10000, 3);

    assert_float_equal((float)cfs_score(&experiment), 20, 1e-6F);
    assert_float_equal((float)cfs_score(&normal), 0.2F, 1e-6F);
    assert_float_equal((float)cfs_score(&production), 0.02F, 1e-6F);
    assert_true(cfs_compare(&production, &normal, AGING_MS) < 0);
    assert_true(cfs_compare(&normal, &experiment, AGING_MS) < 0);
}

static void tj_22_offline_is_left_of_experiment_and_grows_first(void **state)
{
    (void)state;
    struct cluster c = {.free = 1};

    add(&c, 0, 2, 1, 4)->key = key_of(10, 0);
    add(&c, 0, 2, 1, 4)->key = key_of(100, 1);
    assert_float_equal((float)cfs_score(&c.units[0].key), 20, 1e-6F);
    assert_float_equal((float)cfs_score(&c.units[1].key), 2, 1e-6F);
    step(&c);
    assert_int_equal(diff(&c, 0), 0);
    assert_int_equal(diff(&c, 1), 1);
}

/* Scores that no double tells apart are told apart; equals are not. */
static void scores_are_compared_exactly(void **state)
{
    (void)state;
    struct cfs_key a = {.weight = 3, .is_running = true, .id = {{0, 2}}};
    struct cfs_key b = {.weight = 7, .is_running = true, .id = {{0, 1}}};
    u128 unit = ((u128)1 << 80) / 21;

    cfs_key_set_work(&a, unit * 3);
    cfs_key_set_work(&b, unit * 7 + 1);
    assert_true(cfs_compare(&a, &b, AGING_MS) < 0);
    assert_true(cfs_compare(&b, &a, AGING_MS) > 0);
    cfs_key_set_work(&b, unit * 7);
    /* The heavier goes first, whatever its id. */
    assert_true(cfs_compare(&b, &a, AGING_MS) < 0);
}

static struct cfs_key waiting(uint32_t weight, int64_t submitted_s, uint32_t id)
{
    return (struct cfs_key){
        .weight = weight, .submitted_ms = submitted_s * 1000, .id = {{0, id}}};
}

/* What waits is passed by higher levels only for so long. */
static void tj_20_age_is_worth_a_level_each_ten_minutes(void **state)
{
    (void)state;
    struct cfs_key old = waiting(10, 0, 1);

    for (int64_t minute = 0; minute < 60; minute++) {
        struct cfs_key later = waiting(1000, minute * 60, 2);
        assert_int_equal(cfs_compare(&later, &old, AGING_MS) < 0, minute < 30);
    }
}

static void dearer_pods_go_first_then_older_units(void **state)
{
    (void)state;
    struct cfs_key a = waiting(1000, 1, 1), b = waiting(1000, 2, 2);

    assert_true(cfs_compare(&a, &b, AGING_MS) < 0);
    b.pod.memory = 1;
    assert_true(cfs_compare(&a, &b, AGING_MS) > 0);
    a.pod.cpu = 1;
    assert_true(cfs_compare(&a, &b, AGING_MS) < 0);
    b.pod.gpus = 1;
    assert_true(cfs_compare(&a, &b, AGING_MS) > 0);
    a.level = 1;
    assert_true(cfs_compare(&a, &b, AGING_MS) < 0);
}

/* The step. */

static void tj_07_growth_goes_round_from_the_left(void **state)
{
    (void)state;
    struct cluster c = {.free = 6};

    add(&c, 20, 2, 1, 5);
    add(&c, 200, 2, 1, 3);
    add(&c, 0, 0, 3, 4);
    step(&c);
    assert_int_equal(diff(&c, 2), 4);
    assert_int_equal(diff(&c, 0), 1);
    assert_int_equal(diff(&c, 1), 1);
    assert_int_equal(c.free, 0);
}

static void tj_08_the_rightmost_makes_room_for_one_that_waits(void **state)
{
    (void)state;
    struct cluster c = {.free = 0};

    add(&c, 20, 5, 2, 5);
    add(&c, 900, 4, 2, 4);
    add(&c, 0, 0, 2, 2);
    step(&c);
    assert_int_equal(diff(&c, 0), 0);
    assert_int_equal(diff(&c, 1), -2);
    assert_int_equal(diff(&c, 2), 2);
}

static void tj_09_nothing_shrinks_without_a_beneficiary(void **state)
{
    (void)state;
    struct cluster four = {.free = 0}, six = {.free = 0};

    add(&four, 20, 5, 2, 5);
    add(&four, 900, 4, 2, 4);
    six = four;
    add(&four, 0, 0, 4, 4);
    step(&four);
    assert_int_equal(diff(&four, 1), -2);
    assert_int_equal(diff(&four, 0), -2);
    assert_int_equal(diff(&four, 2), 4);

    add(&six, 0, 0, 6, 6);
    step(&six);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(diff(&six, i), 0);
    }
    assert_int_equal(six.free, 0);
}

static void tj_10_one_pod_moves_when_scores_are_far_from_even(void **state)
{
    (void)state;
    struct cluster c = {.free = 0}, even;

    add(&c, 20, 2, 2, 5);
    add(&c, 900, 4, 2, 4);
    even = c;
    step(&c);
    assert_int_equal(diff(&c, 0), 1);
    assert_int_equal(diff(&c, 1), -1);

    /* Just at 1.2 times the mean nothing moves. */
    cfs_key_set_work(&even.units[0].key, (u128)800 * CORE_SECOND);
    cfs_key_set_work(&even.units[1].key, (u128)1200 * CORE_SECOND);
    struct cluster over = even;
    step(&even);
    assert_int_equal(diff(&even, 1), 0);
    cfs_key_set_work(&over.units[1].key, (u128)1200 * CORE_SECOND + 1);
    step(&over);
    assert_int_equal(diff(&over, 1), -1);
}

static void tj_10_frozen_units_do_not_move(void **state)
{
    (void)state;
    struct cluster left = {.free = 0}, right;

    add(&left, 20, 2, 2, 5);
    add(&left, 900, 4, 2, 4);
    right = left;
    left.units[0].is_frozen = true;
    step(&left);
    assert_int_equal(diff(&left, 1), 0);
    right.units[1].is_frozen = true;
    step(&right);
    assert_int_equal(diff(&right, 1), 0);
}

static void tj_11_an_elastic_unit_gives_way_at_once(void **state)
{
    (void)state;
    struct cluster c = {.free = 0};

    add(&c, 100, 10, 2, 60);
    add(&c, 0, 0, 2, 2);
    step(&c);
    assert_int_equal(c.after[0], 8);
    assert_int_equal(c.after[1], 2);
}

static void tj_12_a_frozen_unit_uses_no_free_core(void **state)
{
    (void)state;
    struct cluster c = {.free = 1};

    add(&c, 100, 2, 1, 4)->is_frozen = true;
    step(&c);
    assert_int_equal(diff(&c, 0), 0);
    c.units[0].is_frozen = false;
    step(&c);
    assert_int_equal(diff(&c, 0), 1);
}

static void tj_14_the_load_ceiling_bounds_growth_and_takes_back(void **state)
{
    (void)state;
    /* In cores: 3 in all, 0.8 of which are 2. */
    struct cluster c = {.free = 2, .load = 1, .load_max = 2};

    add(&c, 100, 1, 1, 3);
    step(&c);
    assert_int_equal(diff(&c, 0), 1);
    struct cluster full = {.free = 0, .load = 3, .load_max = 2};
    add(&full, 100, 3, 1, 3);
    step(&full);
    assert_int_equal(diff(&full, 0), -1);
    /* Freezing does not protect against it. */
    struct cluster frozen = {.free = 0, .load = 3, .load_max = 2};
    add(&frozen, 100, 3, 1, 3)->is_frozen = true;
    step(&frozen);
    assert_int_equal(diff(&frozen, 0), -1);
}

/* They would freeze, and block it for a window. */
static void units_right_of_one_that_could_start_hold_still(void **state)
{
    (void)state;
    struct cluster c = {.free = 1};

    add(&c, 100, 3, 1, 9); /* two may go */
    add(&c, 50, 1, 1, 9);
    add(&c, 0, 0, 3, 3);
    step(&c);
    assert_int_equal(diff(&c, 0), -2);
    assert_int_equal(diff(&c, 1), 0);
    assert_int_equal(diff(&c, 2), 3);
}

/* What cannot be served keeps nobody from growing. */
static void units_grow_past_one_that_could_not_start(void **state)
{
    (void)state;
    struct cluster c = {.free = 1};

    add(&c, 100, 1, 1, 9);
    add(&c, 0, 0, 3, 3);
    step(&c);
    assert_int_equal(diff(&c, 0), 1);
}

/* Random units. */

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void make_random(struct cluster *c, uint64_t *seed)
{
    uint32_t count = 1 + draw(seed, UNITS_MAX - 1);

    *c = (struct cluster){.free = draw(seed, 40)};
    c->load_max = draw(seed, 3) == 0 ? 1 + draw(seed, 200) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t min = 1 + draw(seed, 4), max = min + draw(seed, 6);
        uint32_t has = draw(seed, 3) ? min + draw(seed, max - min + 1) : 0;
        struct elastic_unit *unit =
            add(c, has ? draw(seed, 1000) : 0, has, min, max);
        unit->lane = draw(seed, 3);
        unit->is_frozen = draw(seed, 4) == 0;
        c->load += has;
    }
}

static void check_bounds(const struct cluster *c)
{
    int64_t gain = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        const struct elastic_unit *unit = &c->units[i];
        bool is_out = unit->count == 0 && c->before[unit->handle] == 0;
        assert_true(is_out || unit->count >= unit->min);
        assert_true(unit->count <= unit->max);
        gain += unit->count;
        gain -= c->before[unit->handle];
    }
    assert_true(c->free >= 0);
}

/* Whatever the units are, a step ends within as many questions as there are
 * pods to ask for, and one after it that finds the same does nothing more
 * but move a pod, if that. */
static void steps_end_and_settle(void **state)
{
    (void)state;
    uint64_t seed = 1;

    for (int i = 0; i < 3000; i++) {
        struct cluster c;
        int64_t room = 0;
        make_random(&c, &seed);
        for (uint32_t u = 0; u < c.count; u++) {
            room += c.units[u].max + 2;
        }
        step(&c);
        check_bounds(&c);
        assert_true(c.calls <= room + (int64_t)c.count * room);
        for (uint32_t u = 0; u < c.count; u++) {
            c.before[c.units[u].handle] = c.units[u].count;
            c.units[u].is_frozen = true;
            c.units[u].key.is_running = c.units[u].count > 0;
        }
        step(&c);
        int64_t moved = 0;
        for (uint32_t u = 0; u < c.count; u++) {
            moved += diff(&c, u) != 0 && c.before[u] != 0;
        }
        assert_int_equal(moved, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tj_06_the_score_is_divided_by_the_weight),
        TEST(tj_22_offline_is_left_of_experiment_and_grows_first),
        TEST(scores_are_compared_exactly),
        TEST(tj_20_age_is_worth_a_level_each_ten_minutes),
        TEST(dearer_pods_go_first_then_older_units),
        TEST(tj_07_growth_goes_round_from_the_left),
        TEST(tj_08_the_rightmost_makes_room_for_one_that_waits),
        TEST(tj_09_nothing_shrinks_without_a_beneficiary),
        TEST(tj_10_one_pod_moves_when_scores_are_far_from_even),
        TEST(tj_10_frozen_units_do_not_move),
        TEST(tj_11_an_elastic_unit_gives_way_at_once),
        TEST(tj_12_a_frozen_unit_uses_no_free_core),
        TEST(tj_14_the_load_ceiling_bounds_growth_and_takes_back),
        TEST(units_right_of_one_that_could_start_hold_still),
        TEST(units_grow_past_one_that_could_not_start),
        TEST(steps_end_and_settle),
    };
    return RUN_TESTS(tests);
}
