/* Encodes the whole table in canonical form. */
#include "job/table/jobs_encode.h"

#include <stdlib.h>

static struct numbers numbers_make(const struct intern *names)
{
    return (struct numbers){
        mem_alloc_array((size_t)intern_count(names) + 1, sizeof(uint32_t)), 0};
}

/* Write the number of `index`; true if the string itself is to follow. */
static bool put_ref(struct strbuf *buf, struct numbers *numbers, uint32_t index)
{
    if (index == INTERN_NONE) {
        pack_u64(buf, JOBS_REF_NONE);
        return false;
    }
    if (numbers->of[index]) {
        pack_u64(buf, numbers->of[index] - 1 + JOBS_REF_FIRST);
        return false;
    }
    numbers->of[index] = ++numbers->count;
    pack_u64(buf, JOBS_REF_NEW);
    return true;
}

static void put_name(struct encoder *e, struct numbers *numbers,
                     const struct intern *names, uint32_t index)
{
    if (put_ref(e->buf, numbers, index)) {
        pack_str(e->buf, intern_get(names, index));
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

static void put_waits(struct encoder *e, const struct extra_row *extra)
{
    auto_strbuf packed = {0};

    job_waits_pack(&packed, extra->waits, extra->wait_count);
    pack_str(e->buf, strbuf_str(&packed));
    strbuf_clear(&packed);
    job_waits_pack(&packed, &extra->broken, extra->broken_as != JOB_NONE);
    pack_str(e->buf, strbuf_str(&packed));
    pack_u64(e->buf, extra->broken_as);
}

/* Its group's limit: 0 where it has none. */
static void put_turn(struct encoder *e, const struct extra_row *extra)
{
    uint32_t limit = 0;

    if (extra->turn == JOBS_NONE) {
        pack_u64(e->buf, 0);
        return;
    }
    struct str group = turns_group(e->jobs, extra->turn, &limit);
    pack_u64(e->buf, limit);
    pack_str(e->buf, group);
    pack_u64(e->buf, extra->has_turn);
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
    put_string(e, extra->error_category);
    put_string(e, extra->error_subcategory);
    pack_i64(e->buf, extra->error_exit_code);
    pack_u64(e->buf, extra->error_kind);
    pack_u64(e->buf, (uint32_t)extra->error_attempted |
                         (uint32_t)extra->error_is_foreign << 1);
    pack_u64(e->buf, extra->holds);
    put_string(e, extra->hold_user);
    pack_i64(e->buf, extra->begin_ms);
    pack_i64(e->buf, extra->wait_until_ms);
    put_waits(e, extra);
    put_string(e, extra->retry_policy);
    put_turn(e, extra);
    pack_u64(e->buf, extra->tried_count);
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        put_string(e, extra->tried[i].executor);
        put_string(e, extra->tried[i].node);
    }
}

void encoder_put(struct encoder *e, uint32_t job)
{
    const struct job_row *row = &e->jobs->rows.items[job];

    /* jobs_decode() refuses anything else. */
    ASSERT((row->run == JOBS_NONE) == (row->state == JOB_QUEUED));
    strbuf_add(e->buf, &row->id, sizeof(row->id));
    put_set(e, row->set);
    put_string(e, row->user);
    put_name(e, &e->classes, &e->jobs->classes, row->class_index);
    put_gang(e, job);
    put_string(e, row->place);
    pack_u64(e->buf, row->priority);
    pack_u64(e->buf, row->state);
    pack_u64(e->buf, (row->flags & (uint32_t)~ROW_DIRTY) |
                         (row_has_bit(e->unproven, e->unproven_count, job)
                              ? ROW_UNPROVEN
                              : 0));
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

struct encoder encoder_make(const struct jobs *jobs, struct strbuf *buf)
{
    return (struct encoder){
        .jobs = jobs,
        .buf = buf,
        .sets = numbers_make(&jobs->sets),
        .classes = numbers_make(&jobs->classes),
        .gangs = numbers_make(&jobs->gangs),
        .strings = numbers_make(&jobs->strings),
        .executors = numbers_make(&jobs->executors),
        .unproven = jobs->unproven.items,
        .unproven_count = jobs->unproven.count,
    };
}

void encoder_fini(struct encoder *e)
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
        encoder_put(&e, items[i].job);
    }
    mem_free(items);
    encoder_fini(&e);
}
