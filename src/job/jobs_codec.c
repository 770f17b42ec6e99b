/* The canonical form: jobs in order of id; a string is written where it is
 * first used, and by its number after that. */
#include <stdlib.h>

#include "job/jobs_private.h"

enum { REF_NONE = 0, REF_NEW = 1, REF_FIRST = 2 };

/* From an index of names to its number in the output. */
struct numbers {
    uint32_t *of; /* owned; 0: not written yet */
    uint32_t count;
};

struct encoder {
    const struct jobs *jobs;
    struct strbuf *buf;
    struct numbers sets, classes, gangs, strings, executors;
};

static struct numbers numbers_make(const struct names *names)
{
    return (struct numbers){
        mem_alloc_array((size_t)names->item_count + 1, sizeof(uint32_t)), 0};
}

/* Write the number of `index`; true if the string itself is to follow. */
static bool put_ref(struct strbuf *buf, struct numbers *numbers, uint32_t index)
{
    if (index == NAMES_NONE) {
        pack_u64(buf, REF_NONE);
        return false;
    }
    if (numbers->of[index]) {
        pack_u64(buf, numbers->of[index] - 1 + REF_FIRST);
        return false;
    }
    numbers->of[index] = ++numbers->count;
    pack_u64(buf, REF_NEW);
    return true;
}

static void put_name(struct encoder *e, struct numbers *numbers,
                     const struct names *names, uint32_t index)
{
    if (put_ref(e->buf, numbers, index)) {
        pack_str(e->buf, names_get(names, index));
    }
}

static void put_string(struct encoder *e, uint32_t index)
{
    put_name(e, &e->strings, &e->jobs->strings, index);
}

static void put_set(struct encoder *e, uint32_t set)
{
    if (put_ref(e->buf, &e->sets, set)) {
        struct str queue, job_set;
        set_get(e->jobs, set, &queue, &job_set);
        pack_str(e->buf, queue);
        pack_str(e->buf, job_set);
    }
}

/* What is counted of a gang with terms and does not follow from its jobs. */
static void put_group(struct encoder *e, const struct group *group)
{
    pack_i64(e->buf, group->below_since_ms);
    strbuf_add(e->buf, &group->failed_job, sizeof(group->failed_job));
    pack_u64(e->buf, group->has_cancelled);
    for (uint32_t i = 0; i < group->part_count; i++) {
        pack_u64(e->buf, group->parts[i].count.succeeded);
        pack_u64(e->buf, group->parts[i].count.failed);
        pack_u64(e->buf, group->parts[i].count.gone);
    }
}

static void put_gang(struct encoder *e, uint32_t job)
{
    if (put_ref(e->buf, &e->gangs, e->jobs->rows.items[job].gang)) {
        struct job_digest digest;
        jobs_digest(e->jobs, job, &digest);
        pack_str(e->buf, digest.gang_id);
        pack_u64(e->buf, digest.gang_cardinality);
        pack_u64(e->buf, digest.gang_minimum);
        pack_str(e->buf, digest.gang_uniformity);
        pack_str(e->buf, digest.gang_terms);
        const struct group *group =
            e->jobs->gang_rows.items[e->jobs->rows.items[job].gang].group;
        if (group) {
            put_group(e, group);
        }
    }
}

static void put_run(struct encoder *e, uint32_t run)
{
    const struct run_row *row = &e->jobs->runs.items[run];

    strbuf_add(e->buf, &row->id, sizeof(row->id));
    put_name(e, &e->executors, &e->jobs->executors, row->executor);
    put_string(e, row->node);
    put_string(e, row->pool);
    pack_i64(e->buf, row->priority);
    pack_i64(e->buf, row->leased_ms);
    pack_i64(e->buf, row->started_ms);
}

static void put_extra(struct encoder *e, uint32_t index)
{
    const struct extra_row *extra = &e->jobs->extras.items[index];

    pack_u64(e->buf, extra->priority);
    put_string(e, extra->priority_user);
    put_string(e, extra->cancel_user);
    put_string(e, extra->cancel_reason);
    put_string(e, extra->preempt_user);
    put_string(e, extra->preempt_reason);
    put_string(e, extra->error);
    put_string(e, extra->error_message);
    pack_u64(e->buf, extra->error_kind);
    pack_u64(e->buf, (uint32_t)extra->error_attempted |
                         (uint32_t)extra->error_is_foreign << 1);
    pack_u64(e->buf, extra->tried_count);
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        put_string(e, extra->tried[i].executor);
        put_string(e, extra->tried[i].node);
    }
}

