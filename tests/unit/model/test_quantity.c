/*
 * quantity: texts to milli units and back.
 */
#include "model/quantity.h"
#include "unit.h"

static int64_t milli_of(const char *text)
{
    int64_t milli = -12345;

    assert_int_equal(quantity_parse(str_of(text), &milli), 0);
    return milli;
}

static void suffixes_scale(void **state)
{
    (void)state;

    assert_int_equal(milli_of("1"), 1000);
    assert_int_equal(milli_of("1500m"), 1500);
    assert_int_equal(milli_of("0.1"), 100);
    assert_int_equal(milli_of("32Gi"), INT64_C(34359738368000));
    assert_int_equal(milli_of("1e3"), 1000000);
    assert_int_equal(milli_of("2E2"), 200000);
    assert_int_equal(milli_of("1.5Ki"), 1536000);
    assert_int_equal(milli_of("5k"), 5000000);
    assert_int_equal(milli_of("-3"), -3000);
    assert_int_equal(milli_of("0"), 0);
    assert_int_equal(milli_of("000000000000000000000001"), 1000);
}

static void finer_than_milli_rounds_away_from_zero(void **state)
{
    (void)state;

    assert_int_equal(milli_of("1n"), 1);
    assert_int_equal(milli_of("1001u"), 2);
    assert_int_equal(milli_of("-0.0001"), -1);
}

static void what_is_no_quantity_is_refused(void **state)
{
    static const char *const bad[] = {"",    "x",   "1x",   "1 ", "Gi",
                                      "--1", "1e",  "1e+",  "i",  "1Gii",
                                      ".",   "1mm", "1.2.3"};
    int64_t milli = 0;
    (void)state;

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(quantity_parse(str_of(bad[i]), &milli), -ERR_INVALID);
    }
    assert_int_equal(quantity_parse(STR("10E"), &milli), -ERR_LIMIT);
    assert_int_equal(quantity_parse(STR("1e30"), &milli), -ERR_LIMIT);
}

static void formatting_is_canonical(void **state)
{
    char text[QUANTITY_TEXT_BYTES_MAX];
    (void)state;

    assert_string_equal(quantity_format(500, false, text), "500m");
    assert_string_equal(quantity_format(2000, false, text), "2");
    assert_string_equal(quantity_format(milli_of("1Gi"), true, text), "1Gi");
    assert_string_equal(quantity_format(milli_of("1500Mi"), true, text),
                        "1500Mi");
    assert_string_equal(quantity_format(0, true, text), "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(suffixes_scale),
        TEST(finer_than_milli_rounds_away_from_zero),
        TEST(what_is_no_quantity_is_refused),
        TEST(formatting_is_canonical),
    };
    return RUN_TESTS(tests);
}
