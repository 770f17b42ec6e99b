#include "sched/order/starts.h"

#include "sched/fairness/rates.h"
#include "sched/order/refusals.h"

uint32_t round_columns_held(const struct round *round,
                            const struct resource_vec *request)
{
    uint32_t columns = 0;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        columns |= request->v[r] > 0 ? round->held_columns & 1u << r : 0;
    }
    return columns;
}

void round_wake_held(struct round *round, const struct resource_vec *request)
{
    uint32_t columns = round_columns_held(round, request);
    int64_t when_ms = INT64_MIN;
    struct start_question question = {
        .pool = round->p, .request = request, .now_ms = round->now_ms};

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (columns >> r & 1) {
            int64_t at_ms =
                start_when(round->sched, &round->starts, &question, r);
            when_ms = at_ms > when_ms ? at_ms : when_ms;
        }
    }
    ASSERT(columns == 0 || when_ms != INT64_MIN); /* each has its time */
    if (when_ms > round->now_ms) {
        round_wake_by(round, when_ms);
    }
}

static struct start_question question_of(const struct round *round,
                                         const struct lane *lane,
                                         uint32_t count,
                                         const struct resource_vec *request)
{
    return (struct start_question){
        .queue = lane->queue,
        .pool = round->p,
        .count = count,
        .request = request,
        .now_ms = round->now_ms,
    };
}

/* The limits of the pool refuse some columns: they are held from now on. */
static bool hold(struct round *round, const struct start_question *question,
                 uint32_t refused)
{
    uint32_t held = round_columns_held(round, question->request);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((refused & ~held) >> r & 1) {
            round_wake_by(
                round, start_when(round->sched, &round->starts, question, r));
        }
    }
    ASSERT(refused >> RESOURCE_COLUMNS_MAX == 0);
    round->held_columns |= refused;
    if ((held | refused) && round->has_flow) {
        round_wake_held(round, question->request);
    }
    return held | refused;
}

bool round_may_start(struct round *round, struct lane *lane, uint32_t job,
                     uint32_t count, const struct resource_vec *request)
{
    struct start_question question = question_of(round, lane, count, request);

    ASSERT(count > 0 && amounts_is_sum(request));
    if (round->are_starts_over || lane->are_starts_over) {
        lane->head_count = 0;
        return false;
    }
    struct start_refusal refusal =
        start_ask(round->sched, &round->starts, &question);
    switch (refusal.why) {
    case START_NOT_ANY:
        round->are_starts_over = true;
        refusals_end_all(round, job, REFUSAL_STARTS);
        round_wake_by(round, refusal.until_ms);
        return false;
    case START_NOT_OF_QUEUE:
        round_wake_by(round, refusal.until_ms);
        lane->are_starts_over = true;
        refusals_end_queue(round, lane->queue, job, REFUSAL_STARTS);
        lane->head_count = 0;
        return false;
    case START_NOT_OF_POOL:
    case START_MAY:
        break;
    }
    if (refusal.columns & ~round->held_columns) {
        refusals_hold(round, job, refusal.columns & ~round->held_columns);
    }
    return !hold(round, &question, refusal.columns);
}

void round_count_starts(struct round *round, const struct lane *lane,
                        uint32_t count, const struct resource_vec *request)
{
    struct start_question question = question_of(round, lane, count, request);

    ASSERT(count > 0 && amounts_is_sum(request));
    start_take(round->sched, &round->starts, &question);
}

void gang_started(struct round *round, const struct lane *lane, uint32_t count,
                  const struct resource_vec *request)
{
    round->counters->placements += count;
    if (round_counts_starts(round)) {
        round_count_starts(round, lane, count, request);
    }
}
