/* TrainingJobs, for reading. */
#include <stdlib.h>

#include "job/table/page.h"
#include "job/training/training_private.h"

/* What the comparison of indexes needs. */
struct sorted_row {
    const struct training_entry *row;
    uint32_t index;
};

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted_row *x = a;
    const struct sorted_row *y = b;

    return training_rows_compare(x->row, y->row);
}

uint32_t *training_sorted(const struct training *training, uint32_t *ret_count)
{
    auto_mem struct sorted_row *rows =
        mem_alloc_array((size_t)training->count + 1, sizeof(*rows));
    uint32_t *indexes =
        mem_alloc_array((size_t)training->count + 1, sizeof(*indexes));
    uint32_t count = 0;

    for (uint32_t i = 0; i < training->rows.count; i++) {
        if (training->rows.items[i].queue) {
            rows[count++] = (struct sorted_row){&training->rows.items[i], i};
        }
    }
    ASSERT(count == training->count);
    qsort(rows, count, sizeof(*rows), compare_sorted);
    for (uint32_t i = 0; i < count; i++) {
        indexes[i] = rows[i].index;
    }
    *ret_count = count;
    return indexes;
}

/* What a page of them is made of. */
struct asked {
    const struct training *training;
    const struct training_query *query;
};

static bool is_wanted(const void *of, uint32_t index)
{
    const struct asked *asked = of;
    const struct training_entry *row = &asked->training->rows.items[index];
    const struct training_query *query = asked->query;

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
    const struct training *training = ((const struct asked *)of)->training;

    return training_rows_compare(&training->rows.items[a],
                                 &training->rows.items[b]);
}

uint32_t training_page(const struct training *training,
                       const struct training_query *query,
                       uint32_t *ret_indexes, bool *ret_has_more)
{
    struct asked asked = {training, query};
    struct page_source source = {.wants = is_wanted,
                                 .compare = compare_indexes,
                                 .of = &asked,
                                 .item_count = (uint32_t)training->rows.count};

    return page_first(&source, query->count_max, ret_indexes, ret_has_more);
}

static struct str reason_of(const struct training_entry *row,
                            enum training_phase phase)
{
    if (phase != TRAINING_FAILED) {
        return STR("");
    }
    if (row->reason[0]) {
        return str_of(row->reason);
    }
    return row->failure ? str_of(row->failure) : STR("cancelled");
}

void training_get(const struct training *training, uint32_t index,
                  struct training_view *ret_view)
{
    const struct training_entry *row = &training->rows.items[index];
    enum training_phase phase = training_phase_of(row);

    *ret_view = (struct training_view){
        .queue = str_of(row->queue),
        .name = str_of(row->name),
        .encoded = str_make(row->encoded, row->byte_count),
        .phase = phase,
        .reason = reason_of(row, phase),
        .created_ms = row->created_ms,
        .started_ms = row->started_ms,
        .completed_ms = row->completed_ms,
        .part_count = row->part_count,
    };
    memcpy(ret_view->parts, row->parts, sizeof(row->parts));
}

bool training_next_live(const struct training *training, uint32_t index,
                        struct job_id after, struct job_id *ret_job)
{
    const struct training_entry *row = &training->rows.items[index];
    uint32_t at = training_member_from(row, after);

    if (at < row->member_count &&
        key128_compare(row->members[at].id.v, after.v) == 0) {
        at++;
    }
    while (at < row->member_count &&
           !training_pod_is_live(row->members[at].state)) {
        at++;
    }
    if (at == row->member_count) {
        return false;
    }
    *ret_job = row->members[at].id;
    return true;
}
