#include "model/gang_terms.h"

#include "model/digest.h"

void gang_terms_pack(struct strbuf *buf, const struct gang_terms *terms)
{
    pack_u64(buf, GANG_TERMS_VERSION);
    pack_u64(buf, terms->kind);
    pack_u64(buf, terms->has_exclusive_nodes);
    pack_i64(buf, terms->freezing_window_ms);
    pack_i64(buf, terms->replace_timeout_ms);
    pack_u64(buf, terms->sub_group_count);
    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        const struct sub_group *group = &terms->sub_groups[i];
        pack_str(buf, group->name);
        pack_u64(buf, group->min_count);
        pack_u64(buf, group->max_count);
        pack_u64(buf, group->hops_max);
        pack_i64(buf, group->hops_wait_ms);
        pack_u64(buf, group->is_auxiliary);
    }
}

static void unpack_sub_group(struct pack_reader *reader,
                             struct sub_group *group)
{
    group->name = unpack_str(reader);
    group->min_count = unpack_count(reader, GANG_CARDINALITY_MAX);
    group->max_count = unpack_count(reader, GANG_CARDINALITY_MAX);
    group->hops_max = unpack_count(reader, HOPS_ANY);
    group->hops_wait_ms = unpack_i64(reader);
    group->is_auxiliary = unpack_count(reader, 1);
    if (group->max_count == 0 || group->min_count > group->max_count ||
        group->hops_wait_ms < 0) {
        reader->is_bad = true;
    }
}

int gang_terms_unpack(struct str bytes, struct gang_terms *ret_terms)
{
    struct pack_reader reader = {.rest = bytes};
    struct gang_terms terms = {0};
    uint64_t version = unpack_u64(&reader);

    if (reader.is_bad || version == 0) {
        return -ERR_CORRUPT;
    }
    if (version > GANG_TERMS_VERSION) {
        return -ERR_VERSION;
    }
    terms.kind = unpack_count(&reader, GANG_TRAINING_TOLERANT);
    terms.has_exclusive_nodes = unpack_count(&reader, 1);
    terms.freezing_window_ms = unpack_i64(&reader);
    terms.replace_timeout_ms = unpack_i64(&reader);
    terms.sub_group_count = unpack_count(&reader, SUB_GROUPS_MAX);
    for (uint32_t i = 0; i < terms.sub_group_count; i++) {
        unpack_sub_group(&reader, &terms.sub_groups[i]);
    }
    if (reader.is_bad || reader.rest.byte_count > 0 ||
        terms.sub_group_count == 0 ||
        terms.freezing_window_ms < FREEZING_BY_POLICY ||
        terms.replace_timeout_ms < 0) {
        return -ERR_CORRUPT;
    }
    *ret_terms = terms;
    return 0;
}
