#include "api/submit/node_affinity.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "wire/kube/kube_name.h"
#include "wire/text/printable.h"

enum {
    FINDINGS_MAX = 16, /* that one refusal tells */
    PATH_BYTES_MAX = 96,
};

static bool is_integer(const char *text)
{
    char *end;

    errno = 0;
    strtoll(text, &end, 10);
    return *text && !isspace((unsigned char)*text) && !*end && !errno;
}

/* What is wrong, told with where it stands and what stands there. */
struct findings {
    struct strbuf text;
    uint32_t count;
    char path[PATH_BYTES_MAX]; /* of the expression that is looked at */
};

/* Note that `field` of the expression, with this value, is wrong. */
static void note(struct findings *findings, const char *field,
                 const char *value, const char *what)
{
    if (findings->count++ < FINDINGS_MAX) {
        strbuf_addf(&findings->text,
                    "%s%s.%s: Invalid value: ", findings->count > 1 ? ", " : "",
                    findings->path, field);
        strbuf_add_char(&findings->text, '"');
        wire_printable(str_of(value), PRINTABLE_LINE, &findings->text);
        strbuf_addf(&findings->text, "\": %s", what);
    }
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

static void
check_values(const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
             const char *op, struct findings *findings)
{
    size_t count = expression->n_values;

    switch (rule_of(op)) {
    case VALUES_SOME:
        if (count == 0) {
            note(findings, "values", "", "In and NotIn need values");
        }
        break;
    case VALUES_NONE:
        if (count > 0) {
            note(findings, "values", expression->values[0],
                 "Exists and DoesNotExist take no values");
        }
        break;
    case VALUES_ONE_INTEGER:
        if (count != 1 || !is_integer(expression->values[0])) {
            note(findings, "values", count > 0 ? expression->values[0] : "",
                 "Gt and Lt take one integer");
        }
        break;
    case VALUES_BAD:
        note(findings, "operator", op, "not a valid selector operator");
        break;
    }
}

static void check_expression(
    const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
    struct findings *findings)
{
    const char *key = expression->key ? expression->key : "";
    const char *op = expression->operator_ ? expression->operator_ : "";

    check_values(expression, op, findings);
    if (!kube_is_label_key(str_of(key))) {
        note(findings, "key", key, "not a label key");
    }
    for (size_t i = 0; i < expression->n_values; i++) {
        if (!kube_is_label_value(str_of(expression->values[i]))) {
            char field[32];
            (void)snprintf(field, sizeof(field), "values[%zu]", i);
            note(findings, field, expression->values[i], "not a label value");
        }
    }
}

/* Fields are compared with one value each; there is one field. */
static void
check_field(const K8s__Io__Api__Core__V1__NodeSelectorRequirement *expression,
            struct findings *findings)
{
    const char *key = expression->key ? expression->key : "";
    const char *op = expression->operator_ ? expression->operator_ : "";

    if (strcmp(op, "In") != 0 && strcmp(op, "NotIn") != 0) {
        note(findings, "operator", op, "not a valid field selector operator");
    }
    if (expression->n_values != 1) {
        note(findings, "values",
             expression->n_values > 0 ? expression->values[0] : "",
             "a field is compared with one value");
    }
    if (strcmp(key, "metadata.name") != 0) {
        note(findings, "key", key, "not a field of nodes");
    }
}

static void check_term(const K8s__Io__Api__Core__V1__NodeSelectorTerm *term,
                       size_t index, struct findings *findings)
{
    for (size_t i = 0; i < term->n_matchexpressions; i++) {
        (void)snprintf(findings->path, sizeof(findings->path),
                       "nodeSelectorTerms[%zu].matchExpressions[%zu]", index,
                       i);
        check_expression(term->matchexpressions[i], findings);
    }
    for (size_t i = 0; i < term->n_matchfields; i++) {
        (void)snprintf(findings->path, sizeof(findings->path),
                       "nodeSelectorTerms[%zu].matchFields[%zu]", index, i);
        check_field(term->matchfields[i], findings);
    }
}

/* Several stand in brackets, as Kubernetes tells them. */
static int refuse(const struct findings *findings, struct refusal *refusal)
{
    bool is_list = findings->count > 1;

    return refusal_set(
        refusal,
        "invalid RequiredDuringSchedulingIgnoredDuringExecution node "
        "affinity: %s%s%s%s",
        is_list ? "[" : "", strbuf_text(&findings->text),
        findings->count > FINDINGS_MAX ? ", ..." : "", is_list ? "]" : "");
}

int node_affinity_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                        const struct submit_rules *rules,
                        struct refusal *refusal)
{
    const K8s__Io__Api__Core__V1__NodeAffinity *affinity =
        pod->affinity ? pod->affinity->nodeaffinity : NULL;
    struct findings findings = {.count = 0};

    if (!affinity) {
        return 0;
    }
    if (affinity->n_preferredduringschedulingignoredduringexecution &&
        !rules->allows_preferred_nodes) {
        return refusal_set(
            refusal, "preferredDuringSchedulingIgnoredDuringExecution node "
                     "affinity is not supported by Armada");
    }
    const K8s__Io__Api__Core__V1__NodeSelector *required =
        affinity->requiredduringschedulingignoredduringexecution;
    for (size_t i = 0; required && i < required->n_nodeselectorterms; i++) {
        check_term(required->nodeselectorterms[i], i, &findings);
    }
    int rc = findings.count > 0 ? refuse(&findings, refusal) : 0;
    strbuf_fini(&findings.text);
    return rc;
}
