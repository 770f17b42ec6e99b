/* Which nodes a pod spec requires, and which it prefers. */
#include "wire/kube/pod_affinity.h"

#include "wire/kube/entries.h"

typedef K8s__Io__Api__Core__V1__NodeSelectorTerm term_message;
typedef K8s__Io__Api__Core__V1__NodeSelectorRequirement expression_message;
typedef K8s__Io__Api__Core__V1__PreferredSchedulingTerm preference_message;

/* How many values an operator takes. */
static bool is_value_count_good(enum affinity_operator op, size_t count)
{
    return op == AFFINITY_IN || op == AFFINITY_NOT_IN ? count > 0
           : op == AFFINITY_GT || op == AFFINITY_LT   ? count == 1
                                                      : count == 0;
}

static int operator_parse(struct str text)
{
    static const char *const names[] = {
        [AFFINITY_IN] = "In",
        [AFFINITY_NOT_IN] = "NotIn",
        [AFFINITY_EXISTS] = "Exists",
        [AFFINITY_DOES_NOT_EXIST] = "DoesNotExist",
        [AFFINITY_GT] = "Gt",
        [AFFINITY_LT] = "Lt",
    };

    for (size_t i = AFFINITY_IN; i < ARRAY_COUNT(names); i++) {
        if (str_equal(text, str_of(names[i]))) {
            return (int)i;
        }
    }
    return -ERR_INVALID;
}

static int read_expression(const expression_message *from, bool is_field,
                           struct arena *arena,
                           struct affinity_expression *ret_expression,
                           struct err *err)
{
    int op = operator_parse(str_of(from->operator_));

    if (op < 0) {
        return err_set(err, -ERR_INVALID, "node affinity: unknown operator %s",
                       from->operator_ ? from->operator_ : "\"\"");
    }
    if (!is_value_count_good((enum affinity_operator)op, from->n_values)) {
        return err_set(err, -ERR_INVALID,
                       "node affinity: %s cannot have %zu values",
                       from->operator_, from->n_values);
    }
    if (from->n_values > AFFINITY_VALUES_MAX) {
        return err_set(err, -ERR_LIMIT, "node affinity: more than %d values",
                       AFFINITY_VALUES_MAX);
    }
    struct affinity_expression expression = {
        .key = str_of(from->key),
        .op = (enum affinity_operator)op,
        .is_field = is_field,
        .values = arena_alloc_array(arena, from->n_values, sizeof(struct str)),
        .value_count = (uint32_t)from->n_values,
    };
    for (size_t i = 0; i < from->n_values; i++) {
        expression.values[i] = str_of(from->values[i]);
    }
    *ret_expression = expression;
    return 0;
}

static int read_term(const term_message *from, struct arena *arena,
                     struct affinity_term *term, struct err *err)
{
    size_t label_count = from->n_matchexpressions;
    size_t count = label_count + from->n_matchfields;

    if (count > AFFINITY_EXPRESSIONS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "node affinity: more than %d expressions",
                       AFFINITY_EXPRESSIONS_MAX);
    }
    term->expressions =
        arena_alloc_array(arena, count, sizeof(*term->expressions));
    for (size_t i = 0; i < count; i++) {
        bool is_field = i >= label_count;
        int rc = read_expression(is_field ? from->matchfields[i - label_count]
                                          : from->matchexpressions[i],
                                 is_field, arena, &term->expressions[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    term->expression_count = (uint32_t)count;
    return 0;
}

static int add_required(const K8s__Io__Api__Core__V1__NodeAffinity *affinity,
                        struct arena *arena, struct requirement *requirement,
                        struct err *err)
{
    const K8s__Io__Api__Core__V1__NodeSelector *required =
        affinity->requiredduringschedulingignoredduringexecution;
    size_t count = required ? required->n_nodeselectorterms : 0;

    if (count > AFFINITY_TERMS_MAX) {
        return err_set(err, -ERR_LIMIT, "node affinity: more than %d terms",
                       AFFINITY_TERMS_MAX);
    }
    requirement->has_affinity = required != NULL;
    requirement->terms =
        arena_alloc_array(arena, count, sizeof(struct affinity_term));
    for (size_t i = 0; i < count; i++) {
        int rc = read_term(required->nodeselectorterms[i], arena,
                           &requirement->terms[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    requirement->term_count = (uint32_t)count;
    return 0;
}

static int read_preference(const preference_message *from, struct arena *arena,
                           struct preference *preference, struct err *err)
{
    if (from->weight < 1 || from->weight > PREFERENCE_WEIGHT_MAX) {
        return err_set(err, -ERR_INVALID,
                       "preferred node affinity: weight %d is not in 1..%d",
                       (int)from->weight, PREFERENCE_WEIGHT_MAX);
    }
    preference->weight = (uint32_t)from->weight;
    return from->preference
               ? read_term(from->preference, arena, &preference->term, err)
               : 0;
}

static int add_preferred(const K8s__Io__Api__Core__V1__NodeAffinity *affinity,
                         struct arena *arena, struct requirement *requirement,
                         struct err *err)
{
    size_t count = affinity->n_preferredduringschedulingignoredduringexecution;

    if (count > PREFERENCES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "preferred node affinity: more than %d terms",
                       PREFERENCES_MAX);
    }
    requirement->preferences =
        arena_alloc_array(arena, count, sizeof(struct preference));
    for (size_t i = 0; i < count; i++) {
        int rc = read_preference(
            affinity->preferredduringschedulingignoredduringexecution[i], arena,
            &requirement->preferences[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    requirement->preference_count = (uint32_t)count;
    return 0;
}

static int check_total(const struct requirement *requirement, struct err *err)
{
    size_t total = 0;

    for (uint32_t i = 0; i < requirement->term_count; i++) {
        total += requirement->terms[i].expression_count;
    }
    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        total += requirement->preferences[i].term.expression_count;
    }
    return total > AFFINITY_TOTAL_MAX
               ? err_set(err, -ERR_LIMIT,
                         "node affinity: more than %d expressions in all terms",
                         AFFINITY_TOTAL_MAX)
               : 0;
}

int pod_add_affinity(const K8s__Io__Api__Core__V1__PodSpec *spec,
                     struct arena *arena, struct requirement *requirement,
                     struct err *err)
{
    const K8s__Io__Api__Core__V1__NodeAffinity *affinity =
        spec->affinity ? spec->affinity->nodeaffinity : NULL;

    if (!affinity) {
        return 0;
    }
    int rc = add_required(affinity, arena, requirement, err);
    rc = rc ? rc : add_preferred(affinity, arena, requirement, err);
    return rc ? rc : check_total(requirement, err);
}