static void put_row(struct encoder *e, uint32_t job)
{
    const struct job_row *row = &e->jobs->rows.items[job];

    strbuf_add(e->buf, &row->id, sizeof(row->id));
    put_set(e, row->set);
    put_string(e, row->user);
    put_name(e, &e->classes, &e->jobs->classes, row->class_index);
    put_gang(e, job);
    put_string(e, row->place);
    pack_u64(e->buf, row->priority);
    pack_u64(e->buf, row->state);
    pack_u64(e->buf, row->flags & (uint32_t)~ROW_DIRTY);
    pack_u64(e->buf, row->run_count);
    pack_u64(e->buf, row->attempted_count);
    pack_u64(e->buf, (row->run != JOBS_NONE) | (row->extra != JOBS_NONE) << 1);
    if (row->run != JOBS_NONE) {
        put_run(e, row->run);
    }
    if (row->extra != JOBS_NONE) {
        put_extra(e, row->extra);
    }
}

/* Jobs mostly come in the order of their ids; then nothing is to sort. */
static struct sort_item *sorted(const struct jobs *jobs)
{
    struct sort_item *items =
        mem_alloc_array((size_t)jobs->count + 1, sizeof(*items));
    uint32_t count = 0;
    bool is_sorted = true;

    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        if (jobs->rows.items[job].state != JOB_NONE) {
            items[count] = (struct sort_item){jobs->rows.items[job].id, job};
            is_sorted &= count == 0 || sort_item_compare(&items[count - 1],
                                                         &items[count]) < 0;
            count++;
        }
    }
    ASSERT(count == jobs->count);
    if (!is_sorted) {
        qsort(items, count, sizeof(*items), sort_item_compare);
    }
    return items;
}

static struct encoder encoder_make(const struct jobs *jobs, struct strbuf *buf)
{
    return (struct encoder){
        .jobs = jobs,
        .buf = buf,
        .sets = numbers_make(&jobs->sets),
        .classes = numbers_make(&jobs->classes),
        .gangs = numbers_make(&jobs->gangs),
        .strings = numbers_make(&jobs->strings),
        .executors = numbers_make(&jobs->executors),
    };
}

static void encoder_fini(struct encoder *e)
{
    mem_free(e->sets.of);
    mem_free(e->classes.of);
    mem_free(e->gangs.of);
    mem_free(e->strings.of);
    mem_free(e->executors.of);
}

void jobs_encode(const struct jobs *jobs, struct strbuf *buf)
{
    struct encoder e = encoder_make(jobs, buf);
    struct sort_item *items = sorted(jobs);

    pack_u64(buf, JOBS_FORMAT_VERSION);
    pack_u64(buf, jobs->count);
    for (uint32_t i = 0; i < jobs->count; i++) {
        put_row(&e, items[i].job);
    }
    mem_free(items);
    encoder_fini(&e);
}

/* The state of one moment, written while it changes: a job is written in its
 * turn, or before it changes, whichever comes first. */
struct snapshot {
    struct encoder encoder;
    uint64_t *written; /* owned, a bit by row: done, or not there then */
    uint32_t next, end;
};

static void watch(struct names *names, struct numbers *numbers)
{
    /* A name that is given up frees its index for another one. */
    names->watched = numbers ? numbers->of : NULL;
    names->watched_count = numbers ? names->item_count : 0;
}

static void watch_all(struct jobs *jobs, struct encoder *e)
{
    watch(&jobs->sets, e ? &e->sets : NULL);
    watch(&jobs->classes, e ? &e->classes : NULL);
    watch(&jobs->gangs, e ? &e->gangs : NULL);
    watch(&jobs->strings, e ? &e->strings : NULL);
    watch(&jobs->executors, e ? &e->executors : NULL);
}

void jobs_snapshot_begin(struct jobs *jobs, struct strbuf *buf)
{
    struct snapshot *snapshot = mem_alloc(sizeof(*snapshot));

    ASSERT(!jobs->snapshot);
    jobs->snapshot_no++;
    snapshot->encoder = encoder_make(jobs, buf);
    snapshot->end = (uint32_t)jobs->rows.count;
    snapshot->written =
        mem_alloc_array(snapshot->end / 64 + 1, sizeof(*snapshot->written));
    watch_all(jobs, &snapshot->encoder);
    pack_u64(buf, JOBS_FORMAT_VERSION);
    pack_u64(buf, jobs->count);
    jobs->snapshot = snapshot;
}

