/* The job sets of the table, with their jobs. */
#include "job/table/jobs_private.h"

/* Job sets: the name is the queue's index and the set's name. */

static void set_key(struct strbuf *buf, uint32_t queue, struct str job_set)
{
    strbuf_add(buf, &queue, QUEUE_KEY_BYTES);
    strbuf_add_str(buf, job_set);
}

uint32_t set_find(const struct jobs *jobs, struct str queue, struct str job_set)
{
    auto_strbuf key = {0};
    uint32_t queue_index = intern_find(&jobs->queues, queue);

    if (queue_index == INTERN_NONE) {
        return INTERN_NONE;
    }
    set_key(&key, queue_index, job_set);
    return intern_find(&jobs->sets, strbuf_str(&key));
}

static uint32_t queue_of_key(struct str key)
{
    uint32_t queue;

    memcpy(&queue, key.p, QUEUE_KEY_BYTES);
    return queue;
}

uint32_t set_queue(const struct jobs *jobs, uint32_t set)
{
    return queue_of_key(intern_get(&jobs->sets, set));
}

void set_get(const struct jobs *jobs, uint32_t set, struct str *ret_queue,
             struct str *ret_job_set)
{
    struct str key = intern_get(&jobs->sets, set);

    *ret_queue = intern_get(&jobs->queues, queue_of_key(key));
    *ret_job_set =
        str_make(key.p + QUEUE_KEY_BYTES, key.byte_count - QUEUE_KEY_BYTES);
}

void jobs_set_join(struct jobs *jobs, uint32_t job, struct str queue,
                   struct str job_set)
{
    auto_strbuf key = {0};
    struct job_row *row = &jobs->rows.items[job];
    uint32_t queue_index = intern_add(&jobs->queues, queue);

    set_key(&key, queue_index, job_set);
    row->set = intern_add(&jobs->sets, strbuf_str(&key));
    while (jobs->set_lists.count <= row->set) {
        VEC_PUSH(&jobs->set_lists, (struct list_row){0});
    }
    struct list_row *list = &jobs->set_lists.items[row->set];
    if (list->count == 0) {
        *list = (struct list_row){JOBS_NONE, JOBS_NONE, 0};
    } else {
        intern_unref(&jobs->queues, queue_index); /* a set holds one */
    }
    ASSERT(list->count == 0 || jobs->rows.items[list->last].set == row->set);
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

/* Whether a job's neighbours in its set, or the set's ends, lead back to it. */
static bool is_linked(const struct jobs *jobs, uint32_t job)
{
    const struct job_row *row = &jobs->rows.items[job];
    const struct list_row *list = &jobs->set_lists.items[row->set];
    uint32_t to = row->set_prev == JOBS_NONE
                      ? list->first
                      : jobs->rows.items[row->set_prev].set_next;
    uint32_t back = row->set_next == JOBS_NONE
                        ? list->last
                        : jobs->rows.items[row->set_next].set_prev;

    return to == job && back == job;
}

void jobs_set_leave(struct jobs *jobs, uint32_t job)
{
    struct job_row *row = &jobs->rows.items[job];
    struct list_row *list = &jobs->set_lists.items[row->set];

    ASSERT(list->count > 0 && is_linked(jobs, job));
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
    list->count--;
    ASSERT((list->count == 0) == (list->first == JOBS_NONE));
    if (list->count == 0) {
        uint32_t queue = queue_of_key(intern_get(&jobs->sets, row->set));
        intern_unref(&jobs->queues, queue);
    }
    intern_unref(&jobs->sets, row->set);
}
