#include <stdlib.h>

#include "job/training/training_private.h"

struct training *training_create(void)
{
    struct training *training = mem_alloc(sizeof(*training));

    training->completed_ms_min = INT64_MAX;
    return training;
}

static void row_fini(struct training_entry *row)
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
    *row = (struct training_entry){0};
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
    intern_fini(&training->names);
    map_fini(&training->by_job);
    mem_free(training);
}

void training_row_over(struct training *training,
                       const struct training_entry *row)
{
    ASSERT(training->over_count < training->count);
    training->over_count++;
    training->over_byte_count += row->byte_count;
    ASSERT(training->over_byte_count <= training->byte_count);
    if (row->completed_ms < training->completed_ms_min) {
        training->completed_ms_min = row->completed_ms;
    }
}

/* What follows from what has become of pods. */
static void refresh(struct training *training, struct training_entry *row,
                    int64_t now_ms)
{
    enum training_phase phase = training_phase_of(row);

    if (phase == TRAINING_RUNNING) {
        row->is_scaling = false;
        row->started_ms = row->started_ms ? row->started_ms : now_ms;
    }
    if (phase >= TRAINING_SUCCEEDED && row->completed_ms == 0) {
        row->completed_ms = now_ms ? now_ms : 1; /* a foreign log's */
        training_row_over(training, row);
    }
}

/* Rows. */

uint32_t training_row_find(const struct training *training, struct str queue,
                           struct str name)
{
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    return intern_find(&training->names, strbuf_str(&key));
}

uint32_t training_find(const struct training *training, struct str queue,
                       struct str name)
{
    uint32_t index = training_row_find(training, queue, name);

    return index == INTERN_NONE ? TRAINING_NONE : index;
}

struct training_entry *training_row_make(struct training *training,
                                         struct str queue, struct str name)
{
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    uint32_t index = intern_add(&training->names, strbuf_str(&key));
    while (training->rows.count <= index) {
        VEC_PUSH(&training->rows, (struct training_entry){0});
    }
    struct training_entry *row = &training->rows.items[index];
    row->queue = str_dup(queue);
    row->name = str_dup(name);
    training->count++;
    return row;
}

static void drop_row(struct training *training, uint32_t index)
{
    struct training_entry *row = &training->rows.items[index];

    for (uint32_t i = 0; i < row->member_count; i++) {
        if (training_pod_is_live(row->members[i].state)) {
            map_remove(&training->by_job, row->members[i].id.v);
        }
    }
    ASSERT(training->count > 0);
    ASSERT(training->byte_count >= row->byte_count);
    if (row->completed_ms) {
        ASSERT(training->over_count > 0);
        ASSERT(training->over_byte_count >= row->byte_count);
        training->over_count--;
        training->over_byte_count -= row->byte_count;
    }
    training->byte_count -= row->byte_count;
    training->count--;
    row_fini(row);
    intern_unref(&training->names, index);
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

int training_rows_compare(const struct training_entry *a,
                          const struct training_entry *b)
{
    int c = str_compare(str_of(a->queue), str_of(b->queue));

    return c ? c : str_compare(str_of(a->name), str_of(b->name));
}

/* The one that ended first, or TRAINING_NONE. */
static uint32_t first_over(const struct training *training)
{
    uint32_t best = TRAINING_NONE;

    for (uint32_t i = 0; i < training->rows.count; i++) {
        const struct training_entry *row = &training->rows.items[i];
        if (!row->queue || row->completed_ms == 0) {
            continue;
        }
        const struct training_entry *than =
            best == TRAINING_NONE ? NULL : &training->rows.items[best];
        if (!than || row->completed_ms < than->completed_ms ||
            (row->completed_ms == than->completed_ms &&
             training_rows_compare(row, than) < 0)) {
            best = i;
        }
    }
    ASSERT((best == TRAINING_NONE) == (training->over_count == 0));
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

int training_members_compare(const void *a, const void *b)
{
    const struct training_member *x = a;
    const struct training_member *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static void add_members(struct training *training, struct training_entry *row,
                        const struct training_record *record)
{
    uint32_t at = 0,
             index = training_row_find(training, record->queue, record->name);

    row->members = mem_alloc_array((size_t)record->member_count + 1,
                                   sizeof(struct training_member));
    for (uint32_t part = 0; part < record->part_count; part++) {
        for (uint32_t i = 0;
             i < record->parts[part].max_count && at < record->member_count;
             i++, at++) {
            row->members[at] = (struct training_member){
                record->members[at], (uint8_t)part, TRAINING_POD_WAITING};
            map_put(&training->by_job, record->members[at].v, index);
            row->parts[part].counts[TRAINING_POD_WAITING]++;
        }
    }
    row->member_count = row->live_count = at;
    qsort(row->members, at, sizeof(*row->members), training_members_compare);
}

static void describe(struct training *training, struct training_entry *row,
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
    uint32_t index = training_row_find(training, record->queue, record->name);

    if (index != INTERN_NONE) {
        struct training_entry *row = &training->rows.items[index];
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
    struct training_entry *row =
        training_row_make(training, record->queue, record->name);
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
    ASSERT(training->count <= TRAINING_JOBS_MAX);
    ASSERT(training->byte_count <= TRAINING_TABLE_BYTES_MAX);
    add_members(training, row, record);
    refresh(training, row, record->created_ms);
}

void training_delete(struct training *training, struct str queue,
                     struct str name)
{
    uint32_t index = training_row_find(training, queue, name);

    if (index != INTERN_NONE) {
        drop_row(training, index);
    }
}

/* What happens to pods. */

uint32_t training_member_from(const struct training_entry *row,
                              struct job_id id)
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
static void note_failure(struct training_entry *row,
                         const struct training_member *member,
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

static void end_member(struct training *training, struct training_entry *row,
                       const struct training_member *member)
{
    map_remove(&training->by_job, member->id.v);
    ASSERT(row->live_count > 0);
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
    struct training_entry *row = &training->rows.items[index];
    struct training_member *member =
        &row->members[training_member_from(row, job)];
    /* Who is found by a job has it, as one that has not ended. */
    ASSERT(key128_compare(member->id.v, job.v) == 0);
    ASSERT(training_pod_is_live(member->state));
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
    if (!training_pod_is_live(after)) {
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
