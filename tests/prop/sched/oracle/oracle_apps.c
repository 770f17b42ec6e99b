/* Applications and the orderings that go by them (model.md 3.4, 6.7). */
#include "oracle_private.h"

static const struct app_note *app_of(const struct oracle *o, int queue, int app)
{
    return &o->in->queues[queue].apps[app];
}

static bool is_of(const struct oracle *o, int job, int queue, int app)
{
    return o->in->jobs[job].queue == queue && o->in->jobs[job].app == app;
}

static int count_of(const struct oracle *o, int queue, int app,
                    enum status status)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->status[j] == status && is_of(o, j, queue, app);
    }
    return count;
}

/* As if what the plan leased had been told already.  What loses the one that
 * it started with starts with the next anew. */
enum sched_app_state oracle_app_state(const struct oracle *o, int queue,
                                      int app)
{
    enum sched_app_state state = app_of(o, queue, app)->state;
    int placed = count_of(o, queue, app, PLACED);

    if (state == SCHED_APP_STARTING && placed &&
        count_of(o, queue, app, PREEMPTED)) {
        placed--;
    }
    for (; placed > 0; placed--) {
        state = instance_app_leased(state);
    }
    return state;
}

/* Whether something waits that could start. */
static bool has_asks(const struct oracle *o, int queue, int app)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == WAITING && is_of(o, j, queue, app) &&
            (!o->in->jobs[j].gang || oracle_gang_is_complete(o, j))) {
            return true;
        }
    }
    return false;
}

bool oracle_app_is_earlier(const struct oracle *o, int queue, int a, int b)
{
    int x = app_of(o, queue, a)->first, y = app_of(o, queue, b)->first;
    int gap = o->in->jobs[x].submitted - o->in->jobs[y].submitted;

    return gap ? gap < 0 : x < y;
}

/* The application that may start next, or -1. */
static int chosen(const struct oracle *o, int queue)
{
    int first = -1;

    for (int a = 0; a < INSTANCE_APPS_MAX; a++) {
        enum sched_app_state state = oracle_app_state(o, queue, a);
        if (state == SCHED_APP_STARTING) {
            return -1;
        }
        if (state == SCHED_APP_ACCEPTED && has_asks(o, queue, a) &&
            (first < 0 || oracle_app_is_earlier(o, queue, a, first))) {
            first = a;
        }
    }
    return first;
}

static bool is_full(const struct oracle *o, int queue)
{
    int max = o->in->queues[queue].running_apps_max, count = 0;

    for (int a = 0; a < INSTANCE_APPS_MAX; a++) {
        enum sched_app_state state = oracle_app_state(o, queue, a);
        count += state == SCHED_APP_STARTING || state == SCHED_APP_RUNNING;
    }
    return max && count >= max;
}

bool oracle_app_allows(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue, app = o->in->jobs[unit].app;

    if (oracle_app_state(o, queue, app) != SCHED_APP_ACCEPTED) {
        return true;
    }
    return !is_full(o, queue) &&
           (o->in->queues[queue].ordering != QUEUE_BY_STATEAWARE ||
            chosen(o, queue) == app);
}

static struct fraction cost_of(const struct oracle *o, int queue, int app)
{
    int amounts[INSTANCE_KINDS] = {0};

    for (int j = 0; j < o->in->job_count; j++) {
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            /* What the plan preempts counts until it is gone. */
            bool counts = oracle_runs(o, j) || o->status[j] == PREEMPTED;
            amounts[k] += counts && is_of(o, j, queue, app)
                              ? o->in->jobs[j].request[k]
                              : 0;
        }
    }
    return instance_cost(o->in, amounts);
}

bool oracle_goes_by_apps(const struct instance_queue *queue)
{
    return queue->ordering != QUEUE_BY_PRIORITY &&
           queue->ordering != QUEUE_BY_CFS;
}

int oracle_app_compare(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];
    const struct instance_queue *queue = &o->in->queues[x->queue];

    if (!oracle_goes_by_apps(queue) || x->app == y->app) {
        return 0;
    }
    if (queue->ordering == QUEUE_BY_FAIR) {
        int c = fraction_compare(cost_of(o, x->queue, x->app),
                                 cost_of(o, x->queue, y->app));
        if (c) {
            return c;
        }
    }
    return o->in->jobs[queue->apps[x->app].first].submitted -
           o->in->jobs[queue->apps[y->app].first].submitted;
}
