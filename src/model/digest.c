#include "model/digest.h"

/* The version that holds what a job says: most say nothing of what the last
 * ones added. */
static uint64_t version_of(const struct job_digest *digest)
{
    if (digest->turn_limit > 0) {
        return DIGEST_VERSION;
    }
    if (digest->retry_policy.byte_count > 0) {
        return 6;
    }
    if (digest->waits.byte_count > 0) {
        return 5;
    }
    return digest->is_held || digest->begin_ms || digest->wait_ms_max ? 4 : 3;
}

void digest_pack(struct strbuf *buf, const struct job_digest *digest)
{
    uint64_t version = version_of(digest);

    pack_u64(buf, version);
    pack_str(buf, digest->class_key);
    pack_str(buf, digest->client_id);
    pack_str(buf, digest->gang_id);
    pack_u64(buf, digest->gang_cardinality);
    pack_u64(buf, digest->gang_minimum);
    pack_str(buf, digest->gang_uniformity);
    pack_str(buf, digest->pool);
    pack_u64(buf, digest->is_fail_fast);
    pack_u64(buf, digest->on_preemption);
    pack_u64(buf, digest->on_executor_lost);
    pack_str(buf, digest->application_id);
    pack_u64(buf, digest->has_stateaware_off);
    pack_str(buf, digest->gang_terms);
    pack_u64(buf, digest->sub_group);
    if (version >= 4) {
        pack_u64(buf, digest->is_held);
        pack_i64(buf, digest->begin_ms);
        pack_i64(buf, digest->wait_ms_max);
    }
    if (version >= 5) {
        pack_str(buf, digest->waits);
    }
    if (version >= 6) {
        pack_str(buf, digest->retry_policy);
    }
    if (version >= 7) {
        pack_str(buf, digest->turn_group);
        pack_u64(buf, digest->turn_limit);
    }
}

int digest_unpack(struct str bytes, struct job_digest *ret_digest)
{
    struct pack_reader reader = {.rest = bytes};
    struct job_digest digest = {0};
    uint64_t version = unpack_u64(&reader);

    if (reader.is_bad || version == 0) {
        return -ERR_CORRUPT;
    }
    if (version > DIGEST_VERSION) {
        return -ERR_VERSION;
    }
    digest.class_key = unpack_str(&reader);
    digest.client_id = unpack_str(&reader);
    digest.gang_id = unpack_str(&reader);
    digest.gang_cardinality = unpack_count(&reader, GANG_CARDINALITY_MAX);
    digest.gang_minimum = unpack_count(&reader, GANG_CARDINALITY_MAX);
    digest.gang_uniformity = unpack_str(&reader);
    digest.pool = unpack_str(&reader);
    digest.is_fail_fast = unpack_count(&reader, 1);
    digest.on_preemption = unpack_count(&reader, ON_LOSS_REQUEUE);
    digest.on_executor_lost = unpack_count(&reader, ON_LOSS_REQUEUE);
    if (version >= 2) {
        digest.application_id = unpack_str(&reader);
        digest.has_stateaware_off = unpack_count(&reader, 1);
    }
    if (version >= 3) {
        digest.gang_terms = unpack_str(&reader);
        digest.sub_group = unpack_count(&reader, SUB_GROUPS_MAX - 1);
    }
    if (version >= 4) {
        digest.is_held = unpack_count(&reader, 1);
        digest.begin_ms = unpack_i64(&reader);
        digest.wait_ms_max = unpack_i64(&reader);
    }
    if (version >= 5) {
        digest.waits = unpack_str(&reader);
    }
    if (version >= 6) {
        digest.retry_policy = unpack_str(&reader);
    }
    if (version >= 7) {
        digest.turn_group = unpack_str(&reader);
        digest.turn_limit = unpack_count(&reader, UINT32_MAX);
    }
    if (reader.is_bad || reader.rest.byte_count > 0) {
        return -ERR_CORRUPT;
    }
    *ret_digest = digest;
    return 0;
}

void job_waits_pack(struct strbuf *buf, const struct job_wait *waits,
                    uint32_t count)
{
    ASSERT(count <= JOB_WAITS_MAX);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_key128(buf, waits[i].on.v);
        pack_u64(buf, waits[i].want);
    }
}

int job_waits_unpack(struct str packed,
                     struct job_wait ret_waits[JOB_WAITS_MAX])
{
    struct pack_reader reader = {.rest = packed};
    uint32_t count = unpack_count(&reader, JOB_WAITS_MAX);

    for (uint32_t i = 0; i < count && !reader.is_bad; i++) {
        ret_waits[i].on.v = unpack_key128(&reader);
        ret_waits[i].want =
            (enum job_want)unpack_count(&reader, JOB_WANT_FAILED);
    }
    return reader.is_bad || reader.rest.byte_count > 0 ? -ERR_CORRUPT
                                                       : (int)count;
}
