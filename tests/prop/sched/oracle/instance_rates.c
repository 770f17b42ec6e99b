/* Limits on starts (model.md 6.10b): what they have left as time passes. */
#include "instance.h"

enum { ROUND_PERIOD_MS = 10000, RATE_PERIOD_MS = 1000000 };

/* So many at once, and so many in 1000 seconds. */
static struct start_limit draw_rate(struct tape *tape)
{
    return (struct start_limit){
        .size = pick(tape, 1, 6),
        .refill = pick(tape, 10, 200),
        .period_ms = RATE_PERIOD_MS,
    };
}

void instance_draw_rates(struct tape *tape, struct instance *instance)
{
    int ways = pick(tape, 1, 7);

    if (ways & 1) {
        instance->starts = draw_rate(tape);
    }
    if (ways & 2) {
        instance->starts_per_queue = draw_rate(tape);
    }
    if (ways & 4) {
        instance->start_percent = pick(tape, 10, 60);
    }
    for (int p = 0; p < INSTANCE_POOLS && instance->start_percent; p++) {
        struct instance part;
        instance_project(instance, p, &part);
        int64_t size =
            instance_total(&part, 0) * 10 * (int64_t)instance->start_percent;
        instance->start_cores[p] =
            (struct start_limit){size, size, ROUND_PERIOD_MS, 0, 0};
    }
    for (int q = 0; q < instance->queue_count; q++) {
        instance->queues[q].starts = instance->starts_per_queue;
    }
}

/* It fills up evenly; time that runs back counts as none. */
static void refill(struct start_limit *limit, int now)
{
    int64_t refilled = limit->refill * (now > limit->at ? now - limit->at : 0);

    limit->missing = limit->missing > refilled ? limit->missing - refilled : 0;
    limit->at = now > limit->at ? now : limit->at;
}

bool start_limit_has(const struct start_limit *limit, int64_t tokens, int now)
{
    struct start_limit then = *limit;

    if (limit->size == 0) {
        return true;
    }
    refill(&then, now);
    return tokens > then.size
               ? then.missing == 0
               : then.missing <= (then.size - tokens) * then.period_ms;
}

void start_limit_take(struct start_limit *limit, int64_t tokens, int now)
{
    if (limit->size) {
        refill(limit, now);
        limit->missing += tokens * limit->period_ms;
    }
}
