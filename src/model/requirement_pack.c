/* Packs requirements, and reads them back. */
#include "model/requirement.h"

static void pack_term(struct strbuf *buf, const struct affinity_term *term)
{
    pack_u64(buf, term->expression_count);
    for (uint32_t e = 0; e < term->expression_count; e++) {
        const struct affinity_expression *expression = &term->expressions[e];
        pack_str(buf, expression->key);
        pack_u64(buf, expression->op);
        pack_u64(buf, expression->is_field);
        pack_u64(buf, expression->value_count);
        for (uint32_t v = 0; v < expression->value_count; v++) {
            pack_str(buf, expression->values[v]);
        }
    }
}

/* The version that holds what a requirement says: most say nothing of what the
 * last ones added. */
static uint64_t version_of(const struct requirement *requirement)
{
    if (requirement->never_preempts) {
        return REQUIREMENT_VERSION;
    }
    if (requirement->port_count > 0) {
        return 4;
    }
    return requirement->preference_count > 0 ? 3 : 2;
}

static void pack_preferences(struct strbuf *buf,
                             const struct requirement *requirement)
{
    pack_u64(buf, requirement->preference_count);
    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        pack_u64(buf, requirement->preferences[i].weight);
        pack_term(buf, &requirement->preferences[i].term);
    }
}

static void pack_ports(struct strbuf *buf,
                       const struct requirement *requirement)
{
    pack_u64(buf, requirement->port_count);
    for (uint32_t i = 0; i < requirement->port_count; i++) {
        pack_u64(buf, requirement->ports[i].protocol);
        pack_u64(buf, requirement->ports[i].port);
        pack_str(buf, requirement->ports[i].ip);
    }
}

void requirement_pack(struct strbuf *buf, const struct requirement *requirement)
{
    uint64_t version = version_of(requirement);

    pack_u64(buf, version);
    pack_str(buf, requirement->priority_class);
    pack_u64(buf, requirement->requests.count);
    for (uint32_t i = 0; i < requirement->requests.count; i++) {
        pack_str(buf, requirement->requests.items[i].name);
        pack_i64(buf, requirement->requests.items[i].milli);
    }
    pack_u64(buf, requirement->selector_count);
    for (uint32_t i = 0; i < requirement->selector_count; i++) {
        pack_str(buf, requirement->selector[i].key);
        pack_str(buf, requirement->selector[i].value);
    }
    pack_u64(buf, requirement->toleration_count);
    for (uint32_t i = 0; i < requirement->toleration_count; i++) {
        pack_str(buf, requirement->tolerations[i].key);
        pack_str(buf, requirement->tolerations[i].value);
        pack_u64(buf, requirement->tolerations[i].effect);
        pack_u64(buf, requirement->tolerations[i].is_exists);
    }
    pack_u64(buf, requirement->has_affinity);
    pack_u64(buf, requirement->term_count);
    for (uint32_t t = 0; t < requirement->term_count; t++) {
        pack_term(buf, &requirement->terms[t]);
    }
    pack_i64(buf, requirement->lifetime_ms);
    pack_i64(buf, requirement->deadline_ms);
    if (version >= 3) {
        pack_preferences(buf, requirement);
    }
    if (version >= 4) {
        pack_ports(buf, requirement);
    }
    if (version >= 5) {
        pack_u64(buf, requirement->never_preempts);
    }
}

static void unpack_term(struct pack_reader *reader, struct arena *arena,
                        struct affinity_term *term)
{
    term->expression_count = unpack_count(reader, AFFINITY_EXPRESSIONS_MAX);
    term->expressions = arena_alloc_array(arena, term->expression_count,
                                          sizeof(*term->expressions));
    for (uint32_t e = 0; e < term->expression_count; e++) {
        struct affinity_expression *expression = &term->expressions[e];
        expression->key = unpack_str(reader);
        expression->op = unpack_count(reader, AFFINITY_LT);
        expression->is_field = unpack_count(reader, 1);
        expression->value_count = unpack_count(reader, AFFINITY_VALUES_MAX);
        expression->values = arena_alloc_array(arena, expression->value_count,
                                               sizeof(struct str));
        for (uint32_t v = 0; v < expression->value_count; v++) {
            expression->values[v] = unpack_str(reader);
        }
    }
}

