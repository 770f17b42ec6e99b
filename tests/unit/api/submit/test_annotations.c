/*
 * What annotations of submissions may say: gangs (armada-api.md 3.2), and
 * Berth's own.
 */
#include <stdio.h>

#include "api/submit/annotations.h"
#include "field.h"
#include "sample.h"
#include "texts.h"
#include "unit.h"

static const struct gang_case {
    const char *annotations[4][2];
    const char *text;
} gang_cases[] = {
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "2"}}, ""},
    {{{ANNOTATION_GANG_CARDINALITY, "nonsense"}}, ""},
    {{{ANNOTATION_GANG_ID, ""}}, "gang id is empty"},
    {{{ANNOTATION_GANG_ID, "g"}},
     "gang cardinality annotation armadaproject.io/gangCardinality is "
     "missing"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "0"}},
     "gang cardinality 0 is non-positive"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "-1"}},
     "gang cardinality -1 is non-positive"},
    {{{ANNOTATION_GANG_ID, "g"}, {ANNOTATION_GANG_CARDINALITY, "2x"}},
     "gang cardinality is not parseable - \"2x\" is no integer"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "2"},
      {ANNOTATION_FAIL_FAST, "false"}},
     "gang jobs may not set fail fast flag (annotation - "
     "armadaproject.io/failFast) to anything but true"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "2"},
      {ANNOTATION_GANG_MINIMUM, "3"}},
     "gang minimum cardinality 3 is greater than gang cardinality 2"},
    {{{ANNOTATION_GANG_ID, "g"},
      {ANNOTATION_GANG_CARDINALITY, "3"},
      {ANNOTATION_GANG_MINIMUM, "2"},
      {ANNOTATION_FAIL_FAST, "true"}},
     ""},
};

static void test_r2_gang_annotations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(gang_cases); i++) {
        const struct gang_case *c = &gang_cases[i];
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        for (size_t k = 0; k < 4 && c->annotations[k][0]; k++) {
            sample_annotation(&arena, item, c->annotations[k][0],
                              c->annotations[k][1]);
        }
        const char *text =
            text_of_request(sample_request_of(&arena, &item, 1), &arena);
        static const char prefix[] = "invalid gang information: ";
        size_t skip = *text ? sizeof(prefix) - 1 : 0;
        assert_memory_equal(text, prefix, skip);
        assert_string_equal(text + skip, c->text);
    }
}

static void test_r2_members_of_a_gang_agree(void **state)
{
    auto_arena arena = {0};
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    Berth__Submission__Item *items[2];
    Berth__Submission__Request *request = sample_request_of(&arena, items, 2);

    (void)state;
    items[0] = sample_item(&arena, pod);
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[0], "g", "2");
    sample_gang(&arena, items[1], "g", "3");
    assert_string_equal(text_of_request(request, &arena),
                        "inconsistent gang "
                        "cardinality in gang g: expected 2 but got 3");
    sample_annotation(&arena, items[1], ANNOTATION_GANG_CARDINALITY, "2");
    assert_string_equal(text_of_request(request, &arena), "");
    sample_annotation(&arena, items[1], ANNOTATION_GANG_UNIFORMITY, "rack");
    assert_string_equal(text_of_request(request, &arena),
                        "inconsistent "
                        "nodeUniformityLabel in gang g: expected  but got "
                        "rack");
    pod->priorityclassname = field("armada-preemptible");
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[1], "g", "2");
    assert_string_equal(text_of_request(request, &arena),
                        "inconsistent "
                        "PriorityClassName in gang g: expected  but got "
                        "armada-preemptible");
    /* The default is another class than none, before it is filled in. */
    pod->priorityclassname = field("armada-default");
    items[1] = sample_item(&arena, pod);
    sample_gang(&arena, items[1], "g", "2");
    assert_string_equal(text_of_request(request, &arena),
                        "inconsistent PriorityClassName in gang g: expected  "
                        "but got armada-default");
}

