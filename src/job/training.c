#include "job/training.h"

#include <stdlib.h>

#include "base/vec.h"
#include "job/names.h"

/* A pod that has not ended, or has. */
struct member {
    struct job_id id;
    uint8_t part, state;
};

struct row {
    char *queue, *name, *gang_id, *reason; /* owned; queue NULL: free */
    char *encoded;                         /* owned, [byte_count] */
    char *failure;            /* owned; of the first pod that failed, or NULL */
    bool has_trainer_failure; /* it is a trainer's */
    bool is_fault_tolerant, is_scaling;
    int64_t created_ms, started_ms, completed_ms;
    struct training_part parts[TRAINING_PARTS_MAX]; /* types owned */
    uint32_t part_count;
    struct member *members; /* owned, by id */
    uint32_t member_count, live_count;
    size_t byte_count;
};

struct training {
    struct names names; /* of queue and name; indexes of rows */
    VEC(struct row) rows;
    struct map by_job; /* of pods that have not ended, to rows */
    uint32_t count;
    uint32_t over_count;                /* that are over */
    size_t byte_count, over_byte_count; /* of descriptions; of those over */
    int64_t completed_ms_min;           /* of those that are over, or earlier */
};

struct training *training_create(void)
{
    struct training *training = mem_alloc(sizeof(*training));

    training->completed_ms_min = INT64_MAX;
    return training;
}

static void row_fini(struct row *row)
{
    mem_free(row->queue);
    mem_free(row->name);
    mem_free(row->gang_id);
    mem_free(row->encoded);
    mem_free(row->reason);
    mem_free(row->failure);
    for (uint32_t i = 0; i < row->part_count; i++) {
        mem_free((void *)(uintptr_t)row->parts[i].type.p);
    }
    mem_free(row->members);
    *row = (struct row){0};
}

void training_destroy(struct training *training)
{
    if (!training) {
        return;
    }
    for (size_t i = 0; i < training->rows.count; i++) {
        row_fini(&training->rows.items[i]);
    }
    VEC_FREE(&training->rows);
    names_fini(&training->names);
    map_fini(&training->by_job);
    mem_free(training);
}

/* Phases. */

const char *training_phase_name(enum training_phase phase)
{
    static const char *const names[] = {
        [TRAINING_NEW] = "",
        [TRAINING_CREATING] = "creating",
        [TRAINING_RUNNING] = "running",
        [TRAINING_SCALING] = "scaling",
        [TRAINING_SUCCEEDED] = "succeeded",
        [TRAINING_FAILED] = "failed",
    };

    return names[phase];
}

static bool is_live(uint32_t state)
{
    return state <= TRAINING_POD_RUNNING;
}

static uint32_t live_in(const struct training_part *part)
{
    return part->counts[TRAINING_POD_WAITING] +
           part->counts[TRAINING_POD_STARTING] +
           part->counts[TRAINING_POD_RUNNING];
}

/* How the trainers have ended, or TRAINING_NEW while they have not. */
static enum training_phase outcome_of(const struct row *row)
{
    uint32_t succeeded = 0, failed = 0, live = 0, cancelled = 0;

    for (uint32_t i = 0; i < row->part_count; i++) {
        const struct training_part *part = &row->parts[i];
        if (part->is_trainer) {
            succeeded += part->counts[TRAINING_POD_SUCCEEDED];
            failed += part->counts[TRAINING_POD_FAILED];
            cancelled += part->counts[TRAINING_POD_CANCELLED];
            live += live_in(part);
        }
    }
    if (!row->is_fault_tolerant && failed > 0) {
        return TRAINING_FAILED;
    }
    if (live > 0) {
        return TRAINING_NEW;
    }
    bool is_good = row->is_fault_tolerant ? succeeded > 0
                                          : succeeded > 0 && cancelled == 0;
    return is_good ? TRAINING_SUCCEEDED : TRAINING_FAILED;
}

/* Whether a component has what it needs: what has ended is not missed, but
 * for a failure that the whole does not survive. */
