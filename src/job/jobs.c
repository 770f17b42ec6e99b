#include "job/jobs.h"

#include <stdlib.h>

#include "base/hash.h"
#include "job/jobs_private.h"

enum { SLOTS_MIN = 64, QUEUE_KEY_BYTES = 4 };

/* Index of ids. */

static struct key128 id_of(const void *rows, size_t row_bytes, uint32_t row)
{
    struct key128 id;

    memcpy(&id, (const char *)rows + row_bytes * row, sizeof(id));
    return id;
}

static uint32_t id_home(const struct id_index *index, struct key128 id)
{
    return (uint32_t)hash_mix(hash_mix(id.hi) ^ id.lo) &
           (index->slot_count - 1);
}

static uint32_t id_slot(const struct id_index *index, const void *rows,
                        size_t row_bytes, struct key128 id)
{
    uint32_t at = id_home(index, id);

    while (index->slots[at] != JOBS_NONE) {
        struct key128 other = id_of(rows, row_bytes, index->slots[at]);
        if (other.hi == id.hi && other.lo == id.lo) {
            break;
        }
        at = (at + 1) & (index->slot_count - 1);
    }
    return at;
}

uint32_t id_index_find(const struct id_index *index, const void *rows,
                       size_t row_bytes, struct key128 id)
{
    return index->slot_count ? index->slots[id_slot(index, rows, row_bytes, id)]
                             : JOBS_NONE;
}

static void id_index_grow(struct id_index *index, const void *rows,
                          size_t row_bytes)
{
    struct id_index old = *index;

    index->slot_count = old.slot_count ? old.slot_count * 2 : SLOTS_MIN;
    index->slots = mem_alloc_array(index->slot_count, sizeof(*index->slots));
    memset(index->slots, 0xff,
           (size_t)index->slot_count * sizeof(*index->slots));
    for (uint32_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i] != JOBS_NONE) {
            struct key128 id = id_of(rows, row_bytes, old.slots[i]);
            index->slots[id_slot(index, rows, row_bytes, id)] = old.slots[i];
        }
    }
    mem_free(old.slots);
}

void id_index_add(struct id_index *index, const void *rows, size_t row_bytes,
                  uint32_t row)
{
    if (((uint64_t)index->count + 1) * 4 > (uint64_t)index->slot_count * 3) {
        id_index_grow(index, rows, row_bytes);
    }
    struct key128 id = id_of(rows, row_bytes, row);
    uint32_t at = id_slot(index, rows, row_bytes, id);
    ASSERT(index->slots[at] == JOBS_NONE);
    index->slots[at] = row;
    index->count++;
}

void id_index_remove(struct id_index *index, const void *rows, size_t row_bytes,
                     struct key128 id)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t hole = id_slot(index, rows, row_bytes, id);

    ASSERT(index->slots[hole] != JOBS_NONE);
    for (uint32_t at = (hole + 1) & mask; index->slots[at] != JOBS_NONE;
         at = (at + 1) & mask) {
        uint32_t home =
            id_home(index, id_of(rows, row_bytes, index->slots[at]));
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = JOBS_NONE;
    index->count--;
}

/* Job sets: the name is the queue's index and the set's name. */

static void set_key(struct strbuf *buf, uint32_t queue, struct str job_set)
{
    strbuf_add(buf, &queue, QUEUE_KEY_BYTES);
    strbuf_add_str(buf, job_set);
}

uint32_t set_find(const struct jobs *jobs, struct str queue, struct str job_set)
{
    auto_strbuf key = {0};
    uint32_t queue_index = names_find(&jobs->queues, queue);

    if (queue_index == NAMES_NONE) {
        return NAMES_NONE;
    }
    set_key(&key, queue_index, job_set);
    return names_find(&jobs->sets, strbuf_str(&key));
}

static uint32_t queue_of_key(struct str key)
{
    uint32_t queue;

    memcpy(&queue, key.p, QUEUE_KEY_BYTES);
    return queue;
}

void set_get(const struct jobs *jobs, uint32_t set, struct str *ret_queue,
             struct str *ret_job_set)
{
    struct str key = names_get(&jobs->sets, set);

    *ret_queue = names_get(&jobs->queues, queue_of_key(key));
    *ret_job_set =
        str_make(key.p + QUEUE_KEY_BYTES, key.byte_count - QUEUE_KEY_BYTES);
}

