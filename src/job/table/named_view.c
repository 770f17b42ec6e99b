/* Groups with a name, for readers. */
#include <stdlib.h>

#include "job/table/gang_list.h"
#include "job/table/jobs_private.h"
#include "job/table/page.h"

/* What the comparison of indexes needs. */
struct sorted_row {
    const struct named_group *row;
    uint32_t index;
};

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted_row *x = a;
    const struct sorted_row *y = b;

    return named_groups_compare(x->row, y->row);
}

uint32_t *named_groups_sorted(const struct jobs *jobs, uint32_t *ret_count)
{
    auto_mem struct sorted_row *rows =
        mem_alloc_array((size_t)jobs->named.count + 1, sizeof(*rows));
    uint32_t *indexes =
        mem_alloc_array((size_t)jobs->named.count + 1, sizeof(*indexes));
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->named.rows.count; i++) {
        if (jobs->named.rows.items[i].queue) {
            rows[count++] = (struct sorted_row){&jobs->named.rows.items[i], i};
        }
    }
    ASSERT(count == jobs->named.count);
    qsort(rows, count, sizeof(*rows), compare_sorted);
    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = rows[i].index;
    }
    *ret_count = count;
    return indexes;
}

/* What a page of them is made of. */
struct asked {
    const struct jobs *jobs;
    const struct named_group_query *query;
};

static bool is_wanted(const void *of, uint32_t index)
{
    const struct asked *asked = of;
    const struct named_group *row = &asked->jobs->named.rows.items[index];
    const struct named_group_query *query = asked->query;

    if (!row->queue) {
        return false;
    }
    if ((query->queue.byte_count > 0 &&
         !str_equal(query->queue, str_of(row->queue))) ||
        (query->name.byte_count > 0 &&
         !str_equal(query->name, str_of(row->name)))) {
        return false;
    }
    if (query->after_name.byte_count == 0) {
        return true;
    }
    int c = str_compare(str_of(row->queue), query->after_queue);
    return c > 0 ||
           (c == 0 && str_compare(str_of(row->name), query->after_name) > 0);
}

static int compare_indexes(const void *of, uint32_t a, uint32_t b)
{
    const struct jobs *jobs = ((const struct asked *)of)->jobs;

    return named_groups_compare(&jobs->named.rows.items[a],
                                &jobs->named.rows.items[b]);
}

uint32_t named_groups_page(const struct jobs *jobs,
                           const struct named_group_query *query,
                           uint32_t *ret_indexes, bool *ret_has_more)
{
    struct asked asked = {jobs, query};
    struct page_source source = {.wants = is_wanted,
                                 .compare = compare_indexes,
                                 .of = &asked,
                                 .item_count =
                                     (uint32_t)jobs->named.rows.count};

    return page_first(&source, query->count_max, ret_indexes, ret_has_more);
}

static struct str reason_of(const struct named_group *row,
                            enum group_phase phase)
{
    if (phase != PHASE_FAILED) {
        return STR("");
    }
    if (row->reason[0]) {
        return str_of(row->reason);
    }
    return row->failure ? str_of(row->failure) : STR("cancelled");
}

void named_group_get(const struct jobs *jobs, uint32_t index,
                     struct named_group_view *ret_view)
{
    const struct named_group *row = &jobs->named.rows.items[index];
    enum group_phase phase = named_group_phase(row);

    *ret_view = (struct named_group_view){
        .queue = str_of(row->queue),
        .name = str_of(row->name),
        .gang_id = str_of(row->gang_id),
        .encoded = str_make(row->encoded, row->byte_count),
        .phase = phase,
        .reason = reason_of(row, phase),
        .created_ms = row->created_ms,
        .started_ms = row->started_ms,
        .completed_ms = row->completed_ms,
        .sub_group_count = row->group ? row->group->part_count : 0,
    };
    for (uint32_t i = 0; i < ret_view->sub_group_count; i++) {
        const struct group_part *part = &row->group->parts[i];
        ret_view->counts[i] = part->count;
        ret_view->min_counts[i] = part->min_count;
        ret_view->max_counts[i] = part->max_count;
    }
}

uint32_t named_group_members(const struct jobs *jobs, uint32_t index,
                             struct arena *arena, struct job_id **ret_jobs)
{
    uint32_t gang = jobs->named.rows.items[index].gang;

    *ret_jobs = NULL;
    return gang == JOBS_NONE ? 0
                             : gang_list_members(jobs, gang, arena, ret_jobs);
}