static void unpack_lists(struct pack_reader *reader, struct arena *arena,
                         struct requirement *requirement)
{
    requirement->requests.count = unpack_count(reader, RESOURCE_LIST_MAX);
    requirement->requests.items = arena_alloc_array(
        arena, requirement->requests.count, sizeof(struct resource_amount));
    for (uint32_t i = 0; i < requirement->requests.count; i++) {
        requirement->requests.items[i].name = unpack_str(reader);
        requirement->requests.items[i].milli = unpack_i64(reader);
    }
    requirement->selector_count = unpack_count(reader, SELECTOR_PAIRS_MAX);
    requirement->selector = arena_alloc_array(
        arena, requirement->selector_count, sizeof(struct label));
    for (uint32_t i = 0; i < requirement->selector_count; i++) {
        requirement->selector[i].key = unpack_str(reader);
        requirement->selector[i].value = unpack_str(reader);
    }
    requirement->toleration_count = unpack_count(reader, TOLERATIONS_MAX);
    requirement->tolerations = arena_alloc_array(
        arena, requirement->toleration_count, sizeof(struct toleration));
    for (uint32_t i = 0; i < requirement->toleration_count; i++) {
        requirement->tolerations[i].key = unpack_str(reader);
        requirement->tolerations[i].value = unpack_str(reader);
        requirement->tolerations[i].effect =
            unpack_count(reader, TAINT_NO_EXECUTE);
        requirement->tolerations[i].is_exists = unpack_count(reader, 1);
    }
}

static void unpack_preferences(struct pack_reader *reader, struct arena *arena,
                               struct requirement *requirement)
{
    requirement->preference_count = unpack_count(reader, PREFERENCES_MAX);
    requirement->preferences = arena_alloc_array(
        arena, requirement->preference_count, sizeof(struct preference));
    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        requirement->preferences[i].weight =
            unpack_count(reader, PREFERENCE_WEIGHT_MAX);
        unpack_term(reader, arena, &requirement->preferences[i].term);
    }
}

static void unpack_ports(struct pack_reader *reader, struct arena *arena,
                         struct requirement *requirement)
{
    requirement->port_count = unpack_count(reader, HOST_PORTS_MAX);
    requirement->ports = arena_alloc_array(arena, requirement->port_count,
                                           sizeof(struct host_port));
    for (uint32_t i = 0; i < requirement->port_count; i++) {
        struct host_port *port = &requirement->ports[i];
        port->protocol = unpack_count(reader, HOST_SCTP);
        port->port = unpack_count(reader, HOST_PORT_MAX);
        port->ip = unpack_str(reader);
        reader->is_bad |= port->protocol < HOST_TCP;
    }
}

int requirement_unpack(struct str bytes, struct arena *arena,
                       struct requirement *ret_requirement)
{
    struct pack_reader reader = {.rest = bytes};
    struct requirement requirement = {.lifetime_ms = LIFETIME_BY_CLASS};
    uint64_t version = unpack_u64(&reader);

    if (reader.is_bad || version == 0) {
        return -ERR_CORRUPT;
    }
    if (version > REQUIREMENT_VERSION) {
        return -ERR_VERSION;
    }
    requirement.priority_class = unpack_str(&reader);
    unpack_lists(&reader, arena, &requirement);
    requirement.has_affinity = unpack_count(&reader, 1);
    requirement.term_count = unpack_count(&reader, AFFINITY_TERMS_MAX);
    requirement.terms = arena_alloc_array(arena, requirement.term_count,
                                          sizeof(*requirement.terms));
    for (uint32_t t = 0; t < requirement.term_count; t++) {
        unpack_term(&reader, arena, &requirement.terms[t]);
    }
    if (version >= 2) {
        requirement.lifetime_ms = unpack_i64(&reader);
        requirement.deadline_ms = unpack_i64(&reader);
    }
    if (version >= 3) {
        unpack_preferences(&reader, arena, &requirement);
    }
    if (version >= 4) {
        unpack_ports(&reader, arena, &requirement);
    }
    if (version >= 5) {
        requirement.never_preempts = unpack_count(&reader, 1);
    }
    if (reader.is_bad || reader.rest.byte_count > 0) {
        return -ERR_CORRUPT;
    }
    *ret_requirement = requirement;
    return 0;
}
