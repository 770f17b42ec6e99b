/* What is decided next. */
#include "oracle_private.h"

bool oracle_is_candidate(const struct oracle *o, int job)
{
    if (o->status[job] == EVICTED) {
        return oracle_is_head(o, job);
    }
    bool is_out = o->is_passed_over[job] ||
                  (o->is_hopeless[job] &&
                   (o->is_barred[job] || !oracle_has_window(o, job)));

    return o->status[job] == WAITING && !is_out && !o->is_settled[job] &&
           o->in->jobs[job].is_borrowed == o->is_lending && !o->admitted[job] &&
           !oracle_is_held(o, job) &&
           !o->in->queues[o->in->jobs[job].queue].is_cordoned &&
           !o->is_blocked[o->in->jobs[job].queue] && oracle_is_head(o, job) &&
           (!o->in->jobs[job].gang || oracle_gang_is_complete(o, job)) &&
           oracle_app_allows(o, job);
}

/* Where the pool says so: what tries to pass the first that has no room is
 * tried in the order of its bounds (model.md 2.9). */
static int compare_bounds(const struct oracle *o, int a, int b)
{
    int x = oracle_run_max(o, a), y = oracle_run_max(o, b);

    return o->in->is_shortest_first && o->hold.is_made ? (x > y) - (x < y) : 0;
}

/* The same by deadlines, of which the longer it has waited the less counts. */
static int compare_aged(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];
    i128 of_x = x->deadline ? x->deadline : INT64_MAX;
    i128 of_y = y->deadline ? y->deadline : INT64_MAX;
    int64_t day = INT64_C(86400000);
    int64_t x_waited = o->now > x->submitted ? o->now - x->submitted : 0;
    int64_t y_waited = o->now > y->submitted ? o->now - y->submitted : 0;

    if (!o->in->is_aged || !o->hold.is_made || x->priority != y->priority) {
        return 0;
    }
    of_x *= day + y_waited;
    of_y *= day + x_waited;
    return (of_x > of_y) - (of_x < of_y);
}

/* When a job is due: after its submission and twice its deadline, of a day at
 * most. */
static int64_t due_of(const struct instance_job *job)
{
    int64_t day = INT64_C(86400000);
    int64_t limit = job->deadline && job->deadline < day ? job->deadline : day;

    return job->submitted + 2 * limit;
}

/* Where the pool says so: the whole queue by when its work is due. */
static int compare_due(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];

    if (!o->in->is_bounded || !o->in->has_backfill || o->in->window == 0 ||
        x->priority != y->priority) {
        return 0;
    }
    return (due_of(x) > due_of(y)) - (due_of(x) < due_of(y));
}

bool oracle_unit_before(const struct oracle *o, int a, int b)
{
    const struct instance_queue *queue = &o->in->queues[o->in->jobs[a].queue];
    bool is_new = o->status[a] == WAITING;

    if (!is_new && o->turn_count > 0) {
        /* As it was when the plan began, whatever a gang lost since. */
        return o->ordinal[a] < o->ordinal[b];
    }
    if (is_new && queue->ordering == QUEUE_BY_CFS) {
        return oracle_score_waiting(o, a, b) < 0;
    }
    bool is_class_ignored =
        is_new && queue->is_class_ignored && oracle_goes_by_apps(queue);
    int c = is_new ? oracle_app_compare(o, a, b) : 0;

    c = is_new && !c ? compare_bounds(o, a, b) : c;

    if (!is_class_ignored &&
        oracle_unit_level(o, a) != oracle_unit_level(o, b)) {
        return oracle_unit_level(o, a) > oracle_unit_level(o, b);
    }
    c = c || !is_new ? c : compare_aged(o, a, b);
    c = c || !is_new ? c : compare_due(o, a, b);
    if (c) {
        return c < 0;
    }
    if (o->status[a] == EVICTED &&
        o->in->jobs[a].priority == o->in->jobs[b].priority &&
        oracle_unit_leased(o, a) != oracle_unit_leased(o, b)) {
        return oracle_unit_leased(o, a) < oracle_unit_leased(o, b);
    }
    return oracle_job_before(o, a, b);
}

/* K over the weight: usage for what is evicted, flow for new work. */
struct number oracle_key(const struct oracle *o, int unit)
{
    int amounts[INSTANCE_KINDS];
    int queue = o->in->jobs[unit].queue;

    if (o->status[unit] != EVICTED) {
        return oracle_flow_with(o, unit);
    }
    oracle_usage(o, queue, amounts);
    oracle_unit_sum(o, unit, amounts);
    return oracle_cost(o, queue, amounts);
}

/* Whether `a` of one stream is decided before `b` of another. */
static bool goes_before(const struct oracle *o, int a, int b)
{
    int x = o->in->jobs[a].queue, y = o->in->jobs[b].queue;

    if (oracle_unit_level(o, a) != oracle_unit_level(o, b)) {
        return oracle_unit_level(o, a) > oracle_unit_level(o, b);
    }
    int c = oracle_compare(o, oracle_key(o, a), oracle_key(o, b));
    if (c) {
        return c < 0;
    }
    if (o->status[a] != o->status[b]) {
        return o->status[a] == EVICTED;
    }
    if (o->in->half_ms > 0) {
        c = oracle_compare(o, oracle_flow_now(o, x), oracle_flow_now(o, y));
    }
    return c ? c < 0 : x < y;
}

int oracle_next_unit(const struct oracle *o, bool is_evicted_only)
{
    int best = -1;

    for (int q = 0; q < o->in->queue_count; q++) {
        for (int kind = 0; kind < 2; kind++) {
            enum status status = kind ? WAITING : EVICTED;
            int first = -1;
            for (int j = 0; j < o->in->job_count; j++) {
                if (o->status[j] == status && o->in->jobs[j].queue == q &&
                    oracle_is_candidate(o, j) &&
                    (first < 0 || oracle_unit_before(o, j, first))) {
                    first = j;
                }
            }
            /* Nobody looks past the head of a queue. */
            bool is_stopped =
                status == WAITING &&
                (is_evicted_only || (first >= 0 && oracle_is_closed(o, first)));
            if (first >= 0 && !is_stopped &&
                (best < 0 || goes_before(o, first, best))) {
                best = first;
            }
        }
    }
    return best;
}
