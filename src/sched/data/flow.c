#include "sched/data/flow.h"

#include <string.h>

enum { HALVES_MAX = 100, TERMS = 20 };

/* Differences of fractions below this come from rounding. */
static const double NOTHING = 1e-14;

/* 2 ^ -n; n <= HALVES_MAX. */
static double power_of_half(int n)
{
    ASSERT(n >= 0 && n <= HALVES_MAX); /* the exponent of a normal number */
    uint64_t bits = (uint64_t)(1023 - n) << 52;
    double power;

    memcpy(&power, &bits, sizeof(power));
    return power;
}

/* 0.5 ^ x for 0 <= x < 1: the series of exp(-x ln 2), from its small end. */
static double half_to(double x)
{
    ASSERT(x >= 0 && x < 1); /* where the series has enough terms */
    double y = x * -0.69314718055994530942;
    double sum = 1;

    for (int k = TERMS; k > 0; k--) {
        sum = 1 + y / k * sum;
    }
    return sum;
}

double flow_decay(int64_t dt_ms, int64_t half_ms)
{
    if (half_ms <= 0) {
        return 0;
    }
    if (dt_ms <= 0) {
        return 1;
    }
    if (dt_ms / half_ms >= HALVES_MAX) {
        return 0;
    }
    double rest = (double)(dt_ms % half_ms) / (double)half_ms;
    return power_of_half((int)(dt_ms / half_ms)) * half_to(rest);
}

double flow_excess(const struct flow *flow, int64_t half_ms, int64_t now_ms)
{
    if (flow->excess <= 0) {
        return 0;
    }
    return flow->excess * flow_decay(now_ms - flow->at_ms, half_ms);
}

void flow_change(struct flow *flow, int64_t half_ms, int64_t now_ms,
                 double usage_before, double usage_after)
{
    double before = usage_before + flow_excess(flow, half_ms, now_ms);
    double excess = before - usage_after;

    flow->excess = excess > NOTHING * (1 + before) ? excess : 0;
    if (flow->at_ms < now_ms) {
        flow->at_ms = now_ms;
    }
    if (half_ms <= 0) {
        flow->excess = 0;
    }
}

int64_t flow_when(const struct flow *flow, int64_t half_ms, int64_t now_ms,
                  double excess_max)
{
    int64_t low = 0, high = half_ms;

    if (flow_excess(flow, half_ms, now_ms) <= excess_max) {
        return now_ms;
    }
    if (excess_max <= 0 || half_ms <= 0 ||
        half_ms > INT64_MAX / (4 * HALVES_MAX)) {
        return INT64_MAX;
    }
    while (flow_excess(flow, half_ms, now_ms + high) > excess_max) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (flow_excess(flow, half_ms, now_ms + middle) > excess_max) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return now_ms + high;
}