static bool is_ready(const struct row *row, const struct training_part *part)
{
    uint32_t count = part->counts[TRAINING_POD_RUNNING] +
                     part->counts[TRAINING_POD_SUCCEEDED];

    if (row->is_fault_tolerant && part->is_trainer) {
        count += part->counts[TRAINING_POD_FAILED];
    }
    return count >= part->min_count;
}

static enum training_phase phase_of(const struct row *row)
{
    enum training_phase outcome = TRAINING_FAILED;
    bool is_whole = true, is_new = true, is_starting = false;

    if (row->reason[0]) {
        return TRAINING_FAILED;
    }
    outcome = outcome_of(row);
    if (outcome != TRAINING_NEW) {
        return outcome;
    }
    for (uint32_t i = 0; i < row->part_count; i++) {
        const struct training_part *part = &row->parts[i];
        is_whole &= is_ready(row, part);
        is_new &= part->counts[TRAINING_POD_WAITING] == part->max_count;
        is_starting |= part->counts[TRAINING_POD_STARTING] > 0;
    }
    if (is_new) {
        return TRAINING_NEW;
    }
    if (!is_whole) {
        return TRAINING_CREATING;
    }
    return row->is_scaling && is_starting ? TRAINING_SCALING : TRAINING_RUNNING;
}

/* What follows from what has become of pods. */
static void refresh(struct training *training, struct row *row, int64_t now_ms)
{
    enum training_phase phase = phase_of(row);

    if (phase == TRAINING_RUNNING) {
        row->is_scaling = false;
        row->started_ms = row->started_ms ? row->started_ms : now_ms;
    }
    if (phase >= TRAINING_SUCCEEDED && row->completed_ms == 0) {
        row->completed_ms = now_ms;
        training->over_count++;
        training->over_byte_count += row->byte_count;
        if (now_ms < training->completed_ms_min) {
            training->completed_ms_min = now_ms;
        }
    }
}

/* Rows. */

static uint32_t find(const struct training *training, struct str queue,
                     struct str name)
{
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    return names_find(&training->names, strbuf_str(&key));
}

uint32_t training_find(const struct training *training, struct str queue,
                       struct str name)
{
    uint32_t index = find(training, queue, name);

    return index == NAMES_NONE ? TRAINING_NONE : index;
}

static struct row *make_row(struct training *training, struct str queue,
                            struct str name)
{
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    uint32_t index = names_add(&training->names, strbuf_str(&key));
    while (training->rows.count <= index) {
        VEC_PUSH(&training->rows, (struct row){0});
    }
    struct row *row = &training->rows.items[index];
    row->queue = str_dup(queue);
    row->name = str_dup(name);
    training->count++;
    return row;
}

static void drop_row(struct training *training, uint32_t index)
{
    struct row *row = &training->rows.items[index];

    for (uint32_t i = 0; i < row->member_count; i++) {
        if (is_live(row->members[i].state)) {
            map_remove(&training->by_job, row->members[i].id.v);
        }
    }
    if (row->completed_ms) {
        training->over_count--;
        training->over_byte_count -= row->byte_count;
    }
    training->byte_count -= row->byte_count;
    training->count--;
    row_fini(row);
    names_unref(&training->names, index);
}

uint32_t training_count(const struct training *training)
{
    return training->count;
}

bool training_has_room(const struct training *training, size_t byte_count)
{
    return training->count - training->over_count < TRAINING_JOBS_MAX &&
           training->byte_count - training->over_byte_count + byte_count <=
               TRAINING_TABLE_BYTES_MAX;
}

static bool is_full(const struct training *training, size_t byte_count)
{
    return training->count >= TRAINING_JOBS_MAX ||
           training->byte_count + byte_count > TRAINING_TABLE_BYTES_MAX;
}

static int compare_rows(const struct row *a, const struct row *b)
{
    int c = str_compare(str_of(a->queue), str_of(b->queue));

    return c ? c : str_compare(str_of(a->name), str_of(b->name));
}