static void test_i19_price_band(void **state)
{
    static const struct {
        const char *band;
        bool is_good;
    } cases[] = {{"A", true}, {"h", true},   {"I", false},
                 {"", false}, {"AA", false}, {"1", false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        char expected[100];
        sample_annotation(&arena, item, ANNOTATION_PRICE_BAND, cases[i].band);
        snprintf(expected, sizeof(expected), "price band %s is not supported",
                 cases[i].band);
        assert_string_equal(text_of_rest(item, &arena),
                            cases[i].is_good ? "" : expected);
    }
}

static void test_own_annotations(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, ANNOTATION_ON_PREEMPTION, "requeue");
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_annotation(&arena, item, ANNOTATION_ON_EXECUTOR_LOST, "retry");
    assert_string_equal(text_of_rest(item, &arena),
                        "annotation berth.dev/onExecutorLost must be fail or "
                        "requeue, not retry");
}

/* Ours counts wherever it stands, then the last with Armada's prefix. */
static void test_own_annotations_with_either_prefix(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    assert_null(annotation_find_own(item, ANNOTATION_HOLD).p);
    sample_annotation(&arena, item, "armadaproject.io/holder", "no");
    sample_annotation(&arena, item, "armada/hold", "no");
    assert_null(annotation_find_own(item, ANNOTATION_HOLD).p);
    sample_annotation(&arena, item, "armadaproject.io/hold", "first");
    sample_annotation(&arena, item, "armadaproject.io/hold", "second");
    assert_string_equal(annotation_find_own(item, ANNOTATION_HOLD).p, "second");
    assert_string_equal(annotation_name(item, ANNOTATION_HOLD),
                        "armadaproject.io/hold");
    item->annotations[1]->key = field(ANNOTATION_HOLD);
    item->annotations[1]->value = field("ours");
    assert_string_equal(annotation_find_own(item, ANNOTATION_HOLD).p, "ours");
    assert_string_equal(annotation_name(item, ANNOTATION_HOLD),
                        ANNOTATION_HOLD);
}

/* Only our own prefix is ours to refuse. */
static void test_unknown_own_annotations_are_refused(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, "armadaproject.io/lifetimeSecond", "60");
    sample_annotation(&arena, item, "example.com/any", "thing");
    sample_annotation(&arena, item, "berth.dev/fakeRunMs", "60");
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_annotation(&arena, item, "berth.dev/lifetimeSecond", "60");
    assert_string_equal(
        text_of_rest(item, &arena),
        "annotation berth.dev/lifetimeSecond is not known; those of berth.dev "
        "are berth.dev/onPreemption, berth.dev/onExecutorLost, "
        "berth.dev/lifetimeSeconds, berth.dev/nodeReservation, "
        "berth.dev/maxHops, berth.dev/freezingWindowSeconds, "
        "berth.dev/fakeRunMs, berth.dev/fakeExitCode, berth.dev/hold, "
        "berth.dev/beginTime, berth.dev/maxWaitSeconds, berth.dev/dependsOn, "
        "berth.dev/retryPolicy, berth.dev/concurrencyGroup, "
        "berth.dev/concurrencyLimit, berth.dev/notify, berth.dev/outputPath, "
        "berth.dev/inputFiles; it says \"60\"");
}

static void test_output_paths_stay_where_they_can_be_mounted(void **state)
{
    static const char *const good[] = {"/a", "/a/b c", "/..a"};
    static const char *const bad[] = {"",    "/",    "a",       "a/b", "/a/",
                                      "//a", "/a:b", "/a/../b", "/."};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(good) + ARRAY_COUNT(bad); i++) {
        bool is_good = i < ARRAY_COUNT(good);
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        sample_annotation(&arena, item, ANNOTATION_OUTPUT_PATH,
                          is_good ? good[i] : bad[i - ARRAY_COUNT(good)]);
        const char *text = text_of_rest(item, &arena);
        assert_int_equal(*text == '\0', is_good);
        assert_true(is_good || strstr(text, "must be an absolute path"));
    }
}

