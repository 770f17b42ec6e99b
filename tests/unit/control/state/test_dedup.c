/* Recent client ids are known, older ones forgotten once others know them. */
#include "control/state/dedup.h"
#include "unit.h"

static struct job_id job_of(uint32_t n)
{
    return (struct job_id){{n + 1, 7}};
}

static void put(struct dedup *dedup, uint32_t n, uint64_t seq)
{
    struct key128 key = dedup_key(dedup, STR("q"), str_make(&n, sizeof(n)));

    dedup_put(dedup, key, job_of(n), seq);
}

static bool is_known(struct dedup *dedup, uint32_t n)
{
    struct job_id job;
    struct key128 key = dedup_key(dedup, STR("q"), str_make(&n, sizeof(n)));

    return dedup_find(dedup, key, &job) &&
           key128_compare(job.v, job_of(n).v) == 0;
}

static void the_oldest_are_forgotten_when_others_know_them(void **state)
{
    auto_ptr(dedup) dedup = dedup_create(5);
    uint32_t count = DEDUP_RECENT_COUNT + 100;

    (void)state;
    for (uint32_t n = 0; n < count; n++) {
        put(dedup, n, n);
    }
    assert_false(dedup_has_forgotten(dedup));
    dedup_forget(dedup, 9); /* the store knows the first ten */
    assert_int_equal(dedup_count(dedup), count - 10);
    assert_true(dedup_has_forgotten(dedup));
    assert_false(is_known(dedup, 9));
    assert_true(is_known(dedup, 10));
    dedup_forget(dedup, UINT64_MAX);
    assert_int_equal(dedup_count(dedup), DEDUP_RECENT_COUNT);
    for (uint32_t n = 0; n < count; n++) {
        assert_int_equal(is_known(dedup, n), n >= 100);
    }
}

static void the_later_job_of_a_key_counts(void **state)
{
    auto_ptr(dedup) dedup = dedup_create(5);
    struct job_id job;
    struct key128 key = dedup_key(dedup, STR("q"), STR("x"));

    (void)state;
    assert_false(dedup_find(dedup, key, &job));
    dedup_put(dedup, key, job_of(1), 1);
    dedup_put(dedup, key, job_of(2), 2);
    assert_true(dedup_find(dedup, key, &job));
    assert_int_equal(job.v.hi, job_of(2).v.hi);
    assert_int_equal(dedup_count(dedup), 1);
    key = dedup_key(dedup, STR("other"), STR("x"));
    assert_false(dedup_find(dedup, key, &job));
}

static void packing_gives_it_back(void **state)
{
    auto_ptr(dedup) dedup = dedup_create(5);
    auto_strbuf bytes = {0};

    (void)state;
    for (uint32_t n = 0; n < 1000; n++) {
        put(dedup, n, n);
    }
    dedup_pack(dedup, &bytes);
    struct pack_reader reader = {.rest = strbuf_str(&bytes)};
    auto_ptr(dedup) copy = dedup_unpack(&reader);
    assert_non_null(copy);
    assert_int_equal(reader.rest.byte_count, 0);
    for (uint32_t n = 0; n < 1001; n++) {
        assert_int_equal(is_known(copy, n), n < 1000);
    }
    reader = (struct pack_reader){
        .rest = str_make(bytes.bytes, bytes.byte_count - 1)};
    assert_null(dedup_unpack(&reader));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_oldest_are_forgotten_when_others_know_them),
        TEST(the_later_job_of_a_key_counts),
        TEST(packing_gives_it_back),
    };
    return RUN_TESTS(tests);
}