/* The one that ended first, or TRAINING_NONE. */
static uint32_t first_over(const struct training *training)
{
    uint32_t best = TRAINING_NONE;

    for (uint32_t i = 0; i < training->rows.count; i++) {
        const struct row *row = &training->rows.items[i];
        if (!row->queue || row->completed_ms == 0) {
            continue;
        }
        const struct row *than =
            best == TRAINING_NONE ? NULL : &training->rows.items[best];
        if (!than || row->completed_ms < than->completed_ms ||
            (row->completed_ms == than->completed_ms &&
             compare_rows(row, than) < 0)) {
            best = i;
        }
    }
    return best;
}

void training_expire(struct training *training, int64_t now_ms)
{
    while (training->completed_ms_min <= now_ms - TRAINING_KEPT_MS) {
        uint32_t index = first_over(training);
        if (index == TRAINING_NONE) {
            training->completed_ms_min = INT64_MAX;
            return;
        }
        training->completed_ms_min = training->rows.items[index].completed_ms;
        if (training->completed_ms_min <= now_ms - TRAINING_KEPT_MS) {
            drop_row(training, index);
        }
    }
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static void add_members(struct training *training, struct row *row,
                        const struct training_record *record)
{
    uint32_t at = 0, index = find(training, record->queue, record->name);

    row->members = mem_alloc_array((size_t)record->member_count + 1,
                                   sizeof(struct member));
    for (uint32_t part = 0; part < record->part_count; part++) {
        for (uint32_t i = 0;
             i < record->parts[part].max_count && at < record->member_count;
             i++, at++) {
            row->members[at] = (struct member){
                record->members[at], (uint8_t)part, TRAINING_POD_WAITING};
            map_put(&training->by_job, record->members[at].v, index);
            row->parts[part].counts[TRAINING_POD_WAITING]++;
        }
    }
    row->member_count = row->live_count = at;
    qsort(row->members, at, sizeof(*row->members), compare_members);
}

static void describe(struct training *training, struct row *row,
                     const struct training_record *record)
{
    size_t before = row->byte_count;

    mem_free(row->gang_id);
    mem_free(row->encoded);
    mem_free(row->reason);
    row->gang_id = str_dup(record->gang_id);
    row->encoded = str_dup(record->encoded);
    row->reason = str_dup(record->reason);
    row->byte_count = record->encoded.byte_count;
    training->byte_count += row->byte_count - before;
    if (row->completed_ms) {
        training->over_byte_count += row->byte_count - before;
    }
}

void training_set(struct training *training,
                  const struct training_record *record)
{
    uint32_t index = find(training, record->queue, record->name);

    if (index != NAMES_NONE) {
        struct row *row = &training->rows.items[index];
        if (record->gang_id.byte_count &&
            str_equal(str_of(row->gang_id), record->gang_id)) {
            describe(training, row, record);
            return;
        }
        drop_row(training, index);
    }
    while (is_full(training, record->encoded.byte_count)) {
        index = first_over(training);
        if (index == TRAINING_NONE) {
            return; /* refused before it was appended; a foreign log */
        }
        drop_row(training, index);
    }
    struct row *row = make_row(training, record->queue, record->name);
    describe(training, row, record);
    row->created_ms = record->created_ms;
    row->is_fault_tolerant = record->is_fault_tolerant;
    row->part_count = record->part_count;
    for (uint32_t i = 0; i < record->part_count; i++) {
        const struct training_part *part = &record->parts[i];
        row->parts[i] = (struct training_part){
            .type = {str_dup(part->type), part->type.byte_count},
            .min_count = part->min_count,
            .max_count = part->max_count,
            .is_trainer = part->is_trainer,
        };
    }
    add_members(training, row, record);
    refresh(training, row, record->created_ms);
}

void training_delete(struct training *training, struct str queue,
                     struct str name)
{
    uint32_t index = find(training, queue, name);

    if (index != NAMES_NONE) {
        drop_row(training, index);
    }
}

/* What happens to pods. */

/* The first member with an id of at least `id`, or their count. */
static uint32_t member_from(const struct row *row, struct job_id id)
{
    uint32_t low = 0, high = row->member_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key128_compare(row->members[middle].id.v, id.v) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What a state of a job says of the pod; `before` if nothing new. */
static uint8_t pod_state(enum job_state state, uint8_t before)
{
    switch (state) {
    case JOB_QUEUED:
        return TRAINING_POD_WAITING;
    case JOB_LEASED:
    case JOB_PENDING:
        return TRAINING_POD_STARTING;
    case JOB_RUNNING:
        return TRAINING_POD_RUNNING;
    case JOB_SUCCEEDED:
        return TRAINING_POD_SUCCEEDED;
    case JOB_FAILED:
    case JOB_PREEMPTED:
    case JOB_REJECTED:
        return TRAINING_POD_FAILED;
    case JOB_CANCELLED:
        return TRAINING_POD_CANCELLED;
    case JOB_NONE:
    case JOB_RUN_SUCCEEDED:
    case JOB_RUN_FAILED:
    case JOB_RUN_RETURNED:
    case JOB_RUN_EXPIRED:
    case JOB_RUN_PREEMPTED:
    case JOB_RUN_CANCELLED:
    case JOB_STATE_COUNT:
        break; /* not decided yet */
    }
    return before;
}

/* Keep why the first pod failed; a trainer says more than the others. */
static void note_failure(struct row *row, const struct member *member,
                         struct str message)
{
    const struct training_part *part = &row->parts[member->part];
    auto_strbuf text = {0};
    char id[ID_TEXT_BYTES_MAX];

    if (row->failure && (row->has_trainer_failure || !part->is_trainer)) {
        return;
    }
    strbuf_addf(&text, "%.*s %s failed: %.*s", STR_ARG(part->type),
                job_id_format(member->id, id), STR_ARG(message));
    struct str cut = strbuf_str(&text);
    if (cut.byte_count > TRAINING_REASON_BYTES_MAX) {
        cut.byte_count = TRAINING_REASON_BYTES_MAX;
        while (((uint8_t)cut.p[cut.byte_count] & 0xc0) == 0x80) {
            cut.byte_count--; /* not inside a character */
        }
    }
    mem_free(row->failure);
    row->failure = str_dup(cut);
    row->has_trainer_failure = part->is_trainer;
}

static void end_member(struct training *training, struct row *row,
                       const struct member *member)
{
    map_remove(&training->by_job, member->id.v);
    if (--row->live_count == 0) {
        mem_free(row->members);
        row->members = NULL;
        row->member_count = 0;
    }
}

void training_note(struct training *training, struct job_id job,
                   enum job_state state, struct str message, int64_t now_ms)
{
    uint32_t index =
        training->count ? map_find(&training->by_job, job.v) : MAP_NONE;

    if (index == MAP_NONE) {
        return;
    }
    struct row *row = &training->rows.items[index];
    struct member *member = &row->members[member_from(row, job)];
    uint8_t after = pod_state(state, member->state);
    if (after == member->state) {
        return;
    }
    struct training_part *part = &row->parts[member->part];
    part->counts[member->state]--;
    part->counts[after]++;
    member->state = after;
    if (after == TRAINING_POD_FAILED) {
        note_failure(row, member, message);
    }
    if (!is_live(after)) {
        end_member(training, row, member);
    }
    refresh(training, row, now_ms);
}

void training_scaled(struct training *training, struct job_id job)
{
    uint32_t index =
        training->count ? map_find(&training->by_job, job.v) : MAP_NONE;

    if (index != MAP_NONE) {
        training->rows.items[index].is_scaling = true;
    }
}

/* Reading. */

/* What the comparison of indexes needs. */
struct sorted_row {
    const struct row *row;
    uint32_t index;
};

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted_row *x = a;
    const struct sorted_row *y = b;

    return compare_rows(x->row, y->row);
}

uint32_t *training_sorted(const struct training *training, uint32_t *ret_count)
{
    auto_mem struct sorted_row *rows =
        mem_alloc_array((size_t)training->count + 1, sizeof(*rows));
    uint32_t *indexes =
        mem_alloc_array((size_t)training->count + 1, sizeof(*indexes));
    uint32_t count = 0;

    for (uint32_t i = 0; i < training->rows.count; i++) {
        if (training->rows.items[i].queue) {
            rows[count++] = (struct sorted_row){&training->rows.items[i], i};
        }
    }
    qsort(rows, count, sizeof(*rows), compare_sorted);
    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = rows[i].index;
    }
    *ret_count = count;
    return indexes;
}