static void set_join(struct jobs *jobs, uint32_t job, struct str queue,
                     struct str job_set)
{
    auto_strbuf key = {0};
    struct job_row *row = &jobs->rows.items[job];
    uint32_t queue_index = names_add(&jobs->queues, queue);

    set_key(&key, queue_index, job_set);
    row->set = names_add(&jobs->sets, strbuf_str(&key));
    while (jobs->set_lists.count <= row->set) {
        VEC_PUSH(&jobs->set_lists, (struct list_row){0});
    }
    struct list_row *list = &jobs->set_lists.items[row->set];
    if (list->count == 0) {
        *list = (struct list_row){JOBS_NONE, JOBS_NONE, 0};
    } else {
        names_unref(&jobs->queues, queue_index); /* a set holds one */
    }
    row->set_prev = list->last;
    row->set_next = JOBS_NONE;
    if (list->last != JOBS_NONE) {
        jobs->rows.items[list->last].set_next = job;
    } else {
        list->first = job;
    }
    list->last = job;
    list->count++;
}

static void set_leave(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];
    struct list_row *list = &jobs->set_lists.items[row->set];

    if (row->set_prev != JOBS_NONE) {
        jobs->rows.items[row->set_prev].set_next = row->set_next;
    } else {
        list->first = row->set_next;
    }
    if (row->set_next != JOBS_NONE) {
        jobs->rows.items[row->set_next].set_prev = row->set_prev;
    } else {
        list->last = row->set_prev;
    }
    if (--list->count == 0) {
        uint32_t queue = queue_of_key(names_get(&jobs->sets, row->set));
        names_unref(&jobs->queues, queue);
    }
    names_unref(&jobs->sets, row->set);
}

/* Gangs: the name is the queue's index and all that members must share, so
 * that a digest can be given back as it came. */

static void gang_join(struct jobs *jobs, uint32_t job, struct str queue,
                      const struct job_digest *digest)
{
    auto_strbuf key = {0};
    struct job_row *row = &jobs->rows.items[job];
    uint32_t queue_index = names_find(&jobs->queues, queue);

    strbuf_add(&key, &queue_index, QUEUE_KEY_BYTES);
    pack_str(&key, digest->gang_id);
    pack_u64(&key, digest->gang_cardinality);
    pack_u64(&key, digest->gang_minimum);
    pack_str(&key, digest->gang_uniformity);
    pack_str(&key, digest->gang_terms);
    row->gang = names_add(&jobs->gangs, strbuf_str(&key));
    while (jobs->gang_rows.count <= row->gang) {
        VEC_PUSH(&jobs->gang_rows, (struct gang_row){0});
    }
    struct gang_row *gang = &jobs->gang_rows.items[row->gang];
    if (gang->members.count == 0) {
        gang->group = group_create(digest->gang_terms);
    }
    VEC_PUSH(&gang->members, job);
}

static void gang_leave(struct jobs *jobs, uint32_t job)
{
    uint32_t gang_index = jobs->rows.items[job].gang;
    struct gang_row *gang = &jobs->gang_rows.items[gang_index];
    size_t at = 0;

    while (gang->members.items[at] != job) {
        at++;
        ASSERT(at < gang->members.count);
    }
    gang->members.items[at] = gang->members.items[--gang->members.count];
    if (gang->members.count == 0) {
        VEC_FREE(&gang->members);
        mem_free(gang->group);
        gang->group = NULL;
    }
    names_unref(&jobs->gangs, gang_index);
}

void jobs_gang_get(const struct jobs *jobs, uint32_t gang,
                   struct job_digest *digest)
{
    struct str key = names_get(&jobs->gangs, gang);
    struct pack_reader reader = {
        .rest = str_make(key.p + QUEUE_KEY_BYTES,
                         key.byte_count - QUEUE_KEY_BYTES)};

    digest->gang_id = unpack_str(&reader);
    digest->gang_cardinality = unpack_count(&reader, UINT32_MAX);
    digest->gang_minimum = unpack_count(&reader, UINT32_MAX);
    digest->gang_uniformity = unpack_str(&reader);
    digest->gang_terms = unpack_str(&reader);
    ASSERT(!reader.is_bad);
}

/* Rows. */

