/* labels: the index of jobs by their labels. */
#include "store/labels.h"
#include "store/store.h"
#include "unit.h"

/* They stand in files of users. */
static void hashes_stay_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(label_hash(STR("berth.dev/name"), STR("train")),
                     0xd3f7161ac5d5297);
    assert_int_not_equal(label_hash(STR("a"), STR("bc")),
                         label_hash(STR("ab"), STR("c")));
}

static void what_no_two_jobs_share_is_not_indexed(void **state)
{
    (void)state;
    assert_true(store_label_is_indexed(STR("berth.dev/array")));
    assert_false(store_label_is_indexed(STR("berth.dev/arrayIndex")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hashes_stay_what_they_are),
        TEST(what_no_two_jobs_share_is_not_indexed),
    };
    return RUN_TESTS(tests);
}
