#include "job/table/gang_list.h"

#include <stdlib.h>

#include "job/table/jobs_private.h"
#include "job/table/page.h"

/* What a gang goes by. */
struct gang_name {
    struct str queue, gang_id;
};

static struct gang_name name_of(const struct jobs *jobs, uint32_t gang)
{
    struct str key = intern_get(&jobs->gangs, gang);
    struct job_digest digest = {0};
    uint32_t queue;

    memcpy(&queue, key.p, QUEUE_KEY_BYTES);
    jobs_gang_get(jobs, gang, &digest);
    return (struct gang_name){intern_get(&jobs->queues, queue), digest.gang_id};
}

static int compare_names(const struct gang_name *a, const struct gang_name *b)
{
    int c = str_compare(a->queue, b->queue);

    return c ? c : str_compare(a->gang_id, b->gang_id);
}

struct job_id gang_list_oldest(const struct jobs *jobs, uint32_t gang)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    ASSERT(row->members.count > 0); /* the last takes the gang with it */
    struct job_id oldest = jobs->rows.items[row->members.items[0]].id;

    for (size_t i = 1; i < row->members.count; i++) {
        struct job_id id = jobs->rows.items[row->members.items[i]].id;
        if (key128_compare(id.v, oldest.v) < 0) {
            oldest = id;
        }
    }
    return oldest;
}

/* What a page of gangs is made of. */
struct asked {
    const struct jobs *jobs;
    const struct gang_query *query;
};

/* Gangs of one id with other terms stand in the order of their oldest jobs. */
static int compare_gangs(const void *of, uint32_t a, uint32_t b)
{
    const struct jobs *jobs = ((const struct asked *)of)->jobs;
    struct gang_name x = name_of(jobs, a), y = name_of(jobs, b);
    int c = compare_names(&x, &y);

    return c || a == b ? c
                       : key128_compare(gang_list_oldest(jobs, a).v,
                                        gang_list_oldest(jobs, b).v);
}

static bool is_behind(const struct jobs *jobs, uint32_t gang,
                      const struct gang_name *name,
                      const struct gang_query *query)
{
    struct gang_name after = {query->after_queue, query->after_gang_id};
    int c = compare_names(name, &after);

    return c > 0 || (c == 0 && !key128_is_none(query->after_job.v) &&
                     key128_compare(gang_list_oldest(jobs, gang).v,
                                    query->after_job.v) > 0);
}

static bool is_wanted(const void *of, uint32_t gang)
{
    const struct jobs *jobs = ((const struct asked *)of)->jobs;
    const struct gang_query *query = ((const struct asked *)of)->query;

    if (jobs->gang_rows.items[gang].members.count == 0) {
        return false;
    }
    struct gang_name name = name_of(jobs, gang);
    if ((query->queue.byte_count > 0 && !str_equal(query->queue, name.queue)) ||
        (query->gang_id.byte_count > 0 &&
         !str_equal(query->gang_id, name.gang_id))) {
        return false;
    }
    return query->after_gang_id.byte_count == 0 ||
           is_behind(jobs, gang, &name, query);
}

uint32_t gang_list_page(const struct jobs *jobs, const struct gang_query *query,
                        uint32_t *ret_gangs, bool *ret_has_more)
{
    struct asked asked = {jobs, query};
    struct page_source source = {.wants = is_wanted,
                                 .compare = compare_gangs,
                                 .of = &asked,
                                 .item_count = (uint32_t)jobs->gang_rows.count};

    return page_first(&source, query->count_max, ret_gangs, ret_has_more);
}

/* A plain gang as one sub-group. */
static void fill_plain(const struct jobs *jobs, uint32_t gang,
                       struct group_view *ret_view)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    struct job_digest digest = {0};
    struct group_count *count = &ret_view->counts[0];

    jobs_gang_get(jobs, gang, &digest);
    ret_view->gang_id = digest.gang_id;
    ret_view->terms.sub_group_count = 1;
    ret_view->terms.sub_groups[0].min_count = digest.gang_minimum;
    ret_view->terms.sub_groups[0].max_count = digest.gang_cardinality;
    for (size_t i = 0; i < row->members.count; i++) {
        bool waits = jobs_state(jobs, row->members.items[i]) == JOB_QUEUED;
        count->waiting += waits;
        count->running += !waits;
    }
}

void gang_list_get(const struct jobs *jobs, uint32_t gang,
                   struct gang_entry *ret_entry)
{
    struct job_view first;

    ASSERT(jobs->gang_rows.items[gang].members.count > 0);
    jobs_get(jobs, jobs->gang_rows.items[gang].members.items[0], &first);
    *ret_entry = (struct gang_entry){
        .queue = name_of(jobs, gang).queue,
        .job_set = first.job_set,
    };
    ret_entry->has_terms = jobs_group(jobs, gang, &ret_entry->group);
    if (!ret_entry->has_terms) {
        fill_plain(jobs, gang, &ret_entry->group);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const struct job_id *x = a;
    const struct job_id *y = b;

    return key128_compare(x->v, y->v);
}

uint32_t gang_list_members(const struct jobs *jobs, uint32_t gang,
                           struct arena *arena, struct job_id **ret_jobs)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    uint32_t count = (uint32_t)row->members.count;
    struct job_id *ids = arena_alloc_array(arena, count, sizeof(*ids));

    for (uint32_t i = 0; i < count; i++) {
        struct job_view view;
        jobs_get(jobs, row->members.items[i], &view);
        ids[i] = view.id;
    }
    qsort(ids, count, sizeof(*ids), compare_ids);
    *ret_jobs = ids;
    return count;
}
