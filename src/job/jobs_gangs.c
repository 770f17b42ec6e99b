/* The gangs of the table: who is in which, and what they share. */
#include "job/jobs_private.h"

/* Gangs: the name is the queue's index and all that members must share, so
 * that a digest can be given back as it came. */

void jobs_gang_join(struct jobs *jobs, uint32_t job, struct str queue,
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
