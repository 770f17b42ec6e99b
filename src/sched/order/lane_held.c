#include "sched/order/lane_held.h"

#include "base/time_add.h"

static bool ends_in_time(const struct round *round,
                         const struct lane_held *held,
                         const struct class *class)
{
    return held->at_ms != SCHED_START_UNKNOWN &&
           time_add_saturating(round->now_ms, class->deadline_ms) <=
               held->at_ms;
}

static bool has_left(const struct resource_vec *left,
                     const struct resource_vec *request)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && request->v[r] > left->v[r]) {
            return false;
        }
    }
    return true;
}

bool held_allows(const struct round *round, const struct lane *lane,
                 const struct class *class, const struct resource_vec *request)
{
    const struct lane_held *held = lane->held;

    if (!held || round->is_lending || ends_in_time(round, held, class)) {
        return true;
    }
    return has_left(&held->quota_left, request) &&
           (class->priority_class != held->priority_class ||
            has_left(&held->class_left, request));
}

static void take(struct resource_vec *left, const struct resource_vec *request,
                 int64_t count)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        left->v[r] -= left->v[r] == INT64_MAX ? 0 : request->v[r] * count;
    }
}

void held_charge(const struct round *round, struct lane *lane,
                 const struct class *class, int64_t count)
{
    struct lane_held *held = lane->held;

    if (!held || round->is_lending || ends_in_time(round, held, class)) {
        return;
    }
    take(&held->quota_left, &class->request, count);
    if (class->priority_class == held->priority_class) {
        take(&held->class_left, &class->request, count);
    }
}
