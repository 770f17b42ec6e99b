/* The gangs of the table: their members, and what these share. */
#include "job/table/jobs_private.h"

/* Gangs: the name is the queue's index and all that members must share, so
 * that a digest can be given back as it came. */

uint32_t gang_id_add(struct jobs *jobs, uint32_t queue, struct str gang_id)
{
    auto_strbuf key = {0};

    strbuf_add(&key, &queue, QUEUE_KEY_BYTES);
    pack_str(&key, gang_id);
    uint32_t index = intern_add(&jobs->gang_ids, strbuf_str(&key));
    while (jobs->gang_heads.count <= index) {
        VEC_PUSH(&jobs->gang_heads, JOBS_NONE);
    }
    return index;
}

/* A new gang is listed with those of its queue and id. */
static void list_by_id(struct jobs *jobs, uint32_t gang, uint32_t queue,
                       struct str gang_id)
{
    struct gang_row *row = &jobs->gang_rows.items[gang];

    row->of_id = gang_id_add(jobs, queue, gang_id);
    row->next_of_id = jobs->gang_heads.items[row->of_id];
    jobs->gang_heads.items[row->of_id] = gang;
}

static void unlist_by_id(struct jobs *jobs, uint32_t gang)
{
    struct gang_row *row = &jobs->gang_rows.items[gang];
    uint32_t *link = &jobs->gang_heads.items[row->of_id];

    while (*link != gang) {
        ASSERT(*link != JOBS_NONE); /* each gang is listed by its id */
        link = &jobs->gang_rows.items[*link].next_of_id;
    }
    *link = row->next_of_id;
    intern_unref(&jobs->gang_ids, row->of_id);
}

uint32_t jobs_gang_first_of_id(const struct jobs *jobs, uint32_t gang)
{
    uint32_t first = jobs->gang_heads.items[jobs->gang_rows.items[gang].of_id];

    /* A gang of an id has that id. */
    ASSERT(jobs->gang_rows.items[first].of_id ==
           jobs->gang_rows.items[gang].of_id);
    return first;
}

void jobs_gang_join(struct jobs *jobs, uint32_t job, struct str queue,
                    const struct job_digest *digest)
{
    auto_strbuf key = {0};
    struct job_row *row = &jobs->rows.items[job];
    uint32_t queue_index = intern_find(&jobs->queues, queue);

    ASSERT(queue_index != INTERN_NONE); /* its job set has made it known */
    strbuf_add(&key, &queue_index, QUEUE_KEY_BYTES);
    pack_str(&key, digest->gang_id);
    pack_u64(&key, digest->gang_cardinality);
    pack_u64(&key, digest->gang_minimum);
    pack_str(&key, digest->gang_uniformity);
    pack_str(&key, digest->gang_terms);
    row->gang = intern_add(&jobs->gangs, strbuf_str(&key));
    while (jobs->gang_rows.count <= row->gang) {
        VEC_PUSH(&jobs->gang_rows, (struct gang_row){0});
    }
    struct gang_row *gang = &jobs->gang_rows.items[row->gang];
    if (gang->members.count == 0) {
        ASSERT(!gang->group); /* what has no members counts none */
        gang->group = group_create(digest->gang_terms);
        list_by_id(jobs, row->gang, queue_index, digest->gang_id);
        named_group_adopt(jobs, row->gang);
    }
    VEC_PUSH(&gang->members, job);
}

void jobs_gang_leave(struct jobs *jobs, uint32_t job)
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
        unlist_by_id(jobs, gang_index);
        VEC_FREE(&gang->members);
        named_group_leave(jobs, gang);
    }
    intern_unref(&jobs->gangs, gang_index);
}

struct str jobs_gang_key(const struct jobs *jobs, uint32_t gang)
{
    struct str key = intern_get(&jobs->gangs, gang);

    return str_make(key.p + QUEUE_KEY_BYTES, key.byte_count - QUEUE_KEY_BYTES);
}

bool gang_key_unpack(struct str key, struct job_digest *digest)
{
    struct pack_reader reader = {.rest = key};

    digest->gang_id = unpack_str(&reader);
    digest->gang_cardinality = unpack_count(&reader, UINT32_MAX);
    digest->gang_minimum = unpack_count(&reader, UINT32_MAX);
    digest->gang_uniformity = unpack_str(&reader);
    digest->gang_terms = unpack_str(&reader);
    return !reader.is_bad;
}

void jobs_gang_get(const struct jobs *jobs, uint32_t gang,
                   struct job_digest *digest)
{
    bool is_key = gang_key_unpack(jobs_gang_key(jobs, gang), digest);

    ASSERT(is_key); /* it was made of a digest */
}
