/* What nodes allow a job, and which of them exclude it. */
#include "sched/explain/private.h"
#include "sched/place/exclusive_node.h"
#include "sched/place/gpu_nodes.h"
#include "sched/reserve/reserve.h"
#include "sched/state/extras.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"
#include "sched/state/windows.h"
#include "sched/victims/away.h"

/* Whether the job is not to be on a node that has failed it. */
static bool avoids(const struct question *question, uint32_t index)
{
    if (question->job != NONE) {
        return job_avoids(question->sched, question->job, index);
    }
    for (uint32_t i = 0; i < question->avoided_count; i++) {
        if (question->avoided[i] == index) {
            return true;
        }
    }
    return false;
}

/* Whether a group has the node to itself, or the job's own would have to. */
static bool is_held(const struct question *question, uint32_t index)
{
    return question->job != NONE
               ? exclusive_node_keeps_from(question->sched, question->job,
                                           index)
               : exclusive_node_keeps_other(question->sched, question->is_whole,
                                            index);
}

/* Whether the node is kept for jobs that ask for GPUs. */
static bool is_for_gpus(const struct question *question, uint32_t index)
{
    struct gpu_nodes *gpus =
        question->gpus
            ? question->gpus[question->sched->nodes.items[index].pool]
            : NULL;
    uint64_t looks = 0;

    return gpus && gpu_nodes_keep(gpus, question->class_index, index, &looks);
}

/* As far as it is no matter how much the job asks for. */
static enum sched_exclusion exclusion_of_any(const struct question *question,
                                             uint32_t index)
{
    const struct sched *sched = question->sched;
    const struct node *node = &sched->nodes.items[index];

    if (!explain_is_in_pools(question, node->pool)) {
        return SCHED_EXCLUDED_POOL;
    }
    enum sched_exclusion why = node_closed_by(sched, index);
    ASSERT((why == SCHED_EXCLUSIONS) == node->is_accepting);
    if (why == SCHED_EXCLUSIONS) {
        why = away_match(sched, question->requirement, question->class_index,
                         index);
    }
    if (why != SCHED_EXCLUSIONS) {
        return why;
    }
    if (avoids(question, index)) {
        return SCHED_EXCLUDED_AVOIDED;
    }
    if (question->uniformity.byte_count &&
        !label_find(node->record->labels, node->record->label_count,
                    question->uniformity)) {
        return SCHED_EXCLUDED_UNIFORMITY;
    }
    return question->is_growth && !explain_is_in_reach(question, index)
               ? SCHED_EXCLUDED_FAR
               : SCHED_EXCLUSIONS;
}

enum sched_exclusion explain_exclusion(const struct question *question,
                                       uint32_t index)
{
    const struct sched *sched = question->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct resource_vec *request = &question->class->request;
    enum sched_exclusion why = exclusion_of_any(question, index);

    if (why != SCHED_EXCLUSIONS) {
        return why;
    }
    if (question->class->is_impossible ||
        !amounts_fit(request, &node->capacity) ||
        extras_times_empty(sched, index, question->class, 1) == 0 ||
        !floating_may_fit(sched, node->pool, request)) {
        return SCHED_EXCLUDED_TOO_SMALL;
    }
    if (windows_bar(sched, question->class, index, question->now_ms)) {
        return SCHED_EXCLUDED_WINDOW;
    }
    if (!amounts_fit(request, &sched->free[index])) {
        return SCHED_EXCLUDED_FULL;
    }
    if (!extras_fit(sched, index, question->class)) {
        return SCHED_EXCLUDED_EXTRA;
    }
    if (is_held(question, index)) {
        return SCHED_EXCLUDED_HELD;
    }
    if (is_for_gpus(question, index)) {
        return SCHED_EXCLUDED_GPUS;
    }
    return !question->is_growth && /* it would yield at once */
                   reserve_keeps_from(sched, node->pool, question->job,
                                      question->class, index, question->now_ms,
                                      &question->answer->for_job)
               ? SCHED_EXCLUDED_RESERVED
               : SCHED_EXCLUSIONS;
}

/* Whether a node that takes no work now could hold the job if it did. */
static bool is_closed_to_it(const struct question *question, uint32_t index,
                            enum sched_exclusion why)
{
    const struct sched *sched = question->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct resource_vec *request = &question->class->request;

    if ((why != SCHED_EXCLUDED_EXECUTOR &&
         why != SCHED_EXCLUDED_UNSCHEDULABLE &&
         why != SCHED_EXCLUDED_QUARANTINED) ||
        question->class->is_impossible ||
        !amounts_fit(request, &node->capacity) ||
        extras_times_empty(sched, index, question->class, 1) == 0 ||
        !floating_may_fit(sched, node->pool, request) ||
        avoids(question, index)) {
        return false;
    }
    return away_match(sched, question->requirement, question->class_index,
                      index) == SCHED_EXCLUSIONS;
}

