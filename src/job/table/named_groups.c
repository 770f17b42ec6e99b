#include "job/table/named_groups.h"

#include "job/table/jobs_private.h"

/* Rows. */

static uint32_t row_find(const struct jobs *jobs, struct str queue,
                         struct str name)
{
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    return intern_find(&jobs->named.names, strbuf_str(&key));
}

uint32_t named_group_find(const struct jobs *jobs, struct str queue,
                          struct str name)
{
    uint32_t index = row_find(jobs, queue, name);

    return index == INTERN_NONE ? JOBS_NONE : index;
}

/* Let the gang of this queue and id be a row's as soon as its pods come. */
static void expect_gang(struct jobs *jobs, uint32_t index, struct str gang_id)
{
    struct named_group *row = &jobs->named.rows.items[index];
    uint32_t queue = intern_add(&jobs->queues, str_of(row->queue));

    row->queue_index = queue;
    row->of_id = gang_id_add(jobs, queue, gang_id);
    while (jobs->named.by_gang_id.count <= row->of_id) {
        VEC_PUSH(&jobs->named.by_gang_id, JOBS_NONE);
    }
    jobs->named.by_gang_id.items[row->of_id] = index;
}

uint32_t named_group_make(struct jobs *jobs, struct str queue, struct str name,
                          struct str gang_id)
{
    struct named_groups *named = &jobs->named;
    auto_strbuf key = {0};

    strbuf_add_str(&key, queue);
    strbuf_add_char(&key, '\0');
    strbuf_add_str(&key, name);
    uint32_t index = intern_add(&named->names, strbuf_str(&key));
    while (named->rows.count <= index) {
        VEC_PUSH(&named->rows, (struct named_group){0});
    }
    named->rows.items[index] = (struct named_group){
        .queue = str_dup(queue),
        .name = str_dup(name),
        .gang_id = str_dup(gang_id),
        .queue_index = INTERN_NONE,
        .of_id = INTERN_NONE,
        .gang = JOBS_NONE,
    };
    if (gang_id.byte_count) {
        expect_gang(jobs, index, gang_id);
    }
    named->count++;
    return index;
}

static void row_fini(struct named_group *row)
{
    mem_free(row->queue);
    mem_free(row->name);
    mem_free(row->gang_id);
    mem_free(row->encoded);
    mem_free(row->reason);
    mem_free(row->failure);
    mem_free(row->gang_key);
    mem_free(row->group);
    *row = (struct named_group){0};
}

/* Its pods go on without it. */
static void release_gang(struct jobs *jobs, uint32_t index)
{
    struct named_group *row = &jobs->named.rows.items[index];

    if (row->gang != JOBS_NONE) {
        ASSERT(jobs->gang_rows.items[row->gang].group == row->group);
        row->group->name = JOBS_NONE;
        row->group = NULL;
    }
    if (row->of_id != INTERN_NONE) {
        if (jobs->named.by_gang_id.items[row->of_id] == index) {
            jobs->named.by_gang_id.items[row->of_id] = JOBS_NONE;
        }
        intern_unref(&jobs->gang_ids, row->of_id);
        intern_unref(&jobs->queues, row->queue_index);
    }
}

static void row_drop(struct jobs *jobs, uint32_t index)
{
    struct named_groups *named = &jobs->named;
    struct named_group *row = &named->rows.items[index];

    ASSERT(named->count > 0);
    ASSERT(named->byte_count >= row->byte_count);
    if (row->completed_ms) {
        ASSERT(named->over_count > 0);
        ASSERT(named->over_byte_count >= row->byte_count);
        named->over_count--;
        named->over_byte_count -= row->byte_count;
    }
    named->byte_count -= row->byte_count;
    named->count--;
    release_gang(jobs, index);
    row_fini(row);
    intern_unref(&named->names, index);
}

void named_groups_fini(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->named.rows.count; i++) {
        row_fini(&jobs->named.rows.items[i]);
    }
    VEC_FREE(&jobs->named.rows);
    VEC_FREE(&jobs->named.by_gang_id);
    VEC_FREE(&jobs->named.touched);
    intern_fini(&jobs->named.names);
}

