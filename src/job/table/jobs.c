#include "job/table/jobs.h"

#include "job/table/jobs_private.h"

/* Rows. */

void row_set_state(struct jobs *jobs, uint32_t job, enum job_state state)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->gang != JOBS_NONE) {
        group_moved(jobs, job, (enum job_state)row->state, state);
    }
    if (row->state != JOB_NONE) {
        ASSERT(jobs->counts.by_state[row->state] > 0);
        jobs->counts.by_state[row->state]--;
    }
    row->state = (uint8_t)state;
    if (state != JOB_NONE) {
        jobs->counts.by_state[state]++;
    }
    if (row->run != JOBS_NONE) {
        tally_move(jobs, row->run);
    }
}

static uint32_t row_take(struct jobs *jobs)
{
    uint32_t job = SLOTS_TAKE(&jobs->rows);

    ASSERT(job < JOBS_MAX);
    /* No job is in a free row. */
    ASSERT(jobs->rows.items[job].state == JOB_NONE);
    return job;
}

static uint16_t flags_of(const struct job_digest *digest)
{
    return (
        uint16_t)((digest->is_fail_fast ? JOB_FLAG_FAIL_FAST : 0) |
                  (digest->on_preemption == ON_LOSS_REQUEUE
                       ? JOB_FLAG_REQUEUE_PREEMPTED
                       : 0) |
                  (digest->on_executor_lost == ON_LOSS_REQUEUE
                       ? JOB_FLAG_REQUEUE_LOST
                       : 0) |
                  (digest->has_stateaware_off ? JOB_FLAG_STATEAWARE_OFF : 0));
}

/* Where a job belongs is one string, so that few jobs pay for what most have
 * not: its pool and, if it says one, a NUL and its application; then, if it is
 * of a further sub-group, a NUL and its number. */
static uint32_t place_add(struct jobs *jobs, const struct job_digest *digest)
{
    auto_strbuf key = {0};

    if (digest->application_id.byte_count == 0 && digest->sub_group == 0) {
        return digest->pool.byte_count
                   ? intern_add(&jobs->strings, digest->pool)
                   : INTERN_NONE;
    }
    strbuf_add(&key, digest->pool.p, digest->pool.byte_count);
    strbuf_add_char(&key, '\0');
    strbuf_add(&key, digest->application_id.p,
               digest->application_id.byte_count);
    if (digest->sub_group > 0) {
        strbuf_add_char(&key, '\0');
        strbuf_add_char(&key, (char)digest->sub_group);
    }
    return intern_add(&jobs->strings, strbuf_str(&key));
}

static void place_get(const struct jobs *jobs, uint32_t place,
                      struct job_digest *digest)
{
    struct str key = intern_get(&jobs->strings, place);
    size_t at = 0;

    while (at < key.byte_count && key.p[at]) {
        at++;
    }
    digest->pool = str_make(key.p, at);
    if (at == key.byte_count) {
        return;
    }
    size_t end = ++at;
    while (end < key.byte_count && key.p[end]) {
        end++;
    }
    digest->application_id = str_make(key.p + at, end - at);
    if (end < key.byte_count) {
        digest->sub_group = (uint8_t)key.p[end + 1];
    }
}

uint32_t row_sub_group(const struct jobs *jobs, uint32_t job)
{
    struct job_digest digest = {0};

    place_get(jobs, jobs->rows.items[job].place, &digest);
    return digest.sub_group;
}

void jobs_digest(const struct jobs *jobs, uint32_t job,
                 struct job_digest *ret_digest)
{
    ASSERT(jobs_is_live(jobs, job));
    const struct job_row *row = &jobs->rows.items[job];
    struct job_digest digest = {
        .class_key = intern_get(&jobs->classes, row->class_index),
        .gang_cardinality = 1,
        .gang_minimum = 1,
        .is_fail_fast = row->flags & JOB_FLAG_FAIL_FAST,
        .on_preemption = row->flags & JOB_FLAG_REQUEUE_PREEMPTED
                             ? ON_LOSS_REQUEUE
                             : ON_LOSS_FAIL,
        .on_executor_lost =
            row->flags & JOB_FLAG_REQUEUE_LOST ? ON_LOSS_REQUEUE : ON_LOSS_FAIL,
        .has_stateaware_off = row->flags & JOB_FLAG_STATEAWARE_OFF,
    };

    place_get(jobs, row->place, &digest);
    if (row->gang != JOBS_NONE) {
        jobs_gang_get(jobs, row->gang, &digest);
    }
    *ret_digest = digest;
}

