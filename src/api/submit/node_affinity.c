#include "api/submit/node_affinity.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "wire/kube/kube_name.h"

static bool is_integer(const char *text)
{
    char *end;

    errno = 0;
    strtoll(text, &end, 10);
    return *text && !isspace((unsigned char)*text) && !*end && !errno;
}

static int invalid(struct refusal *refusal, const char *what, const char *text)
{
    return refusal_set(
        refusal,
        "invalid RequiredDuringSchedulingIgnoredDuringExecution node "
        "affinity: %s: \"%s\"",
        what, text);
}

/* How many values an operator takes. */
enum value_rule { VALUES_SOME, VALUES_NONE, VALUES_ONE_INTEGER, VALUES_BAD };

static enum value_rule rule_of(const char *op)
{
    static const struct {
        const char *name;
        enum value_rule rule;
    } operators[] = {
        {"In", VALUES_SOME},        {"NotIn", VALUES_SOME},
        {"Exists", VALUES_NONE},    {"DoesNotExist", VALUES_NONE},
        {"Gt", VALUES_ONE_INTEGER}, {"Lt", VALUES_ONE_INTEGER},
    };

    for (size_t i = 0; i < ARRAY_COUNT(operators); i++) {
        if (strcmp(operators[i].name, op) == 0) {
            return operators[i].rule;
        }
    }
    return VALUES_BAD;
}

static int
check_values(const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
             const char *op, struct refusal *refusal)
{
    size_t count = expression->n_values;

    switch (rule_of(op)) {
    case VALUES_SOME:
        if (count == 0) {
            return invalid(refusal, "operator needs values", op);
        }
        break;
    case VALUES_NONE:
        if (count > 0) {
            return invalid(refusal, "operator takes no values", op);
        }
        break;
    case VALUES_ONE_INTEGER:
        if (count != 1 || !is_integer(expression->values[0])) {
            return invalid(refusal, "operator takes one integer", op);
        }
        break;
    case VALUES_BAD:
        return invalid(refusal, "not a valid selector operator", op);
    }
    return 0;
}

static int check_expression(
    const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
    struct refusal *refusal)
{
    const char *key = expression->key ? expression->key : "";
    const char *op = expression->operator_ ? expression->operator_ : "";
    int rc = check_values(expression, op, refusal);

    if (rc < 0) {
        return rc;
    }
    if (!kube_is_label_key(str_of(key))) {
        return invalid(refusal, "not a label key", key);
    }
    for (size_t i = 0; i < expression->n_values; i++) {
        if (!kube_is_label_value(str_of(expression->values[i]))) {
            return invalid(refusal, "not a label value", expression->values[i]);
        }
    }
    return 0;
}

/* Fields are compared with one value each; there is one field. */
static int
check_field(const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
            struct refusal *refusal)
{
    const char *key = expression->key ? expression->key : "";
    const char *op = expression->operator_ ? expression->operator_ : "";

    if (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0) {
        return invalid(refusal, "not a valid field selector operator", op);
    }
    if (expression->n_values != 1) {
        return invalid(refusal, "a field is compared with one value", key);
    }
    if (strcmp(key, "metadata.name") != 0) {
        return invalid(refusal, "not a field of nodes", key);
    }
    return 0;
}

static int check_term(const K8s__Io__Api__Core__V1__NodeSelectorTerm *term,
                      struct refusal *refusal)
{
    int rc = 0;

    for (size_t i = 0; i < term->n_matchexpressions && rc == 0; i++) {
        rc = check_expression(term->matchexpressions[i], refusal);
    }
    for (size_t i = 0; i < term->n_matchfields && rc == 0; i++) {
        rc = check_field(term->matchfields[i], refusal);
    }
    return rc;
}

int node_affinity_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                        struct refusal *refusal)
{
    const K8s__Io__Api__Core__V1__NodeAffinity *affinity =
        pod->affinity ? pod->affinity->nodeaffinity : NULL;
    int rc = 0;

    if (!affinity) {
        return 0;
    }
    if (affinity->n_preferredduringschedulingignoredduringexecution) {
        return refusal_set(
            refusal, "preferredDuringSchedulingIgnoredDuringExecution node "
                     "affinity is not supported by Armada");
    }
    const K8s__Io__Api__Core__V1__NodeSelector *required =
        affinity->requiredduringschedulingignoredduringexecution;
    for (size_t i = 0; required && i < required->n_nodeselectorterms && rc == 0;
         i++) {
        rc = check_term(required->nodeselectorterms[i], refusal);
    }
    return rc;
}