/* Whether the snapshot is still to have the row; not after this. */
static bool take(struct snapshot *snapshot, uint32_t job)
{
    if (!snapshot || job < snapshot->next || job >= snapshot->end) {
        return false;
    }
    uint64_t bit = (uint64_t)1 << job % 64;
    bool is_taken = snapshot->written[job / 64] & bit;
    snapshot->written[job / 64] |= bit;
    return !is_taken;
}

void row_will_change(struct jobs *jobs, uint32_t job)
{
    if (take(jobs->snapshot, job) && jobs->rows.items[job].state != JOB_NONE) {
        put_row(&jobs->snapshot->encoder, job);
    }
}

bool snapshot_lacks_gang(const struct jobs *jobs, uint32_t gang)
{
    return jobs->snapshot && gang < jobs->gangs.watched_count &&
           jobs->snapshot->encoder.gangs.of[gang] == 0;
}

void row_is_new(struct jobs *jobs, uint32_t job)
{
    (void)take(jobs->snapshot, job);
}

bool jobs_snapshot_write(struct jobs *jobs, uint32_t count_max)
{
    struct snapshot *snapshot = jobs->snapshot;

    for (uint32_t i = 0; i < count_max && snapshot->next < snapshot->end; i++) {
        row_will_change(jobs, snapshot->next);
        snapshot->next++;
    }
    return snapshot->next == snapshot->end;
}

void jobs_snapshot_end(struct jobs *jobs)
{
    struct snapshot *snapshot = jobs->snapshot;

    if (snapshot) {
        watch_all(jobs, NULL);
        encoder_fini(&snapshot->encoder);
        mem_free(snapshot->written);
        mem_free(snapshot);
        jobs->snapshot = NULL;
    }
}

/* Back. */

struct set_ref {
    struct str queue, job_set;
};

struct decoder {
    struct jobs *jobs;
    struct pack_reader reader;
    uint64_t version;
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
static uint32_t get_ref(struct decoder *d, size_t count)
{
    uint64_t v = unpack_u64(&d->reader);

    if (v == REF_NONE) {
        return UINT32_MAX;
    }
    if (v == REF_NEW) {
        return (uint32_t)count;
    }
    if (v - REF_FIRST >= count) {
        d->reader.is_bad = true;
        return UINT32_MAX;
    }
    return (uint32_t)(v - REF_FIRST);
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

static void get_id(struct decoder *d, struct key128 *id)
{
    if (d->reader.rest.byte_count < sizeof(*id)) {
        d->reader.is_bad = true;
        return;
    }
    memcpy(id, d->reader.rest.p, sizeof(*id));
    d->reader.rest.p += sizeof(*id);
    d->reader.rest.byte_count -= sizeof(*id);
}

static struct set_ref get_set(struct decoder *d)
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

static struct group *get_group(struct decoder *d, struct str terms)
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
static uint32_t get_gang(struct decoder *d, struct job_digest *digest)
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
static void restore_group(struct decoder *d, uint32_t gang,
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
    for (uint32_t i = 0; i < group->part_count; i++) {
        group->parts[i].count.succeeded =
            saved->group->parts[i].count.succeeded;
        group->parts[i].count.failed = saved->group->parts[i].count.failed;
        group->parts[i].count.gone = saved->group->parts[i].count.gone;
    }
    group_list_below(d->jobs, gang);
    mem_free(saved->group);
    saved->group = NULL;
}

/* A string of extras; a number of the table, or NONE. */
static uint32_t get_string(struct decoder *d)
{
    struct str s;

    return GET_NAME(d, &d->strings, &s) ? names_add(&d->jobs->strings, s)
                                        : NAMES_NONE;
}

static void get_run(struct decoder *d, uint32_t job)
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

static void get_extra(struct decoder *d, uint32_t job)
{
    struct extra_row *extra = extra_of(d->jobs, job);

    extra->priority = unpack_count(&d->reader, UINT32_MAX);
    extra->priority_user = get_string(d);
    extra->cancel_user = get_string(d);
    extra->cancel_reason = get_string(d);
    extra->preempt_user = get_string(d);
    extra->preempt_reason = get_string(d);
    extra->error = get_string(d);
    extra->error_message = get_string(d);
    extra->error_kind = unpack_count(&d->reader, UINT32_MAX);
    uint32_t error_bits = unpack_count(&d->reader, 3);
    extra->error_attempted = error_bits & 1;
    extra->error_is_foreign = error_bits & 2;
    uint32_t count = unpack_count(&d->reader, JOBS_TRIED_MAX);
    if (count > 0) {
        extra->tried = mem_alloc_array(JOBS_TRIED_MAX, sizeof(*extra->tried));
    }
    for (uint32_t i = 0; i < count && !d->reader.is_bad; i++) {
        uint32_t executor = get_string(d);
        uint32_t node = get_string(d);
        extra->tried[extra->tried_count++] =
            (struct tried_pair){executor, node};
    }
}

static void get_row(struct decoder *d)
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
    if (gang != UINT32_MAX) {
        restore_group(d, d->jobs->rows.items[job].gang, &d->gangs.items[gang]);
    }
    struct job_row *row = &d->jobs->rows.items[job];
    row->priority = unpack_count(&d->reader, UINT32_MAX);
    uint32_t state = unpack_count(&d->reader, JOB_RUN_CANCELLED);
    row->flags = (uint16_t)unpack_count(&d->reader, ROW_DIRTY - 1);
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
    }
}

