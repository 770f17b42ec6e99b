/* Applications: which job belongs to which, and their states. */
#include "control/fold/apps.h"

#include <stdlib.h>

#include "control/state/state.h"

struct str application_of(const struct job_view *view,
                          const struct job_digest *digest)
{
    return digest->application_id.byte_count ? digest->application_id
                                             : view->job_set;
}

/* A job of a queue. */
struct fed {
    struct job_id id;
    uint32_t job;
};

static int compare_fed(const void *a, const void *b)
{
    const struct fed *x = a;
    const struct fed *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static void feed(struct control *c, uint32_t job)
{
    struct job_view view;
    struct job_digest digest;

    jobs_get(c->jobs, job, &view);
    jobs_digest(c->jobs, job, &digest);
    pools_job_application(c->pools, job, application_of(&view, &digest),
                          digest.has_stateaware_off);
}

/* In order of ids, not of the table: the first job reported decides what an
 * application is at first, and each leader numbers jobs in its own order. */
void apps_feed(struct control *c, uint32_t queue)
{
    VEC(struct fed) list = {0};

    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        if (jobs_is_live(c->jobs, job) && c->handles.items[job].is_planned &&
            c->handles.items[job].queue == queue) {
            struct job_view view;
            jobs_get(c->jobs, job, &view);
            VEC_PUSH(&list, (struct fed){view.id, job});
        }
    }
    if (list.count) {
        qsort(list.items, list.count, sizeof(*list.items), compare_fed);
    }
    for (size_t i = 0; i < list.count; i++) {
        feed(c, list.items[i].job);
    }
    VEC_FREE(&list);
}

void apps_count(const struct control *c, uint32_t queue,
                struct application_counts *ret_counts)
{
    uint32_t counts[SCHED_APP_STATES];

    pools_application_counts(c->pools, queue, counts);
    *ret_counts = (struct application_counts){
        .is_by_applications = pools_queue_has_applications(c->pools, queue),
        .accepted = counts[SCHED_APP_ACCEPTED],
        .starting = counts[SCHED_APP_STARTING],
        .running = counts[SCHED_APP_RUNNING],
        .completing = counts[SCHED_APP_COMPLETING],
        .completed = counts[SCHED_APP_COMPLETED],
    };
}
