/*
 * failure_class: a row for each sentence of model/failure.h.
 */
#include <stdio.h>

#include "executor/loop/failure_class.h"
#include "unit.h"

static const int32_t codes[] = {74, 75};

/* In this order. */
static const struct failure_rule rules[] = {
    {.category = {"infra", 5},
     .subcategory = {"oom", 3},
     .sign = FAILURE_CONDITION,
     .conditions = FAILURE_OOM_KILLED | FAILURE_DEADLINE_EXCEEDED},
    {.category = {"infra", 5},
     .subcategory = {"moved", 5},
     .sign = FAILURE_CONDITION,
     .conditions = FAILURE_EVICTED},
    {.category = {"infra", 5},
     .subcategory = {"side", 4},
     .container = {"sidecar", 7},
     .sign = FAILURE_EXIT_CODE,
     .exit_codes = codes,
     .exit_code_count = 2,
     .is_not_in = true},
    {.category = {"user", 4},
     .subcategory = {"cuda", 4},
     .sign = FAILURE_EXIT_CODE,
     .exit_codes = codes,
     .exit_code_count = 2},
    {.category = {"user", 4},
     .sign = FAILURE_TERMINATION_MESSAGE,
     .pattern = {"(?i)nccl", 8}},
    {.category = {"image", 5},
     .sign = FAILURE_POD_ERROR,
     .pattern = {"no match", 8}},
};

/* "CATEGORY/SUBCATEGORY" of a pod that ended so; "": none. */
static const char *class_of(const struct failure_rules *all,
                            struct runtime_status status)
{
    static char text[64];
    struct failure_class class = {0};
    struct err err;
    auto_ptr(failure_classes) classes = failure_classes_create(all, &err);

    assert_non_null(classes);
    bool is_named = failure_classify(classes, &status, &class);
    text[0] = '\0';
    if (is_named) {
        snprintf(text, sizeof(text), "%s%.*s/%.*s",
                 class.is_default ? "by default " : "", STR_ARG(class.category),
                 STR_ARG(class.subcategory));
    }
    return text;
}

static struct runtime_ended ended(const char *name, int32_t code,
                                  const char *message)
{
    return (struct runtime_ended){.name = str_of(name),
                                  .reason = STR("Error"),
                                  .message = str_of(message),
                                  .exit_code = code,
                                  .cause = RUNTIME_CAUSE_ERROR};
}

static const struct failure_rules all_rules = {.items = rules,
                                               .count = ARRAY_COUNT(rules)};

static void the_first_rule_that_matches_names_it(void **state)
{
    const struct runtime_ended none = {0};
    const struct {
        struct runtime_ended one, other;
        enum runtime_cause cause;
        const char *message, *class;
    } rows[] = {
        {ended("main", 75, ""), none, RUNTIME_CAUSE_ERROR, "", "user/cuda"},
        {ended("main", 1, "an NCCL error"), none, RUNTIME_CAUSE_ERROR, "",
         "user/"},
        {ended("main", 1, ""), none, RUNTIME_CAUSE_ERROR, "", ""},
        /* What ended well does not count, whatever it said. */
        {ended("main", 0, "nccl"), ended("other", 1, ""), RUNTIME_CAUSE_ERROR,
         "", ""},
        {ended("main", 75, ""), ended("sidecar", 3, ""), RUNTIME_CAUSE_ERROR,
         "", "infra/side"},
        {ended("sidecar", 74, ""), none, RUNTIME_CAUSE_ERROR, "", "user/cuda"},
        {ended("main", 143, ""), none, RUNTIME_CAUSE_DEADLINE, "", "infra/oom"},
        {none, none, RUNTIME_CAUSE_ERROR, "no match for platform", "image/"},
        {none, none, RUNTIME_CAUSE_EVICTED, "no match", "infra/moved"},
        {none, none, RUNTIME_CAUSE_IMAGE, "no match", "image/"},
        /* The server decides by Armada's names for these. */
        {none, none, RUNTIME_CAUSE_NODE_LOST, "no match", ""},
        {none, none, RUNTIME_CAUSE_REJECTED, "no match", ""},
        {ended("main", 75, ""), none, RUNTIME_CAUSE_STOPPED, "", ""},
        {none, none, RUNTIME_CAUSE_LOST, "no match", ""},
        {none, none, RUNTIME_CAUSE_REFUSED, "no match", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct runtime_ended both[] = {rows[i].one, rows[i].other};
        struct runtime_status status = {.cause = rows[i].cause,
                                        .message = str_of(rows[i].message),
                                        .ended = both,
                                        .ended_count = 2};
        assert_string_equal(class_of(&all_rules, status), rows[i].class);
    }
    struct runtime_ended killed = ended("main", 137, "");
    killed.cause = RUNTIME_CAUSE_OOM;
    assert_string_equal(
        class_of(&all_rules, (struct runtime_status){.cause = RUNTIME_CAUSE_OOM,
                                                     .ended = &killed,
                                                     .ended_count = 1}),
        "infra/oom");
}

static void what_no_rule_matches_has_the_default(void **state)
{
    struct failure_rules some = all_rules;
    struct runtime_ended one = ended("main", 1, "");
    struct runtime_status status = {
        .cause = RUNTIME_CAUSE_ERROR, .ended = &one, .ended_count = 1};
    struct failure_class class;

    (void)state;
    some.default_category = STR("other");
    some.default_subcategory = STR("unknown");
    assert_string_equal(class_of(&some, status), "by default other/unknown");
    assert_false(failure_classify(NULL, &status, &class));
}

static void a_wrong_pattern_is_refused(void **state)
{
    struct failure_rule rule = {.sign = FAILURE_POD_ERROR, .pattern = STR("(")};
    struct failure_rules wrong = {.items = &rule, .count = 1};
    struct err err = {""};

    (void)state;
    assert_null(failure_classes_create(&wrong, &err));
    assert_true(err.text[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rule_that_matches_names_it),
        cmocka_unit_test(what_no_rule_matches_has_the_default),
        cmocka_unit_test(a_wrong_pattern_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
