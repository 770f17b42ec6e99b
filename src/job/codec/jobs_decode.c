/* Decodes the canonical form; see jobs_encode.h. */
#include "job/table/jobs_encode.h"

struct set_ref {
    struct str queue, job_set;
};

struct jobs_decoder {
    struct jobs *jobs;
    struct pack_reader reader;
    uint64_t version;
    uint32_t rest_count; /* of the jobs */
    VEC(struct set_ref) sets;
    VEC(struct str) classes, strings, executors;
    VEC(struct gang_saved {
        struct job_digest digest; /* a gang's part of it */
        struct group *group;      /* owned; NULL: it has no terms */
    })
    gangs;
};

/* Read a reference to one of `count` things: its index; `count` if it is new,
 * UINT32_MAX if it is none. */
static uint32_t get_ref(struct jobs_decoder *d, size_t count)
{
    uint64_t v = unpack_u64(&d->reader);

    if (v == JOBS_REF_NONE) {
        return UINT32_MAX;
    }
    if (v == JOBS_REF_NEW) {
        return (uint32_t)count;
    }
    if (v - JOBS_REF_FIRST >= count) {
        d->reader.is_bad = true;
        return UINT32_MAX;
    }
    return (uint32_t)(v - JOBS_REF_FIRST);
}

/* One string of `vec`, or `*ret_str` untouched and false for none. */
#define GET_NAME(d, vec, ret_str)                       \
    __extension__({                                     \
        uint32_t at_ = get_ref((d), (vec)->count);      \
        if (at_ != UINT32_MAX && at_ == (vec)->count) { \
            VEC_PUSH((vec), unpack_str(&(d)->reader));  \
        }                                               \
        bool is_some_ = at_ != UINT32_MAX;              \
        if (is_some_) {                                 \
            *(ret_str) = (vec)->items[at_];             \
        }                                               \
        is_some_;                                       \
    })

static void get_id(struct jobs_decoder *d, struct key128 *id)
{
    if (d->reader.rest.byte_count < sizeof(*id)) {
        d->reader.is_bad = true;
        return;
    }
    memcpy(id, d->reader.rest.p, sizeof(*id));
    d->reader.rest.p += sizeof(*id);
    d->reader.rest.byte_count -= sizeof(*id);
}

static struct set_ref get_set(struct jobs_decoder *d)
{
    uint32_t at = get_ref(d, d->sets.count);

    if (at == UINT32_MAX) {
        d->reader.is_bad = true;
        return (struct set_ref){0};
    }
    if (at == d->sets.count) {
        struct str queue = unpack_str(&d->reader);
        struct str job_set = unpack_str(&d->reader);
        VEC_PUSH(&d->sets, (struct set_ref){queue, job_set});
    }
    return d->sets.items[at];
}

static struct group *get_group(struct jobs_decoder *d, struct str terms)
{
    struct group *group = group_create(terms);

    if (!group || d->version < 4) {
        return group;
    }
    group->below_since_ms = unpack_i64(&d->reader);
    get_id(d, &group->failed_job.v);
    group->has_cancelled = unpack_count(&d->reader, 1);
    for (uint32_t i = 0; i < group->part_count; i++) {
        struct group_count *count = &group->parts[i].count;
        count->succeeded = unpack_count(&d->reader, UINT32_MAX);
        count->failed = unpack_count(&d->reader, UINT32_MAX);
        count->gone = unpack_count(&d->reader, UINT32_MAX);
    }
    return group;
}

/* Where the gang is in `gangs`, or UINT32_MAX. */
static uint32_t get_gang(struct jobs_decoder *d, struct job_digest *digest)
{
    uint32_t at = get_ref(d, d->gangs.count);

    digest->gang_cardinality = digest->gang_minimum = 1;
    if (at == UINT32_MAX) {
        return at;
    }
    if (at == d->gangs.count) {
        struct job_digest gang = {.gang_id = unpack_str(&d->reader)};
        gang.gang_cardinality = unpack_count(&d->reader, UINT32_MAX);
        gang.gang_minimum = unpack_count(&d->reader, UINT32_MAX);
        gang.gang_uniformity = unpack_str(&d->reader);
        if (d->version >= 3) {
            gang.gang_terms = unpack_str(&d->reader);
        }
        struct group *group = get_group(d, gang.gang_terms);
        VEC_PUSH(&d->gangs, (struct gang_saved){gang, group});
    }
    const struct job_digest *gang = &d->gangs.items[at].digest;
    digest->gang_id = gang->gang_id;
    digest->gang_cardinality = gang->gang_cardinality;
    digest->gang_minimum = gang->gang_minimum;
    digest->gang_uniformity = gang->gang_uniformity;
    digest->gang_terms = gang->gang_terms;
    return at;
}

/* The first job of a gang that was read is there: what was counted of it is
 * too. */
