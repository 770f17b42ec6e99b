#include "model/requirement.h"

#include <stdlib.h>

static int compare_labels(const void *a, const void *b)
{
    const struct label *x = a;
    const struct label *y = b;
    int c = str_compare(x->key, y->key);

    return c ? c : str_compare(x->value, y->value);
}

static int compare_tolerations(const void *a, const void *b)
{
    const struct toleration *x = a;
    const struct toleration *y = b;
    int c = str_compare(x->key, y->key);

    c = c ? c : str_compare(x->value, y->value);
    c = c ? c : (int)x->effect - (int)y->effect;
    return c ? c : (int)x->is_exists - (int)y->is_exists;
}

static int compare_strings(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static int compare_ports(const void *a, const void *b)
{
    const struct host_port *x = a;
    const struct host_port *y = b;
    int c = (int)x->port - (int)y->port;

    c = c ? c : (int)x->protocol - (int)y->protocol;
    return c ? c : str_compare(x->ip, y->ip);
}

/* One of all addresses is one of each, too. */
static bool is_within(const struct host_port *a, const struct host_port *all)
{
    return a->port == all->port && a->protocol == all->protocol &&
           (all->ip.byte_count == 0 || str_equal(a->ip, all->ip));
}

/* Sorted, the port of all addresses comes before those of one. */
static void sort_ports(struct requirement *requirement)
{
    uint32_t kept = 0;

    if (requirement->port_count > 1) {
        qsort(requirement->ports, requirement->port_count,
              sizeof(struct host_port), compare_ports);
    }
    for (uint32_t i = 0; i < requirement->port_count; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < kept && !is_known; k++) {
            is_known =
                is_within(&requirement->ports[i], &requirement->ports[k]);
        }
        if (!is_known) {
            requirement->ports[kept++] = requirement->ports[i];
        }
    }
    requirement->port_count = kept;
}

static void sort_values(struct affinity_term *term)
{
    for (uint32_t e = 0; e < term->expression_count; e++) {
        if (term->expressions[e].value_count > 1) {
            qsort(term->expressions[e].values, term->expressions[e].value_count,
                  sizeof(struct str), compare_strings);
        }
    }
}

void requirement_canonicalise(struct requirement *requirement)
{
    if (requirement->selector_count > 1) {
        qsort(requirement->selector, requirement->selector_count,
              sizeof(struct label), compare_labels);
    }
    if (requirement->toleration_count > 1) {
        qsort(requirement->tolerations, requirement->toleration_count,
              sizeof(struct toleration), compare_tolerations);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < requirement->toleration_count; i++) {
        if (kept == 0 ||
            compare_tolerations(&requirement->tolerations[kept - 1],
                                &requirement->tolerations[i]) != 0) {
            requirement->tolerations[kept++] = requirement->tolerations[i];
        }
    }
    requirement->toleration_count = kept;
    for (uint32_t t = 0; t < requirement->term_count; t++) {
        sort_values(&requirement->terms[t]);
    }
    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        sort_values(&requirement->preferences[i].term);
    }
    sort_ports(requirement);
}

const char *host_protocol_text(enum host_protocol protocol)
{
    static const char *const texts[] = {
        [HOST_TCP] = "TCP",
        [HOST_UDP] = "UDP",
        [HOST_SCTP] = "SCTP",
    };

    ASSERT(protocol >= HOST_TCP && protocol <= HOST_SCTP);
    return texts[protocol];
}

bool toleration_matches(const struct toleration *toleration,
                        const struct taint *taint)
{
    if (toleration->effect != TAINT_ANY &&
        toleration->effect != taint->effect) {
        return false;
    }
    if (toleration->key.byte_count == 0) {
        return toleration->is_exists;
    }
    return str_equal(toleration->key, taint->key) &&
           (toleration->is_exists ||
            str_equal(toleration->value, taint->value));
}

const struct label *label_find(const struct label *labels, uint32_t label_count,
                               struct str key)
{
    uint32_t low = 0;
    uint32_t high = label_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_compare(labels[middle].key, key);
        if (c == 0) {
            return &labels[middle];
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* A whole decimal number, as Gt and Lt compare; false if it is not one. */
static bool read_integer(struct str text, int64_t *ret_v)
{
    size_t at = text.byte_count > 0 && text.p[0] == '-';
    int64_t v = 0;

    if (at == text.byte_count) {
        return false;
    }
    for (; at < text.byte_count; at++) {
        if (text.p[at] < '0' || text.p[at] > '9' ||
            __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, text.p[at] - '0', &v)) {
            return false;
        }
    }
    *ret_v = text.p[0] == '-' ? -v : v;
    return true;
}

static bool has_value(const struct affinity_expression *expression,
                      struct str value)
{
    uint32_t low = 0, high = expression->value_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_compare(expression->values[middle], value);
        if (c == 0) {
            return true;
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

bool affinity_expression_matches(const struct affinity_expression *expression,
                                 const struct label *labels,
                                 uint32_t label_count, struct str node_name)
{
    const struct label *label =
        label_find(labels, label_count, expression->key);
    struct label field = {expression->key, node_name};
    int64_t have = 0;
    int64_t bound = 0;

    if (expression->is_field) {
        label =
            str_equal(expression->key, STR("metadata.name")) ? &field : NULL;
    }
    switch (expression->op) {
    case AFFINITY_IN:
        return label && has_value(expression, label->value);
    case AFFINITY_NOT_IN:
        return !label || !has_value(expression, label->value);
    case AFFINITY_EXISTS:
        return label != NULL;
    case AFFINITY_DOES_NOT_EXIST:
        return label == NULL;
    case AFFINITY_GT:
    case AFFINITY_LT:
        return label && expression->value_count == 1 &&
               read_integer(label->value, &have) &&
               read_integer(expression->values[0], &bound) &&
               (expression->op == AFFINITY_GT ? have > bound : have < bound);
    }
    return false;
}

bool affinity_term_matches(const struct affinity_term *term,
                           const struct label *labels, uint32_t label_count,
                           struct str node_name)
{
    for (uint32_t i = 0; i < term->expression_count; i++) {
        if (!affinity_expression_matches(&term->expressions[i], labels,
                                         label_count, node_name)) {
            return false;
        }
    }
    return term->expression_count > 0;
}
