/* The table of TrainingJobs as bytes. */
#include "job/training/training_private.h"

static void encode_row(const struct training_entry *row, struct strbuf *buf)
{
    pack_str(buf, str_of(row->queue));
    pack_str(buf, str_of(row->name));
    pack_str(buf, str_of(row->gang_id));
    pack_str(buf, str_make(row->encoded, row->byte_count));
    pack_str(buf, str_of(row->reason));
    pack_str(buf, str_of(row->failure));
    pack_u64(buf, row->has_trainer_failure);
    pack_u64(buf, row->is_fault_tolerant);
    pack_u64(buf, row->is_scaling);
    pack_i64(buf, row->created_ms);
    pack_i64(buf, row->started_ms);
    pack_i64(buf, row->completed_ms);
    pack_u64(buf, row->part_count);
    for (uint32_t i = 0; i < row->part_count; i++) {
        const struct training_part *part = &row->parts[i];
        pack_str(buf, part->type);
        pack_u64(buf, part->min_count);
        pack_u64(buf, part->max_count);
        pack_u64(buf, part->is_trainer);
        for (int state = 0; state < TRAINING_POD_STATES; state++) {
            pack_u64(buf, part->counts[state]);
        }
    }
    pack_u64(buf, row->live_count);
    for (uint32_t i = 0; i < row->member_count; i++) {
        const struct training_member *member = &row->members[i];
        if (training_pod_is_live(member->state)) {
            pack_u64(buf, member->id.v.hi);
            pack_u64(buf, member->id.v.lo);
            pack_u64(buf, member->part);
            pack_u64(buf, member->state);
        }
    }
}

void training_encode(const struct training *training, struct strbuf *buf)
{
    uint32_t count;
    auto_mem uint32_t *indexes = training_sorted(training, &count);

    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        encode_row(&training->rows.items[indexes[i]], buf);
    }
}

static char *decode_text(struct pack_reader *reader)
{
    return str_dup(unpack_str(reader));
}

static void decode_parts(struct training_entry *row, struct pack_reader *reader)
{
    row->part_count = unpack_count(reader, TRAINING_PARTS_MAX);
    for (uint32_t i = 0; i < row->part_count; i++) {
        struct training_part *part = &row->parts[i];
        struct str type = unpack_str(reader);
        part->type = (struct str){str_dup(type), type.byte_count};
        part->min_count = unpack_count(reader, TRAINING_MEMBERS_MAX);
        part->max_count = unpack_count(reader, TRAINING_MEMBERS_MAX);
        part->is_trainer = unpack_count(reader, 1);
        for (int state = 0; state < TRAINING_POD_STATES; state++) {
            part->counts[state] = unpack_count(reader, TRAINING_MEMBERS_MAX);
        }
    }
}

static void decode_members(struct training *training,
                           struct training_entry *row, uint32_t index,
                           struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, TRAINING_MEMBERS_MAX);

    row->members = mem_alloc_array((size_t)count + 1, sizeof(*row->members));
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct training_member *member = &row->members[row->member_count];
        member->id.v.hi = unpack_u64(reader);
        member->id.v.lo = unpack_u64(reader);
        member->part = (uint8_t)unpack_count(reader, TRAINING_PARTS_MAX - 1);
        member->state = (uint8_t)unpack_count(reader, TRAINING_POD_RUNNING);
        reader->is_bad |=
            i > 0 && training_members_compare(member - 1, member) >= 0;
        row->member_count++;
        map_put(&training->by_job, member->id.v, index);
    }
    row->live_count = row->member_count;
}

static void decode_row(struct training *training, struct pack_reader *reader)
{
    struct str queue = unpack_str(reader);
    struct str name = unpack_str(reader);

    if (training_row_find(training, queue, name) != INTERN_NONE) {
        reader->is_bad = true;
        return;
    }
    struct training_entry *row = training_row_make(training, queue, name);
    row->gang_id = decode_text(reader);
    struct str encoded = unpack_str(reader);
    row->encoded = str_dup(encoded);
    row->byte_count = encoded.byte_count;
    row->reason = decode_text(reader);
    row->failure = decode_text(reader);
    if (!row->failure[0]) {
        mem_free(row->failure);
        row->failure = NULL;
    }
    row->has_trainer_failure = unpack_count(reader, 1);
    row->is_fault_tolerant = unpack_count(reader, 1);
    row->is_scaling = unpack_count(reader, 1);
    row->created_ms = unpack_i64(reader);
    row->started_ms = unpack_i64(reader);
    row->completed_ms = unpack_i64(reader);
    training->byte_count += row->byte_count;
    decode_parts(row, reader);
    decode_members(training, row, training_row_find(training, queue, name),
                   reader);
    if (row->completed_ms) {
        training_row_over(training, row);
    }
}

void training_decode(struct training *training, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, TRAINING_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        decode_row(training, reader);
    }
}