void row_set_state(struct jobs *jobs, uint32_t job, enum job_state state)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->gang != JOBS_NONE) {
        group_moved(jobs, job, (enum job_state)row->state, state);
    }
    if (row->state != JOB_NONE) {
        jobs->counts.by_state[row->state]--;
    }
    row->state = (uint8_t)state;
    if (state != JOB_NONE) {
        jobs->counts.by_state[state]++;
    }
}

static uint32_t row_take(struct jobs *jobs)
{
    uint32_t job = jobs->free_row;

    if (job != JOBS_NONE) {
        jobs->free_row = jobs->rows.items[job].run;
    } else {
        ASSERT(jobs->rows.count < JOBS_MAX);
        job = (uint32_t)jobs->rows.count;
        VEC_PUSH(&jobs->rows, (struct job_row){0});
    }
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
        return digest->pool.byte_count ? names_add(&jobs->strings, digest->pool)
                                       : NAMES_NONE;
    }
    strbuf_add(&key, digest->pool.p, digest->pool.byte_count);
    strbuf_add_char(&key, '\0');
    strbuf_add(&key, digest->application_id.p,
               digest->application_id.byte_count);
    if (digest->sub_group > 0) {
        strbuf_add_char(&key, '\0');
        strbuf_add_char(&key, (char)digest->sub_group);
    }
    return names_add(&jobs->strings, strbuf_str(&key));
}

static void place_get(const struct jobs *jobs, uint32_t place,
                      struct job_digest *digest)
{
    struct str key = names_get(&jobs->strings, place);
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

uint32_t row_create(struct jobs *jobs, struct job_id id, struct str queue,
                    struct str job_set, struct str user,
                    const struct job_digest *digest)
{
    uint32_t job = row_take(jobs);
    struct job_row *row = &jobs->rows.items[job];

    row_is_new(jobs, job);
    *row = (struct job_row){
        .id = id,
        .user = names_add(&jobs->strings, user),
        .class_index = names_add(&jobs->classes, digest->class_key),
        .gang = JOBS_NONE,
        .place = place_add(jobs, digest),
        .run = JOBS_NONE,
        .extra = JOBS_NONE,
        .flags = flags_of(digest),
    };
    set_join(jobs, job, queue, job_set);
    if (digest->gang_id.byte_count) {
        gang_join(jobs, job, queue, digest);
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
    names_unref(&jobs->strings, extra->priority_user);
    names_unref(&jobs->strings, extra->cancel_user);
    names_unref(&jobs->strings, extra->cancel_reason);
    names_unref(&jobs->strings, extra->preempt_user);
    names_unref(&jobs->strings, extra->preempt_reason);
    names_unref(&jobs->strings, extra->error);
    names_unref(&jobs->strings, extra->error_message);
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        names_unref(&jobs->strings, extra->tried[i].executor);
        names_unref(&jobs->strings, extra->tried[i].node);
    }
    mem_free(extra->tried);
    extra->tried = NULL;
    extra->next_free = jobs->free_extra;
    jobs->free_extra = row->extra;
    row->extra = JOBS_NONE;
}

void row_free(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->run != JOBS_NONE) {
        run_free(jobs, job);
    }
    extra_free(jobs, job);
    id_index_remove(&jobs->by_id, jobs->rows.items, sizeof(*row), row->id.v);
    row_set_state(jobs, job, JOB_NONE);
    if (row->gang != JOBS_NONE) {
        gang_leave(jobs, job);
    }
    set_leave(jobs, job);
    names_unref(&jobs->strings, row->user);
    names_unref(&jobs->strings, row->place);
    names_unref(&jobs->classes, row->class_index);
    *row = (struct job_row){.run = jobs->free_row};
    jobs->free_row = job;
    jobs->count--;
}

struct extra_row *extra_of(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    row_will_change(jobs, job);
    if (row->extra != JOBS_NONE) {
        return &jobs->extras.items[row->extra];
    }
    if (jobs->free_extra != JOBS_NONE) {
        row->extra = jobs->free_extra;
        jobs->free_extra = jobs->extras.items[row->extra].next_free;
    } else {
        row->extra = (uint32_t)jobs->extras.count;
        VEC_PUSH(&jobs->extras, (struct extra_row){0});
    }
    jobs->extras.items[row->extra] = (struct extra_row){
        .priority_user = NAMES_NONE,
        .cancel_user = NAMES_NONE,
        .cancel_reason = NAMES_NONE,
        .preempt_user = NAMES_NONE,
        .preempt_reason = NAMES_NONE,
        .error = NAMES_NONE,
        .error_message = NAMES_NONE,
    };
    return &jobs->extras.items[row->extra];
}

