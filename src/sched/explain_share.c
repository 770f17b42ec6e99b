#include "sched/explain_share.h"

#include "sched/cfs.h"
#include "sched/limits.h"
#include "sched/standing.h"

/* A charge in millionths of the pool x ms, as minutes of the whole pool. */
static const double CHARGE_PER_MINUTE = 60e9;

static const struct class *class_of(const struct sched *sched, uint32_t job)
{
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];

    return &sched->classes.items[list->class_index];
}

/* Ask for a job, or for all that waits of its gang. */
static void ask_for(const struct sched *sched, uint32_t job,
                    struct limit_question *question)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (gang == NONE) {
        limits_add(question, class_of(sched, job));
        return;
    }
    const struct seq *waiting = &sched->gangs.items[gang].waiting;
    for (struct seq_cursor at = {0}; !seq_is_end(waiting, at);
         seq_next(waiting, &at)) {
        limits_add(question, class_of(sched, seq_get(waiting, at)));
    }
}

static void fill_answer(const struct sched *sched, uint32_t p, int64_t now_ms,
                        const struct limit_question *question,
                        enum limit_answer why, struct sched_explanation *answer)
{
    const struct limits *limits = question->limits;
    const struct cost_base *base = question->base;

    answer->pool = intern_get(sched->pool_names, p);
    if (why == LIMIT_BUDGET) {
        double scale = base->units / CHARGE_PER_MINUTE;
        answer->wait = SCHED_WAIT_BUDGET;
        answer->asked = (double)question->charge * scale;
        answer->allowed = (double)limits->budget_left * scale;
        return;
    }
    double usage =
        cost_of(base, &limits->infinite, &question->infinite, 1).approx;
    double flow = limits->infinite_floor;
    int64_t when_ms =
        limits_when(question, pool_half_time_ms(sched, p), now_ms);
    answer->wait = SCHED_WAIT_OVER_SHARE;
    answer->asked = usage > flow ? usage : flow;
    answer->allowed = limits_over_share(limits);
    answer->until_ms = when_ms == INT64_MAX ? 0 : when_ms;
}

/* Whether the limits of one pool refuse the job. */
static bool is_refused(struct sched *sched, uint32_t job, uint32_t p,
                       int64_t now_ms, struct sched_explanation *answer)
{
    uint32_t queue = sched->lists.items[sched->jobs.items[job].list].queue;
    const struct standing *standing = standing_find(sched, queue, p);
    const struct resource_vec none = {0};
    struct limits limits;

    if (!limits_get(sched, queue, p, limits_whole(sched, p), now_ms, &limits)) {
        return false;
    }
    struct limit_question question =
        limits_ask(&sched->pools.items[p].base, &limits,
                   standing ? &standing->all : &none);
    ask_for(sched, job, &question);
    enum limit_answer why = limits_answer(&question);
    if (why == LIMIT_NONE) {
        return false;
    }
    fill_answer(sched, p, now_ms, &question, why, answer);
    return true;
}

static bool is_pool_for(const struct sched *sched, const struct list *list,
                        uint32_t p)
{
    const struct pool *pool = &sched->pools.items[p];

    return pool->policy_index >= 0 && pool->node_count > 0 &&
           (list->pool == NONE || list->pool == p);
}

static bool is_refused_everywhere(struct sched *sched, uint32_t job,
                                  int64_t now_ms,
                                  struct sched_explanation *answer)
{
    bool is_any = false;

    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct list *list =
            &sched->lists.items[sched->jobs.items[job].list];
        if (!is_pool_for(sched, list, p)) {
            continue;
        }
        if (!is_refused(sched, job, p, now_ms, answer)) {
            return false;
        }
        is_any = true;
    }
    return is_any;
}

/* The first of a queue that goes by priority, or NONE. */
static uint32_t first_of(const struct sched *sched, const struct queue *queue)
{
    uint32_t first = NONE;
    uint8_t level = 0;

    for (size_t i = 0; i < queue->lists.count; i++) {
        const struct list *list = &sched->lists.items[queue->lists.items[i]];
        uint32_t item = seq_get(&list->seq, (struct seq_cursor){0});
        uint32_t job = list->class_index == NONE
                           ? sched->gangs.items[item].position
                           : item;
        if (first == NONE || list->level > level ||
            (list->level == level &&
             (queue->ordering == QUEUE_BY_CFS ? cfs_less(sched, job, first)
                                              : job_less(sched, job, first)))) {
            first = job;
            level = list->level;
        }
    }
    return first;
}

bool explain_share(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *answer)
{
    const struct queue *queue =
        &sched->queues
             .items[sched->lists.items[sched->jobs.items[job].list].queue];

    if (!sched->keeps_standings) {
        return false;
    }
    if (is_refused_everywhere(sched, job, now_ms, answer)) {
        return true;
    }
    uint32_t first = queue->apps ? NONE : first_of(sched, queue);
    uint32_t gang = sched->jobs.items[job].gang;
    if (first == NONE || first == job ||
        (gang != NONE && sched->jobs.items[first].gang == gang) ||
        !is_refused_everywhere(sched, first, now_ms, answer)) {
        return false;
    }
    answer->behind = first;
    return true;
}
