#include "executor/loop/failure_class.h"

#include "wire/text/pattern.h"

struct failure_classes {
    const struct failure_rules *rules;
    regex_t *patterns; /* owned: one for each rule that has one */
    bool *has_pattern; /* owned */
};

static bool takes_pattern(const struct failure_rule *rule)
{
    return rule->sign == FAILURE_TERMINATION_MESSAGE ||
           rule->sign == FAILURE_POD_ERROR;
}

struct failure_classes *
failure_classes_create(const struct failure_rules *rules, struct err *err)
{
    auto_ptr(failure_classes) classes = mem_alloc(sizeof(*classes));

    classes->rules = rules;
    classes->patterns = mem_alloc_array(rules->count, sizeof(regex_t));
    classes->has_pattern = mem_alloc_array(rules->count, sizeof(bool));
    for (uint32_t i = 0; i < rules->count; i++) {
        if (!takes_pattern(&rules->items[i])) {
            continue;
        }
        if (pattern_compile(rules->items[i].pattern, &classes->patterns[i],
                            err) < 0) {
            return NULL;
        }
        classes->has_pattern[i] = true;
    }
    struct failure_classes *made = classes;
    classes = NULL;
    return made;
}

void failure_classes_destroy(struct failure_classes *classes)
{
    if (!classes) {
        return;
    }
    for (uint32_t i = 0; i < classes->rules->count; i++) {
        if (classes->has_pattern[i]) {
            regfree(&classes->patterns[i]);
        }
    }
    mem_free(classes->patterns);
    mem_free(classes->has_pattern);
    mem_free(classes);
}

static bool has_exit_code(const struct failure_rule *rule, int32_t code)
{
    for (uint32_t i = 0; i < rule->exit_code_count; i++) {
        if (rule->exit_codes[i] == code) {
            return !rule->is_not_in;
        }
    }
    return rule->is_not_in;
}

/* Whether the way a container ended is what the rule looks for. */
static bool matches_ended(const struct failure_classes *classes, uint32_t i,
                          const struct runtime_ended *ended)
{
    const struct failure_rule *rule = &classes->rules->items[i];

    if (ended->exit_code == 0 || (rule->container.byte_count > 0 &&
                                  !str_equal(rule->container, ended->name))) {
        return false;
    }
    switch (rule->sign) {
    case FAILURE_EXIT_CODE:
        return has_exit_code(rule, ended->exit_code);
    case FAILURE_TERMINATION_MESSAGE:
        return pattern_matches(&classes->patterns[i], ended->message);
    case FAILURE_CONDITION:
        return (rule->conditions & FAILURE_OOM_KILLED) != 0 &&
               ended->cause == RUNTIME_CAUSE_OOM;
    case FAILURE_POD_ERROR:
        break;
    }
    return false;
}

/* What is true of the pod as a whole. */
static bool matches_pod(const struct failure_classes *classes, uint32_t i,
                        const struct runtime_status *status)
{
    const struct failure_rule *rule = &classes->rules->items[i];

    if (rule->sign == FAILURE_POD_ERROR) {
        return status->message.byte_count > 0 &&
               pattern_matches(&classes->patterns[i], status->message);
    }
    uint32_t condition =
        status->cause == RUNTIME_CAUSE_DEADLINE  ? FAILURE_DEADLINE_EXCEEDED
        : status->cause == RUNTIME_CAUSE_EVICTED ? FAILURE_EVICTED
                                                 : 0;
    return rule->sign == FAILURE_CONDITION &&
           (rule->conditions & condition) != 0;
}

static bool matches(const struct failure_classes *classes, uint32_t i,
                    const struct runtime_status *status)
{
    for (uint32_t c = 0; c < status->ended_count; c++) {
        if (matches_ended(classes, i, &status->ended[c])) {
            return true;
        }
    }
    return matches_pod(classes, i, status);
}

static bool is_ours(enum runtime_cause cause)
{
    return cause == RUNTIME_CAUSE_STOPPED || cause == RUNTIME_CAUSE_LOST ||
           cause == RUNTIME_CAUSE_REFUSED || cause == RUNTIME_CAUSE_NODE_LOST ||
           cause == RUNTIME_CAUSE_REJECTED;
}

bool failure_classify(const struct failure_classes *classes,
                      const struct runtime_status *status,
                      struct failure_class *ret_class)
{
    if (!classes || is_ours(status->cause)) {
        return false;
    }
    for (uint32_t i = 0; i < classes->rules->count; i++) {
        const struct failure_rule *rule = &classes->rules->items[i];
        if (matches(classes, i, status)) {
            *ret_class = (struct failure_class){rule->category,
                                                rule->subcategory, false};
            return true;
        }
    }
    *ret_class =
        (struct failure_class){classes->rules->default_category,
                               classes->rules->default_subcategory, true};
    return ret_class->category.byte_count > 0;
}