static void restore_group(struct jobs_decoder *d, uint32_t gang,
                          struct gang_saved *saved)
{
    struct group *group =
        gang == JOBS_NONE ? NULL : d->jobs->gang_rows.items[gang].group;

    if (!group || !saved->group) {
        return;
    }
    group->below_since_ms = saved->group->below_since_ms;
    group->failed_job = saved->group->failed_job;
    group->has_cancelled = saved->group->has_cancelled;
    group_take_ended(group, saved->group);
    group_list_below(d->jobs, gang);
    mem_free(saved->group);
    saved->group = NULL;
}

/* A string of extras; a number of the table, or NONE. */
static uint32_t get_string(struct jobs_decoder *d)
{
    struct str s;

    return GET_NAME(d, &d->strings, &s) ? intern_add(&d->jobs->strings, s)
                                        : INTERN_NONE;
}

static void get_run(struct jobs_decoder *d, uint32_t job)
{
    struct job_run run = {0};

    get_id(d, &run.id.v);
    GET_NAME(d, &d->executors, &run.executor_id);
    GET_NAME(d, &d->strings, &run.node_name);
    GET_NAME(d, &d->strings, &run.pool);
    run.priority = (int32_t)unpack_i64(&d->reader);
    if (d->version >= 2) {
        run.leased_ms = unpack_i64(&d->reader);
        run.started_ms = unpack_i64(&d->reader);
    }
    if (!d->reader.is_bad && jobs_find_run(d->jobs, run.id) != JOBS_NONE) {
        d->reader.is_bad = true;
    }
    if (d->reader.is_bad) {
        return;
    }
    run_create(d->jobs, job, &run);
    if (!job_state_has_run(jobs_state(d->jobs, job))) {
        run_unlist(d->jobs, d->jobs->rows.items[job].run);
    }
}

static void get_waits(struct jobs_decoder *d, struct extra_row *extra)
{
    struct job_wait waits[JOB_WAITS_MAX], broken[JOB_WAITS_MAX];
    int count = job_waits_unpack(unpack_str(&d->reader), waits);
    int broken_count = job_waits_unpack(unpack_str(&d->reader), broken);

    extra->broken_as = unpack_count(&d->reader, JOB_STATE_COUNT - 1);
    if (count < 0 || broken_count < 0 ||
        (broken_count == 1) != (extra->broken_as != JOB_NONE)) {
        d->reader.is_bad = true;
        return;
    }
    if (broken_count == 1) {
        extra->broken = broken[0];
    }
    if (count > 0) {
        extra->waits = mem_dup(waits, (size_t)count * sizeof(*waits));
        extra->wait_count = (uint32_t)count;
    }
}

static void get_turn(struct jobs_decoder *d, uint32_t job)
{
    uint32_t limit = unpack_count(&d->reader, UINT32_MAX);

    if (limit == 0) {
        return;
    }
    struct str group = unpack_str(&d->reader);
    bool has_turn = unpack_count(&d->reader, 1);
    if (!d->reader.is_bad) {
        turns_restore(d->jobs, job, group, limit, has_turn);
    }
}

/* The nodes that were tried. */
static void get_tried(struct jobs_decoder *d, struct extra_row *extra)
{
    uint32_t count = unpack_count(&d->reader, JOBS_TRIED_MAX);

    if (count > 0) {
        extra->tried = mem_alloc_array(JOBS_TRIED_MAX, sizeof(*extra->tried));
    }
    for (uint32_t i = 0; i < count && !d->reader.is_bad; i++) {
        uint32_t executor = get_string(d);
        uint32_t node = get_string(d);
        ASSERT(extra->tried_count < JOBS_TRIED_MAX); /* the reader's bound */
        extra->tried[extra->tried_count++] =
            (struct tried_pair){executor, node};
    }
}

static void get_error(struct jobs_decoder *d, struct extra_row *extra)
{
    extra->error = get_string(d);
    extra->error_message = get_string(d);
    if (d->version >= 6) {
        extra->error_category = get_string(d);
        extra->error_subcategory = get_string(d);
        extra->error_exit_code = (int32_t)unpack_i64(&d->reader);
    }
    extra->error_kind = unpack_count(&d->reader, UINT32_MAX);
    uint32_t error_bits = unpack_count(&d->reader, 3);
    extra->error_attempted = error_bits & 1;
    extra->error_is_foreign = error_bits & 2;
}

static void get_extra(struct jobs_decoder *d, uint32_t job)
{
    struct extra_row *extra = extra_of(d->jobs, job);

    extra->priority = unpack_count(&d->reader, UINT32_MAX);
    extra->priority_user = get_string(d);
    extra->cancel_user = get_string(d);
    extra->cancel_reason = get_string(d);
    extra->preempt_user = get_string(d);
    extra->preempt_reason = get_string(d);
    get_error(d, extra);
    if (d->version >= 7) {
        extra->holds = unpack_count(&d->reader, JOB_HOLD_ALL);
        extra->hold_user = get_string(d);
        extra->begin_ms = unpack_i64(&d->reader);
        extra->wait_until_ms = unpack_i64(&d->reader);
    }
    if (d->version >= 8) {
        get_waits(d, extra);
    }
    if (d->version >= 9) {
        extra->retry_policy = get_string(d);
    }
    if (d->version >= 10) {
        get_turn(d, job);
        extra = extra_of(d->jobs, job);
    }
    get_tried(d, extra);
}