static struct str reason_of(const struct row *row, enum training_phase phase)
{
    if (phase != TRAINING_FAILED) {
        return STR("");
    }
    if (row->reason[0]) {
        return str_of(row->reason);
    }
    return row->failure ? str_of(row->failure) : STR("cancelled");
}

void training_get(const struct training *training, uint32_t index,
                  struct training_view *ret_view)
{
    const struct row *row = &training->rows.items[index];
    enum training_phase phase = phase_of(row);

    *ret_view = (struct training_view){
        .queue = str_of(row->queue),
        .name = str_of(row->name),
        .encoded = str_make(row->encoded, row->byte_count),
        .phase = phase,
        .reason = reason_of(row, phase),
        .created_ms = row->created_ms,
        .started_ms = row->started_ms,
        .completed_ms = row->completed_ms,
        .part_count = row->part_count,
    };
    memcpy(ret_view->parts, row->parts, sizeof(row->parts));
}

bool training_next_live(const struct training *training, uint32_t index,
                        struct job_id after, struct job_id *ret_job)
{
    const struct row *row = &training->rows.items[index];
    uint32_t at = member_from(row, after);

    if (at < row->member_count &&
        key128_compare(row->members[at].id.v, after.v) == 0) {
        at++;
    }
    while (at < row->member_count && !is_live(row->members[at].state)) {
        at++;
    }
    if (at == row->member_count) {
        return false;
    }
    *ret_job = row->members[at].id;
    return true;
}