void extra_set(struct jobs *jobs, uint32_t *member, struct str text)
{
    uint32_t fresh = names_add(&jobs->strings, text);

    names_unref(&jobs->strings, *member);
    *member = fresh;
}

/* Runs. */

static uint32_t run_take(struct jobs *jobs)
{
    uint32_t run = jobs->free_run;

    if (run != JOBS_NONE) {
        jobs->free_run = jobs->runs.items[run].executor;
    } else {
        run = (uint32_t)jobs->runs.count;
        VEC_PUSH(&jobs->runs, (struct run_row){0});
    }
    return run;
}

static void run_list(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];

    while (jobs->executor_lists.count <= row->executor) {
        VEC_PUSH(&jobs->executor_lists, (struct list_row){0});
    }
    struct list_row *list = &jobs->executor_lists.items[row->executor];
    if (list->count == 0) {
        *list = (struct list_row){JOBS_NONE, JOBS_NONE, 0};
    }
    row->prev = list->last;
    row->next = JOBS_NONE;
    if (list->last != JOBS_NONE) {
        jobs->runs.items[list->last].next = run;
    } else {
        list->first = run;
    }
    list->last = run;
    list->count++;
    row->is_listed = true;
}

void run_unlist(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];

    if (!row->is_listed) {
        return;
    }
    struct list_row *list = &jobs->executor_lists.items[row->executor];
    if (row->prev != JOBS_NONE) {
        jobs->runs.items[row->prev].next = row->next;
    } else {
        list->first = row->next;
    }
    if (row->next != JOBS_NONE) {
        jobs->runs.items[row->next].prev = row->prev;
    } else {
        list->last = row->prev;
    }
    list->count--;
    row->is_listed = false;
}

void run_create(struct jobs *jobs, uint32_t job, const struct job_run *run)
{
    uint32_t index = run_take(jobs);
    struct run_row *row = &jobs->runs.items[index];

    *row = (struct run_row){
        .id = run->id,
        .job = job,
        .executor = names_add(&jobs->executors, run->executor_id),
        .node = names_add(&jobs->strings, run->node_name),
        .pool = names_add(&jobs->strings, run->pool),
        .priority = run->priority,
        .leased_ms = run->leased_ms,
        .started_ms = run->started_ms,
    };
    jobs->rows.items[job].run = index;
    id_index_add(&jobs->by_run, jobs->runs.items, sizeof(*row), index);
    run_list(jobs, index);
}

void jobs_run_moved(struct jobs *jobs, uint32_t job, struct str node_name)
{
    uint32_t run = jobs->rows.items[job].run;

    if (run != JOBS_NONE) {
        row_will_change(jobs, job);
        uint32_t was = jobs->runs.items[run].node;
        jobs->runs.items[run].node = names_add(&jobs->strings, node_name);
        names_unref(&jobs->strings, was);
    }
}

void jobs_run_started(struct jobs *jobs, uint32_t job, int64_t started_ms)
{
    uint32_t run = jobs->rows.items[job].run;

    if (run != JOBS_NONE && jobs->runs.items[run].started_ms == 0) {
        row_will_change(jobs, job);
        jobs->runs.items[run].started_ms = started_ms;
    }
}

void run_free(struct jobs *jobs, uint32_t job)
{
    uint32_t index = jobs->rows.items[job].run;
    struct run_row *row = &jobs->runs.items[index];

    run_unlist(jobs, index);
    id_index_remove(&jobs->by_run, jobs->runs.items, sizeof(*row), row->id.v);
    names_unref(&jobs->executors, row->executor);
    names_unref(&jobs->strings, row->node);
    names_unref(&jobs->strings, row->pool);
    *row = (struct run_row){.job = JOBS_NONE, .executor = jobs->free_run};
    jobs->free_run = index;
    jobs->rows.items[job].run = JOBS_NONE;
}

/* The table as a whole. */

struct jobs *jobs_create(void)
{
    struct jobs *jobs = mem_alloc(sizeof(*jobs));

    jobs->free_row = jobs->free_run = jobs->free_extra = JOBS_NONE;
    return jobs;
}

