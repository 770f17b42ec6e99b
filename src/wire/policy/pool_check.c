/* Which pools may be created. */
#include "wire/kube/kube_name.h"
#include "wire/kube/pool_codec.h"

static int check_name(const char *name, struct err *err)
{
    struct str text = str_of(name);

    if (!text.byte_count) {
        return err_set(err, -ERR_INVALID,
                       "metadata.name: must be given; the default pool has "
                       "none, and cannot be created, edited or deleted");
    }
    if (str_equal(text, POOL_DEFAULT_NAME)) {
        return err_set(err, -ERR_INVALID,
                       "metadata.name: \"default\" is the default pool, which "
                       "cannot be created, edited or deleted");
    }
    if (!kube_is_subdomain(text)) {
        return err_set(err, -ERR_INVALID,
                       "metadata.name: \"%.128s\" is not a name of at most %d "
                       "small letters, digits, '-' and '.', with letters or "
                       "digits at its ends",
                       name, POOL_NAME_BYTES_MAX);
    }
    return 0;
}

static int check_key(const char *where, const char *key, struct err *err)
{
    return kube_is_label_key(str_of(key))
               ? 0
               : err_set(err, -ERR_INVALID,
                         "spec.nodeSelector.%s: \"%.128s\" is not the key of a "
                         "label",
                         where, key);
}

static int check_value(const char *where, const char *value, struct err *err)
{
    return kube_is_label_value(str_of(value))
               ? 0
               : err_set(err, -ERR_INVALID,
                         "spec.nodeSelector.%s: \"%.128s\" is not the value of "
                         "a label",
                         where, value);
}

static bool takes_values(enum affinity_operator op)
{
    return op == AFFINITY_IN || op == AFFINITY_NOT_IN;
}

static int check_expression(const Berth__Api__LabelExpression *expression,
                            struct err *err)
{
    static const char where[] = "matchExpressions";
    enum affinity_operator op;

    int rc = check_key(where, expression->key, err);
    if (rc < 0) {
        return rc;
    }
    if (pool_operator(str_of(expression->operator_), &op) < 0) {
        return err_set(
            err, -ERR_INVALID,
            "spec.nodeSelector.matchExpressions: the operator of %s must be "
            "In, NotIn, Exists or DoesNotExist, not \"%.128s\"",
            expression->key, expression->operator_);
    }
    if (takes_values(op) != (expression->n_values > 0)) {
        return err_set(err, -ERR_INVALID,
                       "spec.nodeSelector.matchExpressions: %s of %s takes %s",
                       expression->operator_, expression->key,
                       takes_values(op) ? "values" : "no values");
    }
    if (expression->n_values > AFFINITY_VALUES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "spec.nodeSelector.matchExpressions: %s has %zu values, "
                       "more than the %d allowed",
                       expression->key, expression->n_values,
                       AFFINITY_VALUES_MAX);
    }
    for (size_t i = 0; i < expression->n_values; i++) {
        rc = check_value(where, expression->values[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int check_selector(const Berth__Api__LabelSelector *selector,
                          struct err *err)
{
    int rc = 0;

    if (selector->n_match_labels > SELECTOR_PAIRS_MAX ||
        selector->n_match_expressions > AFFINITY_EXPRESSIONS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "spec.nodeSelector: more than %d labels or %d "
                       "expressions",
                       SELECTOR_PAIRS_MAX, AFFINITY_EXPRESSIONS_MAX);
    }
    for (size_t i = 0; rc == 0 && i < selector->n_match_labels; i++) {
        const Berth__Api__LabelSelector__MatchLabelsEntry *entry =
            selector->match_labels[i];
        rc = check_key("matchLabels", entry->key, err);
        if (rc == 0) {
            rc = check_value("matchLabels", entry->value, err);
        }
    }
    for (size_t i = 0; rc == 0 && i < selector->n_match_expressions; i++) {
        rc = check_expression(selector->match_expressions[i], err);
    }
    return rc;
}

static int check_lenders(const Berth__Api__Pool *pool, struct err *err)
{
    if (pool->n_borrowing_pools > POOL_BORROWED_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "spec.borrowingPools: %zu pools, more than the %d "
                       "allowed",
                       pool->n_borrowing_pools, POOL_BORROWED_MAX);
    }
    for (size_t i = 0; i < pool->n_borrowing_pools; i++) {
        const char *lender = pool->borrowing_pools[i];
        if (strcmp(lender, pool->name) == 0) {
            return err_set(err, -ERR_INVALID,
                           "spec.borrowingPools: %s cannot borrow from itself",
                           lender);
        }
        if (!kube_is_subdomain(str_of(lender))) {
            return err_set(err, -ERR_INVALID,
                           "spec.borrowingPools: \"%.128s\" is not the name "
                           "of a pool",
                           lender);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(lender, pool->borrowing_pools[k]) == 0) {
                return err_set(err, -ERR_INVALID,
                               "spec.borrowingPools: %s is given twice",
                               lender);
            }
        }
    }
    return 0;
}

int pool_check(const Berth__Api__Pool *pool, struct err *err)
{
    enum preemption_order order;

    int rc = check_name(pool->name, err);
    if (rc == 0 && pool->node_selector) {
        rc = check_selector(pool->node_selector, err);
    }
    if (rc == 0) {
        rc = check_lenders(pool, err);
    }
    if (rc == 0 && pool_order(str_of(pool->preemption_order), &order) < 0) {
        rc = err_set(err, -ERR_INVALID,
                     "spec.preemptionOrder: must be preempt-first or "
                     "borrow-first, not \"%.128s\"",
                     pool->preemption_order);
    }
    if (rc == 0 &&
        protobuf_c_message_get_packed_size(&pool->base) > POOL_BYTES_MAX) {
        rc = err_set(err, -ERR_LIMIT, "spec: more than the %d bytes allowed",
                     POOL_BYTES_MAX);
    }
    return rc;
}