/* As bytes. */

static void encode_row(const struct row *row, struct strbuf *buf)
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
        const struct member *member = &row->members[i];
        if (is_live(member->state)) {
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

static void decode_parts(struct row *row, struct pack_reader *reader)
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

static void decode_members(struct training *training, struct row *row,
                           uint32_t index, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, TRAINING_MEMBERS_MAX);

    row->members = mem_alloc_array((size_t)count + 1, sizeof(*row->members));
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct member *member = &row->members[row->member_count];
        member->id.v.hi = unpack_u64(reader);
        member->id.v.lo = unpack_u64(reader);
        member->part = (uint8_t)unpack_count(reader, TRAINING_PARTS_MAX - 1);
        member->state = (uint8_t)unpack_count(reader, TRAINING_POD_RUNNING);
        reader->is_bad |= i > 0 && compare_members(member - 1, member) >= 0;
        row->member_count++;
        map_put(&training->by_job, member->id.v, index);
    }
    row->live_count = row->member_count;
}

static void decode_row(struct training *training, struct pack_reader *reader)
{
    struct str queue = unpack_str(reader);
    struct str name = unpack_str(reader);

    if (find(training, queue, name) != NAMES_NONE) {
        reader->is_bad = true;
        return;
    }
    struct row *row = make_row(training, queue, name);
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
    decode_members(training, row, find(training, queue, name), reader);
    if (row->completed_ms) {
        training->over_count++;
        training->over_byte_count += row->byte_count;
        if (row->completed_ms < training->completed_ms_min) {
            training->completed_ms_min = row->completed_ms;
        }
    }
}

void training_decode(struct training *training, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, TRAINING_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        decode_row(training, reader);
    }
}
