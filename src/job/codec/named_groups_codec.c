/* Encodes and decodes groups with a name.  Their pods come with the jobs; older
 * formats list them a second time, and the decoder skips these. */
#include "job/table/jobs_private.h"

enum {
    OLD_PARTS_MAX = 4,
    OLD_POD_STATES = 6, /* waiting, starting, running, succeeded, failed,
                           cancelled */
    MEMBERS_MAX = 1 << 17,
};

static void encode_group(const struct named_group *row, struct strbuf *buf)
{
    pack_u64(buf, row->group != NULL);
    if (row->group) {
        pack_str(buf, str_make(row->gang_key, row->gang_key_bytes));
        for (uint32_t i = 0; i < row->group->part_count; i++) {
            pack_u64(buf, row->group->parts[i].count.succeeded);
            pack_u64(buf, row->group->parts[i].count.failed);
            pack_u64(buf, row->group->parts[i].count.gone);
        }
    }
}

void named_groups_encode(const struct jobs *jobs, struct strbuf *buf)
{
    uint32_t count;
    auto_mem uint32_t *indexes = named_groups_sorted(jobs, &count);

    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct named_group *row = &jobs->named.rows.items[indexes[i]];
        pack_str(buf, str_of(row->queue));
        pack_str(buf, str_of(row->name));
        pack_str(buf, str_of(row->gang_id));
        pack_str(buf, str_make(row->encoded, row->byte_count));
        pack_str(buf, str_of(row->reason));
        pack_str(buf, str_of(row->failure));
        pack_u64(buf, row->has_main_failure);
        pack_u64(buf, row->is_scaling);
        pack_i64(buf, row->created_ms);
        pack_i64(buf, row->started_ms);
        pack_i64(buf, row->completed_ms);
        encode_group(row, buf);
    }
}

/* A group by the key of its gang, with what has ended of it. */
static void decode_group(struct named_group *row, struct pack_reader *reader)
{
    if (unpack_count(reader, 1) == 0) {
        return;
    }
    struct str key = unpack_str(reader);
    row->gang_key = mem_dup(key.p, key.byte_count);
    row->gang_key_bytes = key.byte_count;
    struct job_digest digest = {0};
    row->group =
        gang_key_unpack(key, &digest) ? group_create(digest.gang_terms) : NULL;
    if (!row->group) {
        reader->is_bad = true;
        return;
    }
    for (uint32_t i = 0; i < row->group->part_count; i++) {
        struct group_count *count = &row->group->parts[i].count;
        count->succeeded = unpack_count(reader, UINT32_MAX);
        count->failed = unpack_count(reader, UINT32_MAX);
        count->gone = unpack_count(reader, UINT32_MAX);
    }
}

/* Older formats: a component. */
static void decode_old_part(struct group_part *part, struct pack_reader *reader)
{
    uint32_t counts[OLD_POD_STATES];

    (void)unpack_str(reader); /* its type */
    part->min_count = unpack_count(reader, MEMBERS_MAX);
    part->max_count = unpack_count(reader, MEMBERS_MAX);
    part->is_auxiliary = !unpack_count(reader, 1);
    for (int state = 0; state < OLD_POD_STATES; state++) {
        counts[state] = unpack_count(reader, MEMBERS_MAX);
    }
    part->count = (struct group_count){
        .succeeded = counts[3], .failed = counts[4], .gone = counts[5]};
}

/* Older formats: its components, and its pods that have not ended. */
static void decode_old_group(struct named_group *row, bool is_tolerant,
                             struct pack_reader *reader)
{
    uint32_t part_count = unpack_count(reader, OLD_PARTS_MAX);

    if (row->gang_id[0]) {
        row->group = mem_alloc(sizeof(*row->group));
        *row->group = (struct group){
            .kind = is_tolerant ? GANG_TRAINING_TOLERANT : GANG_TRAINING,
            .replace_timeout_ms = REPLACE_TIMEOUT_MS,
            .name = JOBS_NONE,
            .part_count = part_count,
        };
    }
    for (uint32_t i = 0; i < part_count; i++) {
        struct group_part part = {0};
        decode_old_part(&part, reader);
        if (row->group) {
            row->group->parts[i] = part;
        }
    }
    uint32_t member_count = unpack_count(reader, MEMBERS_MAX);
    for (uint32_t i = 0; i < member_count && !reader->is_bad; i++) {
        (void)unpack_u64(reader); /* both halves of its id */
        (void)unpack_u64(reader);
        (void)unpack_u64(reader); /* its component and its state */
        (void)unpack_u64(reader);
    }
}

static void decode_row(struct jobs *jobs, bool is_old,
                       struct pack_reader *reader)
{
    struct str queue = unpack_str(reader);
    struct str name = unpack_str(reader);
    struct str gang_id = unpack_str(reader);

    if (reader->is_bad || named_group_find(jobs, queue, name) != JOBS_NONE) {
        reader->is_bad = true;
        return;
    }
    uint32_t index = named_group_make(jobs, queue, name, gang_id);
    struct named_group *row = &jobs->named.rows.items[index];
    struct str encoded = unpack_str(reader);
    row->encoded = str_dup(encoded);
    row->byte_count = encoded.byte_count;
    jobs->named.byte_count += row->byte_count;
    row->reason = str_dup(unpack_str(reader));
    struct str failure = unpack_str(reader);
    row->failure = failure.byte_count ? str_dup(failure) : NULL;
    row->has_main_failure = unpack_count(reader, 1);
    bool is_tolerant = is_old && unpack_count(reader, 1);
    row->is_scaling = unpack_count(reader, 1);
    row->created_ms = unpack_i64(reader);
    row->started_ms = unpack_i64(reader);
    row->completed_ms = unpack_i64(reader);
    if (is_old) {
        decode_old_group(row, is_tolerant, reader);
    } else {
        decode_group(row, reader);
    }
    if (row->completed_ms) {
        named_group_over(jobs, row);
    }
}

void named_groups_decode(struct jobs *jobs, uint64_t version,
                         struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, NAMED_GROUPS_MAX);

    ASSERT(jobs->count == 0 && jobs->named.count == 0);
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        decode_row(jobs, version < NAMED_GROUPS_FORMAT_GANG, reader);
    }
}
