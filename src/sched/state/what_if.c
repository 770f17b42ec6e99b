#include "sched/state/what_if.h"

/* What there is more of, if it is of that kind; or NULL. */
static const struct what_if_more *any_of(const struct what_if *what_if,
                                         enum what_if_kind kind)
{
    return what_if && what_if->more.kind == kind ? &what_if->more : NULL;
}

/* The same of a queue. */
static const struct what_if_more *more_of(const struct what_if *what_if,
                                          const struct sched *sched,
                                          const struct queue *queue,
                                          enum what_if_kind kind)
{
    const struct what_if_more *more = any_of(what_if, kind);

    return more && more->queue == (uint32_t)(queue - sched->queues.items)
               ? more
               : NULL;
}

int64_t what_if_limit_more(const struct what_if *what_if, uint32_t queue,
                           uint32_t pool, uint32_t priority_class, int column)
{
    const struct what_if_more *more = any_of(what_if, WHAT_IF_LIMIT);

    return more && more->queue == queue && more->pool == pool &&
                   more->priority_class == priority_class
               ? more->amount.v[column]
               : 0;
}

int64_t what_if_quota(const struct what_if *what_if, const struct sched *sched,
                      const struct queue *queue, int column)
{
    const struct what_if_more *more =
        more_of(what_if, sched, queue, WHAT_IF_QUOTA);

    return queue->quota.v[column] + (more ? more->amount.v[column] : 0);
}

int64_t what_if_excess_budget_milli(const struct what_if *what_if,
                                    const struct sched *sched,
                                    const struct queue *queue)
{
    const struct what_if_more *more =
        more_of(what_if, sched, queue, WHAT_IF_BUDGET);

    return more ? more->base + more->amount.v[0] : queue->excess_budget_milli;
}

int64_t what_if_over_share_ppm(const struct what_if *what_if,
                               const struct sched *sched,
                               const struct queue *queue)
{
    const struct what_if_more *more =
        more_of(what_if, sched, queue, WHAT_IF_SHARE);

    return more ? more->base + more->amount.v[0] : queue->over_share_ppm;
}

uint32_t what_if_running_apps_max(const struct what_if *what_if,
                                  const struct sched *sched,
                                  const struct queue *queue)
{
    const struct what_if_more *more =
        more_of(what_if, sched, queue, WHAT_IF_APPS);

    return queue->running_apps_max + (more ? (uint32_t)more->amount.v[0] : 0);
}

bool what_if_takes_reserved_soon(const struct what_if *what_if, uint32_t job,
                                 int64_t from_ms)
{
    if (!what_if || !what_if->waives_reserved_soon) {
        return false;
    }
    what_if->met->reserved_job = job;
    what_if->met->reserved_ms = from_ms;
    return true;
}

void what_if_note_price(const struct what_if *what_if,
                        const struct sched *sched, uint32_t job,
                        int64_t price_ms, int64_t budget_ms, int64_t until_ms)
{
    const struct job *jobs = sched->jobs.items;

    if (!what_if || !what_if->price_of) {
        return;
    }
    uint32_t asked = what_if->price_of - 1;
    bool is_it = asked == job || (jobs[asked].gang != NONE &&
                                  jobs[asked].gang == jobs[job].gang);
    struct what_if_met *met = what_if->met;
    if (is_it && (met->price_ms == 0 || price_ms < met->price_ms)) {
        met->price_ms = price_ms;
        met->budget_ms = budget_ms;
        met->price_until_ms = until_ms;
    }
}

bool what_if_takes_gang(const struct what_if *what_if,
                        const struct what_if_gang *gang)
{
    if (!what_if || !what_if->waives_gang_protection) {
        return false;
    }
    VEC_PUSH(&what_if->met->gangs, *gang);
    return true;
}