double explain_shortfall(const struct resource_vec *request,
                         const struct resource_vec *room)
{
    double sum = 0;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (room->v[r] < request->v[r]) {
            sum += (double)(request->v[r] - room->v[r]) / (double)request->v[r];
        }
    }
    return sum;
}

/* The node that excludes the job for the least, so far. */
struct nearest {
    enum sched_exclusion why;
    double lack;
};

/* A node that excludes it becomes the nearest one, if it is. */
static void note_nearest(struct question *question, uint32_t index,
                         enum sched_exclusion why, struct nearest *nearest)
{
    const struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    const struct resource_vec *room = why == SCHED_EXCLUDED_TOO_SMALL
                                          ? &sched->nodes.items[index].capacity
                                          : &sched->free[index];
    double lack = explain_shortfall(&question->class->request, room);

    if (answer->nearest_node == NONE || why > nearest->why ||
        (why == nearest->why && lack < nearest->lack)) {
        *nearest = (struct nearest){why, lack};
        answer->nearest_node = index;
        answer->available = *room;
        floating_strip(sched, &answer->available);
    }
}

static void look_at_nodes(struct question *question)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    struct nearest nearest = {.why = SCHED_EXCLUDED_POOL};

    answer->nearest_node = NONE;
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t index = seq_get(&sched->nodes_by_name, at);
        if (!sched->nodes.items[index].record) {
            continue;
        }
        enum sched_exclusion why = explain_exclusion(question, index);
        answer->nodes_total++;
        if (why >= SCHED_EXCLUDED_FULL) {
            closest_nodes_add(&question->closest, index,
                              explain_shortfall(&question->class->request,
                                                &sched->free[index]));
        }
        if (why == SCHED_EXCLUSIONS) {
            answer->nodes_fit++;
            continue;
        }
        answer->nodes_excluded[why]++;
        if (why == SCHED_EXCLUDED_EXTRA && !answer->extra.byte_count) {
            answer->extra = extras_lacking(sched, index, question->class);
        }
        answer->closed_count += is_closed_to_it(question, index, why);
        if (why >= SCHED_EXCLUDED_TOO_SMALL && why < SCHED_EXCLUDED_HELD) {
            note_nearest(question, index, why, &nearest);
        }
    }
}

static enum sched_wait capacity_of(const struct question *question)
{
    const struct sched_explanation *answer = question->answer;
    uint32_t unusable = answer->nodes_excluded[SCHED_EXCLUDED_POOL] +
                        answer->nodes_excluded[SCHED_EXCLUDED_EXECUTOR];

    if (answer->nodes_total == unusable) {
        return answer->closed_count ? SCHED_WAIT_CLOSED : SCHED_WAIT_NO_NODES;
    }
    if (answer->nodes_fit) {
        return SCHED_WAIT_TURN;
    }
    if (answer->nodes_excluded[SCHED_EXCLUDED_RESERVED]) {
        return SCHED_WAIT_PASSED;
    }
    if (answer->nodes_excluded[SCHED_EXCLUDED_GPUS]) {
        return SCHED_WAIT_GPUS_KEPT;
    }
    return answer->nodes_excluded[SCHED_EXCLUDED_FULL] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_HELD] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_EXTRA] ||
                   answer->nodes_excluded[SCHED_EXCLUDED_AVOIDED]
               ? SCHED_WAIT_CAPACITY
           : answer->nodes_excluded[SCHED_EXCLUDED_WINDOW] ? SCHED_WAIT_WINDOW
           : answer->closed_count                          ? SCHED_WAIT_CLOSED
                                  : SCHED_WAIT_NEVER_FITS;
}

/* One that is too small is the nearest only to a job that is too big for all:
 * to others it is no place at all. */
void explain_nodes(struct question *question)
{
    struct sched_explanation *answer = question->answer;

    look_at_nodes(question);
    answer->wait = capacity_of(question);
    if (answer->wait != SCHED_WAIT_NEVER_FITS &&
        !answer->nodes_excluded[SCHED_EXCLUDED_FULL] &&
        !answer->nodes_excluded[SCHED_EXCLUDED_RESERVED]) {
        answer->nearest_node = NONE;
        answer->available = (struct resource_vec){0};
    }
}

uint32_t explain_fitting(const struct question *question, uint32_t count_max,
                         struct resource_vec *left)
{
    const struct sched *sched = question->sched;
    const struct resource_vec *request = &question->class->request;
    uint32_t count = 0;

    for (uint32_t i = 0; i < sched->nodes.count && count < count_max; i++) {
        if (!sched->nodes.items[i].record ||
            explain_exclusion(question, i) != SCHED_EXCLUSIONS) {
            continue;
        }
        uint32_t here =
            amounts_times(request, left ? &left[i] : &sched->free[i]);
        here = extras_times(sched, i, question->class, here);
        here = here < count_max - count ? here : count_max - count;
        if (left) {
            amounts_add_times(&left[i], request, -(int64_t)here);
        }
        count += here;
    }
    return count;
}