uint32_t row_create(struct jobs *jobs, struct job_id id, struct str queue,
                    struct str job_set, struct str user,
                    const struct job_digest *digest)
{
    uint32_t job = row_take(jobs);
    struct job_row *row = &jobs->rows.items[job];

    row_is_new(jobs, job);
    jobs_set_unproven(jobs, job, false);
    *row = (struct job_row){
        .id = id,
        .user = intern_add(&jobs->strings, user),
        .class_index = intern_add(&jobs->classes, digest->class_key),
        .gang = JOBS_NONE,
        .place = place_add(jobs, digest),
        .run = JOBS_NONE,
        .extra = JOBS_NONE,
        .flags = flags_of(digest),
    };
    jobs_set_join(jobs, job, queue, job_set);
    if (digest->gang_id.byte_count) {
        jobs_gang_join(jobs, job, queue, digest);
    }
    id_index_add(&jobs->by_id, jobs->rows.items, sizeof(*row), job);
    row_set_state(jobs, job, JOB_QUEUED);
    jobs->count++;
    return job;
}

static void extra_free(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->extra == JOBS_NONE) {
        return;
    }
    struct extra_row *extra = &jobs->extras.items[row->extra];
    ASSERT(extra->tried_count <= JOBS_TRIED_MAX);
    intern_unref(&jobs->strings, extra->priority_user);
    intern_unref(&jobs->strings, extra->cancel_user);
    intern_unref(&jobs->strings, extra->cancel_reason);
    intern_unref(&jobs->strings, extra->preempt_user);
    intern_unref(&jobs->strings, extra->preempt_reason);
    intern_unref(&jobs->strings, extra->error);
    intern_unref(&jobs->strings, extra->error_message);
    intern_unref(&jobs->strings, extra->error_category);
    intern_unref(&jobs->strings, extra->error_subcategory);
    intern_unref(&jobs->strings, extra->hold_user);
    intern_unref(&jobs->strings, extra->retry_policy);
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        intern_unref(&jobs->strings, extra->tried[i].executor);
        intern_unref(&jobs->strings, extra->tried[i].node);
    }
    mem_free(extra->tried);
    mem_free(extra->waits);
    extra->tried = NULL;
    extra->waits = NULL;
    SLOTS_GIVE(&jobs->extras, row->extra);
    row->extra = JOBS_NONE;
}

void row_free(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    /* A job ends once. */
    ASSERT(row->state != JOB_NONE && jobs->count > 0);
    if (row->run != JOBS_NONE) {
        run_free(jobs, job);
    }
    extra_free(jobs, job);
    id_index_remove(&jobs->by_id, jobs->rows.items, sizeof(*row), row->id.v);
    row_set_state(jobs, job, JOB_NONE);
    if (row->gang != JOBS_NONE) {
        jobs_gang_leave(jobs, job);
    }
    jobs_set_leave(jobs, job);
    intern_unref(&jobs->strings, row->user);
    intern_unref(&jobs->strings, row->place);
    intern_unref(&jobs->classes, row->class_index);
    *row = (struct job_row){0};
    SLOTS_GIVE(&jobs->rows, job);
    jobs->count--;
    ASSERT_SLOW(jobs->by_id.count == jobs->count);
}

struct extra_row *extra_of(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    row_will_change(jobs, job);
    if (row->extra != JOBS_NONE) {
        return &jobs->extras.items[row->extra];
    }
    row->extra = SLOTS_TAKE(&jobs->extras);
    jobs->extras.items[row->extra] = (struct extra_row){
        .priority_user = INTERN_NONE,
        .cancel_user = INTERN_NONE,
        .cancel_reason = INTERN_NONE,
        .preempt_user = INTERN_NONE,
        .preempt_reason = INTERN_NONE,
        .error = INTERN_NONE,
        .error_message = INTERN_NONE,
        .error_category = INTERN_NONE,
        .error_subcategory = INTERN_NONE,
        .hold_user = INTERN_NONE,
        .retry_policy = INTERN_NONE,
        .turn = JOBS_NONE,
    };
    return &jobs->extras.items[row->extra];
}

void extra_set(struct jobs *jobs, uint32_t *member, struct str text)
{
    uint32_t fresh = intern_add(&jobs->strings, text);

    intern_unref(&jobs->strings, *member);
    *member = fresh;
}

/* Who is unproven: apart from the rows, so that none changes when all are
 * proven at once. */

void jobs_set_unproven(struct jobs *jobs, uint32_t job, bool is_unproven)
{
    uint64_t bit = (uint64_t)1 << job % 64;

    while (is_unproven && jobs->unproven.count <= job / 64) {
        VEC_PUSH(&jobs->unproven, 0);
    }
    if (is_unproven) {
        jobs->unproven.items[job / 64] |= bit;
    } else if (job / 64 < jobs->unproven.count) {
        jobs->unproven.items[job / 64] &= ~bit;
    }
}

bool jobs_is_unproven(const struct jobs *jobs, uint32_t job)
{
    return row_has_bit(jobs->unproven.items, jobs->unproven.count, job);
}

void jobs_prove_all(struct jobs *jobs)
{
    jobs->unproven.count = 0;
}