static void test_input_files_are_checked(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    sample_annotation(&arena, item, "armadaproject.io/inputFiles", "a:eA==\n");
    assert_string_equal(text_of_rest(item, &arena), "");
    sample_annotation(&arena, item, ANNOTATION_INPUT_FILES, "../a:");
    assert_non_null(strstr(text_of_rest(item, &arena),
                           "annotation berth.dev/inputFiles: input file "
                           "\"../a\" must be names"));
}

static void a_job_names_only_targets_that_there_are(void **state)
{
    static const struct {
        const char *list, *text;
    } rows[] = {
        {"chat", ""},
        {" pager,chat, ", ""},
        {"", ""},
        {"chat,http://evil/",
         "annotation berth.dev/notify: there is no target of notifications "
         "http://evil/; there are chat, pager"},
        {"cha",
         "annotation berth.dev/notify: there is no target of notifications "
         "cha; there are chat, pager"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        sample_annotation(&arena, item, "berth.dev/notify", rows[i].list);
        assert_string_equal(text_of_rest(item, &arena), rows[i].text);
    }
}

static void test_concurrency_groups(void **state)
{
    static const struct {
        const char *group, *limit, *text;
    } cases[] = {
        {"g", "20", ""},
        {"g", NULL,
         "annotations berth.dev/concurrencyGroup and "
         "berth.dev/concurrencyLimit must be given together"},
        {NULL, "20",
         "annotations berth.dev/concurrencyGroup and "
         "berth.dev/concurrencyLimit must be given together"},
        {"g", "0",
         "annotation berth.dev/concurrencyLimit must be a number from 1 to "
         "1000000, not 0"},
        {"g", "1.5",
         "annotation berth.dev/concurrencyLimit must be a number from 1 to "
         "1000000, not 1.5"},
        {"", "2",
         "annotation berth.dev/concurrencyGroup must have 1 to 63 bytes, not "
         "0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        if (cases[i].group) {
            sample_annotation(&arena, item, ANNOTATION_TURN_GROUP,
                              cases[i].group);
        }
        if (cases[i].limit) {
            sample_annotation(&arena, item, ANNOTATION_TURN_LIMIT,
                              cases[i].limit);
        }
        assert_string_equal(text_of_rest(item, &arena), cases[i].text);
    }
}

static void test_lifetimes(void **state)
{
    static const struct {
        const char *text;
        int64_t lifetime_ms; /* -2: refused */
    } cases[] = {
        {"0", 0},         {"1.5", 1500},
        {"60", 60000},    {"infinite", LIFETIME_INFINITE},
        {"-1", -2},       {"soon", -2},
        {"31622401", -2}, {"", -2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
        assert_int_equal(annotations_lifetime_ms(item), LIFETIME_BY_CLASS);
        sample_annotation(&arena, item, ANNOTATION_LIFETIME, cases[i].text);
        bool is_refused = text_of_rest(item, &arena)[0] != 0;
        assert_int_equal(is_refused, cases[i].lifetime_ms == -2);
        if (!is_refused) {
            assert_int_equal(annotations_lifetime_ms(item),
                             cases[i].lifetime_ms);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_r2_gang_annotations),
        TEST(test_r2_members_of_a_gang_agree),
        TEST(test_i19_price_band),
        TEST(test_own_annotations),
        TEST(test_own_annotations_with_either_prefix),
        TEST(test_unknown_own_annotations_are_refused),
        TEST(test_output_paths_stay_where_they_can_be_mounted),
        TEST(test_input_files_are_checked),
        TEST(test_concurrency_groups),
        TEST(a_job_names_only_targets_that_there_are),
        TEST(test_lifetimes),
    };

    return RUN_TESTS(tests);
}
