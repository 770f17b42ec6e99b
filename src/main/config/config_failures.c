#include "main/config/config_failures.h"

#include <stdlib.h>

#include "wire/text/pattern.h"

enum { CODES_MAX = 256 };

static const struct setting codes_keys[] = {
    SETTING("operator", TEXT, config_failure_codes, operator_,
            .about = "In or NotIn."),
    SETTING("values", TEXTS, config_failure_codes, values,
            .about = "Exit codes, without 0."),
};
static const struct settings codes_table =
    SETTINGS(codes_keys, config_failure_codes, NULL);

static const struct setting pattern_keys[] = {
    SETTING("pattern", TEXT, config_failure_pattern, pattern,
            .about = "POSIX extended regular expression for a part of the "
                     "text; (?i) in front ignores case."),
};
static const struct settings pattern_table =
    SETTINGS(pattern_keys, config_failure_pattern, NULL);

static const struct setting rule_keys[] = {
    SETTING("subcategory", TEXT, config_failure_rule, subcategory,
            .about = "Subcategory that the rule gives."),
    SETTING("containerName", TEXT, config_failure_rule, container,
            .about = "Container whose end counts; empty: any."),
    SETTING("onExitCodes", RECORD, config_failure_rule, codes,
            .table = &codes_table,
            .about = "Exit code of a container that failed."),
    SETTING("onTerminationMessage", RECORD, config_failure_rule, message,
            .table = &pattern_table,
            .about = "Message of a container that failed."),
    SETTING("onPodError", RECORD, config_failure_rule, pod_error,
            .table = &pattern_table,
            .about = "Message of a pod that could not run or was ended."),
    SETTING("onConditions", TEXTS, config_failure_rule, conditions,
            .about = "Any of OOMKilled, Evicted, DeadlineExceeded."),
};
static const struct settings rule_table =
    SETTINGS(rule_keys, config_failure_rule, NULL);

static const struct setting category_keys[] = {
    SETTING("name", TEXT, config_failure_category, name, .is_required = true,
            .about = "Name of the category."),
    SETTING("rules", RECORDS, config_failure_category, rules,
            .is_required = true, .table = &rule_table, .is_pointer = true,
            .count_max = CONFIG_CATEGORY_RULES_MAX,
            .count_offset =
                offsetof(struct config_failure_category, rule_count),
            .about = "Its rules, each with one of onExitCodes, "
                     "onTerminationMessage, onPodError, onConditions."),
};
static const struct settings category_table =
    SETTINGS(category_keys, config_failure_category, NULL);

static const struct setting failures_keys[] = {
    SETTING("defaultCategory", TEXT, config_failures, default_category,
            .about = "Category of a failure that no rule matches; empty: "
                     "none."),
    SETTING("defaultSubcategory", TEXT, config_failures, default_subcategory,
            .about = "Its subcategory."),
    SETTING("categories", RECORDS, config_failures, categories,
            .table = &category_table, .is_pointer = true,
            .count_max = CONFIG_CATEGORIES_MAX,
            .count_offset = offsetof(struct config_failures, category_count),
            .about = "The first rule that matches, in the order given, names "
                     "the failure."),
};
const struct settings config_failures_settings =
    SETTINGS(failures_keys, config_failures, NULL);

static int check_name(const char *what, struct str name, bool may_be_empty,
                      struct err *err)
{
    if (name.byte_count > FAILURE_NAME_BYTES_MAX ||
        (name.byte_count == 0 && !may_be_empty)) {
        return err_set(err, -ERR_INVALID, "%s: \"%.*s\" has not %d to %d bytes",
                       what, STR_ARG(name), may_be_empty ? 0 : 1,
                       FAILURE_NAME_BYTES_MAX);
    }
    return 0;
}

static int take_code(struct str text, int32_t *ret_code, struct err *err)
{
    char digits[16], *end;

    if (text.byte_count > 0 && text.byte_count < sizeof(digits)) {
        memcpy(digits, text.p, text.byte_count);
        digits[text.byte_count] = '\0';
        long value = strtol(digits, &end, 10);
        if (*end == '\0' && value != 0 && value >= -255 && value <= 255) {
            *ret_code = (int32_t)value;
            return 0;
        }
    }
    return err_set(
        err, -ERR_INVALID,
        ".onExitCodes.values: \"%.*s\" is not an exit code from 1 to "
        "255",
        STR_ARG(text));
}

static int take_codes(const struct config_failure_codes *from,
                      struct arena *arena, struct failure_rule *rule,
                      struct err *err)
{
    bool is_in = str_equal(from->operator_, STR("In"));