void jobs_destroy(struct jobs *jobs)
{
    if (!jobs) {
        return;
    }
    jobs_snapshot_end(jobs);
    for (size_t i = 0; i < jobs->extras.count; i++) {
        mem_free(jobs->extras.items[i].tried);
    }
    for (size_t i = 0; i < jobs->gang_rows.count; i++) {
        VEC_FREE(&jobs->gang_rows.items[i].members);
        mem_free(jobs->gang_rows.items[i].group);
    }
    names_fini(&jobs->queues);
    names_fini(&jobs->sets);
    names_fini(&jobs->classes);
    names_fini(&jobs->gangs);
    names_fini(&jobs->strings);
    names_fini(&jobs->executors);
    VEC_FREE(&jobs->rows);
    VEC_FREE(&jobs->runs);
    VEC_FREE(&jobs->extras);
    VEC_FREE(&jobs->set_lists);
    VEC_FREE(&jobs->executor_lists);
    VEC_FREE(&jobs->gang_rows);
    VEC_FREE(&jobs->dirty);
    VEC_FREE(&jobs->dirty_groups);
    VEC_FREE(&jobs->below_groups);
    mem_free(jobs->by_id.slots);
    mem_free(jobs->by_run.slots);
    mem_free(jobs);
}

void jobs_set_policy(struct jobs *jobs, const struct policy *policy)
{
    jobs->policy = policy;
}

uint32_t jobs_count(const struct jobs *jobs)
{
    return jobs->count;
}

uint32_t jobs_index_end(const struct jobs *jobs)
{
    return (uint32_t)jobs->rows.count;
}

uint32_t jobs_run_index_end(const struct jobs *jobs)
{
    return (uint32_t)jobs->runs.count;
}

bool jobs_is_live(const struct jobs *jobs, uint32_t job)
{
    return job < jobs->rows.count && jobs->rows.items[job].state != JOB_NONE;
}

struct jobs_counts jobs_counts(const struct jobs *jobs)
{
    return jobs->counts;
}

uint32_t jobs_find(const struct jobs *jobs, struct job_id id)
{
    return id_index_find(&jobs->by_id, jobs->rows.items, sizeof(struct job_row),
                         id.v);
}

uint32_t jobs_find_run(const struct jobs *jobs, struct run_id id)
{
    uint32_t run = id_index_find(&jobs->by_run, jobs->runs.items,
                                 sizeof(struct run_row), id.v);

    return run == JOBS_NONE ? JOBS_NONE : jobs->runs.items[run].job;
}

static void get_run(const struct jobs *jobs, uint32_t run,
                    struct job_run *ret_run)
{
    const struct run_row *row = &jobs->runs.items[run];

    *ret_run = (struct job_run){
        .index = run,
        .id = row->id,
        .executor_id = names_get(&jobs->executors, row->executor),
        .node_name = names_get(&jobs->strings, row->node),
        .pool = names_get(&jobs->strings, row->pool),
        .priority = row->priority,
    };
}

void jobs_get(const struct jobs *jobs, uint32_t job, struct job_view *ret_view)
{
    ASSERT(jobs_is_live(jobs, job));
    const struct job_row *row = &jobs->rows.items[job];
    struct job_view view = {
        .id = row->id,
        .user = names_get(&jobs->strings, row->user),
        .class_key = names_get(&jobs->classes, row->class_index),
        .class_index = row->class_index,
        .gang_index = row->gang,
        .state = (enum job_state)row->state,
        .priority = row->priority,
        .flags = row->flags & (uint32_t)~ROW_DIRTY,
        .run_count = row->run_count,
        .attempted_count = row->attempted_count,
        .has_run = row->run != JOBS_NONE,
    };

    set_get(jobs, row->set, &view.queue, &view.job_set);
    if (view.has_run) {
        get_run(jobs, row->run, &view.run);
    }
    *ret_view = view;
}

enum job_state jobs_state(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job));
    return (enum job_state)jobs->rows.items[job].state;
}

void jobs_digest(const struct jobs *jobs, uint32_t job,
                 struct job_digest *ret_digest)
{
    ASSERT(jobs_is_live(jobs, job));
    const struct job_row *row = &jobs->rows.items[job];
    struct job_digest digest = {
        .class_key = names_get(&jobs->classes, row->class_index),
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

uint32_t jobs_tried(const struct jobs *jobs, uint32_t job,
                    struct job_tried ret_tried[JOBS_TRIED_MAX])
{
    ASSERT(jobs_is_live(jobs, job));
    uint32_t extra_index = jobs->rows.items[job].extra;