/* What is kept of a job in its row; then its run and its extras. */
static void get_fields(struct jobs_decoder *d, uint32_t job)
{
    struct job_row *row = &d->jobs->rows.items[job];

    row->priority = unpack_count(&d->reader, UINT32_MAX);
    uint32_t state = unpack_count(&d->reader, JOB_RUN_CANCELLED);
    uint32_t flags = unpack_count(
        &d->reader, d->version < 5 ? ROW_DIRTY - 1 : 2 * ROW_UNPROVEN - 1);
    row->flags = (uint16_t)(flags & ~(uint32_t)ROW_UNPROVEN);
    jobs_set_unproven(d->jobs, job, flags & ROW_UNPROVEN);
    row->run_count = unpack_count(&d->reader, UINT32_MAX);
    row->attempted_count = (uint8_t)unpack_count(&d->reader, UINT8_MAX);
    uint32_t has = unpack_count(&d->reader, 3);
    if (state < JOB_QUEUED || (state > JOB_QUEUED) != (has & 1)) {
        d->reader.is_bad = true;
        return;
    }
    row_set_state(d->jobs, job, (enum job_state)state);
    if (has & 1) {
        get_run(d, job);
    }
    if (has & 2) {
        get_extra(d, job);
        held_restore(d->jobs, job);
        waits_restore(d->jobs, job);
    }
}

static void get_row(struct jobs_decoder *d)
{
    struct job_digest digest = {0};
    struct str user = {0};
    struct job_id id = {0};

    get_id(d, &id.v);
    struct set_ref set = get_set(d);
    GET_NAME(d, &d->strings, &user);
    GET_NAME(d, &d->classes, &digest.class_key);
    uint32_t gang = get_gang(d, &digest);
    /* With the application: row_create() takes it as it is. */
    GET_NAME(d, &d->strings, &digest.pool);
    if (d->reader.is_bad || jobs_find(d->jobs, id) != JOBS_NONE) {
        d->reader.is_bad = true;
        return;
    }
    uint32_t job =
        row_create(d->jobs, id, set.queue, set.job_set, user, &digest);
    ASSERT(gang == UINT32_MAX || gang < d->gangs.count);
    if (gang != UINT32_MAX) {
        restore_group(d, d->jobs->rows.items[job].gang, &d->gangs.items[gang]);
    }
    get_fields(d, job);
}

/* From outside. */

struct jobs_decoder *jobs_decode_begin(struct jobs *jobs, struct str bytes)
{
    ASSERT(jobs->count == 0);
    struct jobs_decoder *d = mem_alloc(sizeof(*d));

    d->jobs = jobs;
    d->reader.rest = bytes;
    d->version = unpack_u64(&d->reader);
    d->rest_count = d->version <= JOBS_FORMAT_VERSION
                        ? unpack_count(&d->reader, JOBS_MAX)
                        : 0;
    return d;
}

void jobs_decode_end(struct jobs_decoder *d)
{
    if (!d) {
        return;
    }
    VEC_FREE(&d->sets);
    VEC_FREE(&d->classes);
    VEC_FREE(&d->strings);
    VEC_FREE(&d->executors);
    for (size_t i = 0; i < d->gangs.count; i++) {
        mem_free(d->gangs.items[i].group);
    }
    VEC_FREE(&d->gangs);
    mem_free(d);
}

int jobs_decode_some(struct jobs_decoder *d, uint32_t count_max,
                     struct err *err)
{
    if (d->version > JOBS_FORMAT_VERSION) {
        return err_set(err, -ERR_VERSION,
                       "the jobs of the checkpoint have format %llu, this "
                       "release reads up to %d",
                       (unsigned long long)d->version, JOBS_FORMAT_VERSION);
    }
    uint32_t count = count_max < d->rest_count ? count_max : d->rest_count;
    for (uint32_t i = 0; i < count && !d->reader.is_bad; i++) {
        get_row(d);
    }
    d->rest_count -= count;
    if (d->reader.is_bad ||
        (d->rest_count == 0 && d->reader.rest.byte_count > 0)) {
        return err_set(err, -ERR_CORRUPT,
                       "the jobs of the checkpoint do not decode");
    }
    return d->rest_count == 0;
}

int jobs_decode(struct jobs *jobs, struct str bytes, struct err *err)
{
    struct jobs_decoder *d = jobs_decode_begin(jobs, bytes);

    int rc = jobs_decode_some(d, UINT32_MAX, err);
    jobs_decode_end(d);
    return rc < 0 ? rc : 0;
}