int jobs_decode(struct jobs *jobs, struct str bytes, struct err *err)
{
    ASSERT(jobs->count == 0);
    struct decoder d = {.jobs = jobs, .reader = {.rest = bytes}};
    uint64_t version = unpack_u64(&d.reader);

    if (version > JOBS_FORMAT_VERSION) {
        return err_set(err, -ERR_VERSION,
                       "the jobs of the checkpoint have format %llu, this "
                       "release reads up to %d",
                       (unsigned long long)version, JOBS_FORMAT_VERSION);
    }
    d.version = version;
    uint32_t count = unpack_count(&d.reader, JOBS_MAX);
    for (uint32_t i = 0; i < count && !d.reader.is_bad; i++) {
        get_row(&d);
    }
    VEC_FREE(&d.sets);
    VEC_FREE(&d.classes);
    VEC_FREE(&d.strings);
    VEC_FREE(&d.executors);
    for (size_t i = 0; i < d.gangs.count; i++) {
        mem_free(d.gangs.items[i].group);
    }
    VEC_FREE(&d.gangs);
    if (d.reader.is_bad || d.reader.rest.byte_count > 0) {
        return err_set(err, -ERR_CORRUPT,
                       "the jobs of the checkpoint do not decode");
    }
    return 0;
}

void jobs_assert_valid(const struct jobs *jobs)
{
    uint32_t live = 0, with_run = 0, tallied = 0;
    uint32_t leased = 0, pending = 0, running = 0;

    for (size_t i = 0; i < jobs->tallies.count; i++) {
        const struct tally_row *tally = &jobs->tallies.items[i];
        tallied += tally->run_count;
        leased += tally->counts.leased_count;
        pending += tally->counts.pending_count;
        running += tally->counts.running_count;
    }
    ASSERT(leased == jobs->counts.by_state[JOB_LEASED]);
    ASSERT(pending == jobs->counts.by_state[JOB_PENDING]);
    ASSERT(running == jobs->counts.by_state[JOB_RUNNING]);
    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        const struct job_row *row = &jobs->rows.items[job];
        if (row->state == JOB_NONE) {
            continue;
        }
        live++;
        ASSERT(!job_state_is_ended((enum job_state)row->state));
        ASSERT(jobs_find(jobs, row->id) == job);
        ASSERT((row->state == JOB_QUEUED) == (row->run == JOBS_NONE));
        if (row->run != JOBS_NONE) {
            const struct run_row *run = &jobs->runs.items[row->run];
            with_run++;
            ASSERT(run->job == job && run->tallied_as == row->state);
            ASSERT(run->is_listed ==
                   job_state_has_run((enum job_state)row->state));
            ASSERT(jobs_find_run(jobs, run->id) == job);
        }
    }
    ASSERT(live == jobs->count && jobs->by_id.count == live);
    ASSERT(jobs->by_run.count == with_run && tallied == with_run);
}
