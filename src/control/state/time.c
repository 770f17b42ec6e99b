/* The leader's time. */
#include "control/state/state.h"

int64_t control_now_ms(struct control *c)
{
    int64_t wall_ms = c->config.clock->wall_ms(c->config.clock);
    uint64_t now_ns = control_mono_ns(c);
    int64_t least_ms = c->told_ms > c->now_ms ? c->told_ms : c->now_ms;

    ASSERT(now_ns >= c->told_ns); /* that clock never goes back */

    if (wall_ms >= least_ms || c->told_ms < c->now_ms) {
        c->told_ms = wall_ms > least_ms ? wall_ms : least_ms;
        c->told_ns = now_ns;
        return c->told_ms;
    }
    uint64_t passed_ms = (now_ns - c->told_ns) / ((uint64_t)2 * NS_PER_MS);
    c->told_ms += (int64_t)passed_ms;
    c->told_ns += passed_ms * 2 * NS_PER_MS;
    ASSERT(c->told_ms >= least_ms); /* nor does the log's time */
    return c->told_ms;
}