/* Room. */

uint32_t named_groups_count(const struct jobs *jobs)
{
    return jobs->named.count;
}

bool named_groups_have_room(const struct jobs *jobs, size_t byte_count)
{
    const struct named_groups *named = &jobs->named;

    return named->count - named->over_count < NAMED_GROUPS_MAX &&
           named->byte_count - named->over_byte_count + byte_count <=
               NAMED_GROUPS_BYTES_MAX;
}

int named_groups_compare(const struct named_group *a,
                         const struct named_group *b)
{
    int c = str_compare(str_of(a->queue), str_of(b->queue));

    return c ? c : str_compare(str_of(a->name), str_of(b->name));
}

/* The one that ended first, or JOBS_NONE. */
static uint32_t first_over(const struct jobs *jobs)
{
    const struct named_groups *named = &jobs->named;
    uint32_t best = JOBS_NONE;

    for (uint32_t i = 0; i < named->rows.count; i++) {
        const struct named_group *row = &named->rows.items[i];
        if (!row->queue || row->completed_ms == 0) {
            continue;
        }
        const struct named_group *than =
            best == JOBS_NONE ? NULL : &named->rows.items[best];
        if (!than || row->completed_ms < than->completed_ms ||
            (row->completed_ms == than->completed_ms &&
             named_groups_compare(row, than) < 0)) {
            best = i;
        }
    }
    ASSERT((best == JOBS_NONE) == (named->over_count == 0));
    return best;
}

void named_groups_expire(struct jobs *jobs, int64_t now_ms)
{
    struct named_groups *named = &jobs->named;

    while (named->over_count > 0 &&
           named->completed_ms_min <= now_ms - NAMED_GROUP_KEPT_MS) {
        uint32_t index = first_over(jobs);
        named->completed_ms_min = named->rows.items[index].completed_ms;
        if (named->completed_ms_min <= now_ms - NAMED_GROUP_KEPT_MS) {
            row_drop(jobs, index);
        }
    }
}

/* What the log says. */

static void describe(struct jobs *jobs, struct named_group *row,
                     const struct named_group_record *record)
{
    struct named_groups *named = &jobs->named;
    size_t before = row->byte_count;

    mem_free(row->encoded);
    mem_free(row->reason);
    row->encoded = str_dup(record->encoded);
    row->reason = str_dup(record->reason);
    row->byte_count = record->encoded.byte_count;
    named->byte_count += row->byte_count - before;
    if (row->completed_ms) {
        named->over_byte_count += row->byte_count - before;
    }
}

static bool is_full(const struct jobs *jobs, size_t byte_count)
{
    return jobs->named.count >= NAMED_GROUPS_MAX ||
           jobs->named.byte_count + byte_count > NAMED_GROUPS_BYTES_MAX;
}

void named_group_set(struct jobs *jobs, const struct named_group_record *record)
{
    uint32_t index = row_find(jobs, record->queue, record->name);

    if (index != INTERN_NONE) {
        struct named_group *row = &jobs->named.rows.items[index];
        if (record->gang_id.byte_count &&
            str_equal(str_of(row->gang_id), record->gang_id)) {
            describe(jobs, row, record);
            return;
        }
        row_drop(jobs, index);
    }
    while (is_full(jobs, record->encoded.byte_count)) {
        index = first_over(jobs);
        if (index == JOBS_NONE) {
            return; /* refused before it was appended; a foreign log */
        }
        row_drop(jobs, index);
    }
    index =
        named_group_make(jobs, record->queue, record->name, record->gang_id);
    struct named_group *row = &jobs->named.rows.items[index];
    describe(jobs, row, record);
    row->created_ms = record->created_ms;
    ASSERT(jobs->named.count <= NAMED_GROUPS_MAX);
    ASSERT(jobs->named.byte_count <= NAMED_GROUPS_BYTES_MAX);
    named_group_refresh(jobs, row, record->created_ms);
}

void named_group_delete(struct jobs *jobs, struct str queue, struct str name)
{
    uint32_t index = row_find(jobs, queue, name);

    if (index != INTERN_NONE) {
        row_drop(jobs, index);
    }
}