    if (!is_in && !str_equal(from->operator_, STR("NotIn"))) {
        return err_set(
            err, -ERR_INVALID,
            ".onExitCodes.operator: \"%.*s\" is neither In nor NotIn",
            STR_ARG(from->operator_));
    }
    if (from->values.count == 0 || from->values.count > CODES_MAX) {
        return err_set(err, -ERR_INVALID,
                       ".onExitCodes.values: must name 1 to %d codes",
                       CODES_MAX);
    }
    int32_t *codes =
        arena_alloc_array(arena, from->values.count, sizeof(*codes));
    for (uint32_t i = 0; i < from->values.count; i++) {
        int rc = take_code(from->values.items[i], &codes[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    rule->is_not_in = !is_in;
    rule->exit_codes = codes;
    rule->exit_code_count = from->values.count;
    return 0;
}

static int take_pattern(const char *key, struct str pattern,
                        struct arena *arena, struct failure_rule *rule,
                        struct err *err)
{
    regex_t compiled;
    struct err why;

    int rc = pattern_compile(pattern, &compiled, &why);
    if (rc < 0) {
        return err_set(err, rc, ".%s.pattern: %s", key, why.text);
    }
    regfree(&compiled);
    rule->pattern = arena_str(arena, pattern);
    return 0;
}

static int take_conditions(const struct setting_texts *from,
                           struct failure_rule *rule, struct err *err)
{
    static const struct {
        struct str name;
        enum failure_condition bit;
    } all[] = {{{"OOMKilled", 9}, FAILURE_OOM_KILLED},
               {{"Evicted", 7}, FAILURE_EVICTED},
               {{"DeadlineExceeded", 16}, FAILURE_DEADLINE_EXCEEDED}};

    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t before = rule->conditions;
        bool is_known = false;
        for (size_t c = 0; c < ARRAY_COUNT(all); c++) {
            is_known |= str_equal(from->items[i], all[c].name);
            rule->conditions |=
                str_equal(from->items[i], all[c].name) ? all[c].bit : 0;
        }
        if (!is_known) {
            rule->conditions = before;
            return err_set(err, -ERR_INVALID,
                           ".onConditions[%u]: \"%.*s\" is not OOMKilled, "
                           "Evicted or DeadlineExceeded",
                           i, STR_ARG(from->items[i]));
        }
    }
    return 0;
}

/* What a rule looks at; -ERR_INVALID: not one thing. */
static int take_sign(const struct config_failure_rule *from,
                     struct failure_rule *rule, struct err *err)
{
    bool has[] = {
        [FAILURE_EXIT_CODE] = from->codes.operator_.byte_count > 0 ||
                              from->codes.values.count > 0,
        [FAILURE_TERMINATION_MESSAGE] = from->message.pattern.byte_count > 0,
        [FAILURE_POD_ERROR] = from->pod_error.pattern.byte_count > 0,
        [FAILURE_CONDITION] = from->conditions.count > 0,
    };
    uint32_t count = 0;

    for (uint32_t i = 0; i < ARRAY_COUNT(has); i++) {
        count += has[i];
        rule->sign = has[i] ? (enum failure_sign)i : rule->sign;
    }
    return count == 1 ? 0
                      : err_set(err, -ERR_INVALID,
                                ": must have one of onExitCodes, "
                                "onTerminationMessage, onPodError and "
                                "onConditions, not %u",
                                count);
}

static int take_rule(const struct config_failure_rule *from,
                     struct arena *arena, struct failure_rule *rule,
                     struct err *err)
{
    int rc = check_name(".subcategory", from->subcategory, true, err);

    rule->subcategory = arena_str(arena, from->subcategory);
    rule->container = arena_str(arena, from->container);
    rc = rc < 0 ? rc : take_sign(from, rule, err);
    if (rc < 0) {
        return rc;
    }
    switch (rule->sign) {
    case FAILURE_EXIT_CODE:
        return take_codes(&from->codes, arena, rule, err);
    case FAILURE_TERMINATION_MESSAGE:
        return take_pattern("onTerminationMessage", from->message.pattern,
                            arena, rule, err);
    case FAILURE_POD_ERROR:
        return take_pattern("onPodError", from->pod_error.pattern, arena, rule,
                            err);
    case FAILURE_CONDITION:
        break;
    }
    return take_conditions(&from->conditions, rule, err);
}

/* The rules of a category, from `*count` on. */
static int take_category(const struct config_failure_category *from,
                         struct arena *arena, struct failure_rule *rules,
                         uint32_t *count, struct err *err)
{
    struct err why;
    int rc = check_name("name", from->name, false, err);

    if (rc == 0 && from->rule_count == 0) {
        rc = err_set(err, -ERR_INVALID, "rules: needs at least one");
    }
    for (uint32_t i = 0; rc == 0 && i < from->rule_count; i++) {
        struct failure_rule *rule = &rules[(*count)++];
        rule->category = arena_str(arena, from->name);
        rc = take_rule(&from->rules[i], arena, rule, &why);
        if (rc < 0) {
            return err_set(err, rc, "rules[%u]%s", i, why.text);
        }
    }
    return rc;
}

int config_failure_rules(const struct config_failures *from,
                         struct arena *arena, struct failure_rules *ret_rules,
                         struct err *err)
{
    struct err why;
    uint32_t count = 0, total = 0;
    int rc = check_name("defaultCategory", from->default_category, true, err);

    rc = rc < 0 ? rc
                : check_name("defaultSubcategory", from->default_subcategory,
                             true, err);
    for (uint32_t i = 0; i < from->category_count; i++) {
        total += from->categories[i].rule_count;
    }
    struct failure_rule *rules =
        arena_alloc_array(arena, total, sizeof(*rules));
    for (uint32_t i = 0; rc == 0 && i < from->category_count; i++) {
        rc = take_category(&from->categories[i], arena, rules, &count, &why);
        if (rc < 0) {
            return err_set(err, rc, "categories[%u].%s", i, why.text);
        }
    }
    *ret_rules = (struct failure_rules){
        rules, count, arena_str(arena, from->default_category),
        arena_str(arena, from->default_subcategory)};
    return rc;
}