    if (extra_index == JOBS_NONE) {
        return 0;
    }
    const struct extra_row *extra = &jobs->extras.items[extra_index];
    for (uint32_t i = 0; i < extra->tried_count; i++) {
        ret_tried[i] = (struct job_tried){
            names_get(&jobs->strings, extra->tried[i].executor),
            names_get(&jobs->strings, extra->tried[i].node)};
    }
    return extra->tried_count;
}

struct str class_priority_class(struct str class_key)
{
    struct pack_reader reader = {.rest = class_key};

    /* The first two parts of a packed requirement, whatever its version. */
    unpack_u64(&reader);
    return unpack_str(&reader);
}

bool jobs_is_preemptible(const struct jobs *jobs, uint32_t job)
{
    ASSERT(jobs_is_live(jobs, job) && jobs->policy);
    struct str key =
        names_get(&jobs->classes, jobs->rows.items[job].class_index);
    uint32_t index =
        policy_class_index(jobs->policy, class_priority_class(key));

    return jobs->policy->classes[index].is_preemptible;
}

uint32_t jobs_next_on_executor(const struct jobs *jobs, struct str executor_id,
                               uint32_t job)
{
    uint32_t run;

    if (job == JOBS_NONE) {
        uint32_t executor = names_find(&jobs->executors, executor_id);
        bool has_list = executor < jobs->executor_lists.count &&
                        jobs->executor_lists.items[executor].count > 0;
        run = has_list ? jobs->executor_lists.items[executor].first : JOBS_NONE;
    } else {
        ASSERT(jobs_is_live(jobs, job));
        run = jobs->runs.items[jobs->rows.items[job].run].next;
    }
    return run == JOBS_NONE ? JOBS_NONE : jobs->runs.items[run].job;
}

/* What may be owed. */

void jobs_mark_dirty(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];

    if (row->state != JOB_NONE && !(row->flags & ROW_DIRTY)) {
        row->flags |= ROW_DIRTY;
        VEC_PUSH(&jobs->dirty, job);
    }
    if (row->state != JOB_NONE) {
        group_mark_of(jobs, job);
    }
}

void jobs_mark_all_dirty(struct jobs *jobs)
{
    enum {
        REQUESTS = JOB_FLAG_CANCEL | JOB_FLAG_PREEMPT | JOB_FLAG_PRIORITY |
                   JOB_FLAG_LOST
    };

    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        const struct job_row *row = &jobs->rows.items[job];
        if ((row->flags & REQUESTS) || row->state >= JOB_RUN_SUCCEEDED) {
            jobs_mark_dirty(jobs, job);
        } else if (row->state != JOB_NONE) {
            group_mark_of(jobs, job);
        }
    }
}

bool jobs_has_dirty(const struct jobs *jobs)
{
    return jobs->dirty.count > 0 || jobs->dirty_groups.count > 0;
}

struct sort_item {
    struct job_id id;
    uint32_t job;
};

static int compare_items(const void *a, const void *b)
{
    const struct sort_item *x = a;
    const struct sort_item *y = b;

    return key128_compare(x->id.v, y->id.v);
}

uint32_t *jobs_take_dirty(struct jobs *jobs, uint32_t count_max,
                          uint32_t *ret_count)
{
    size_t listed = jobs->dirty.count;
    auto_mem struct sort_item *items =
        mem_alloc_array(listed + 1, sizeof(*items));
    uint32_t count = 0;
    size_t rest = 0;

    for (size_t i = 0; i < listed; i++) {
        uint32_t job = jobs->dirty.items[i];
        struct job_row *row = &jobs->rows.items[job];
        if (!(row->flags & ROW_DIRTY)) {
            continue; /* it ended, or is listed twice */
        }
        if (count_max > 0 && count == count_max) {
            jobs->dirty.items[rest++] = job;
            continue;
        }
        row->flags &= (uint16_t)~ROW_DIRTY;
        items[count++] = (struct sort_item){row->id, job};
    }
    jobs->dirty.count = rest;
    qsort(items, count, sizeof(*items), compare_items);
    uint32_t *list = mem_alloc_array((size_t)count + 1, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = items[i].job;
    }
    *ret_count = count;
    return list;
}
