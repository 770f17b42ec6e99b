#include "base/jump.h"

enum { NS_PER_MS = 1000000 };

void jump_init(struct jump *jump, const struct clock *clock, int64_t last_ms)
{
    *jump = (struct jump){
        .trusted_ms = last_ms > 0 ? last_ms : clock->wall_ms(clock),
        .trusted_ns = clock->mono_ns(clock),
    };
}

bool jump_is_believed(struct jump *jump, const struct clock *clock,
                      int64_t *ret_ahead_ms)
{
    uint64_t now_ns = clock->mono_ns(clock);
    int64_t wall_ms = clock->wall_ms(clock);
    int64_t passed_ms = (int64_t)((now_ns - jump->trusted_ns) / NS_PER_MS);

    *ret_ahead_ms = wall_ms - jump->trusted_ms - passed_ms;
    if (*ret_ahead_ms > JUMP_MS_MAX) {
        if (jump->hold_until_ns == 0) {
            jump->hold_until_ns = now_ns + (uint64_t)JUMP_HOLD_MS * NS_PER_MS;
        }
        if (now_ns < jump->hold_until_ns) {
            return false;
        }
    }
    *jump = (struct jump){.trusted_ms = wall_ms, .trusted_ns = now_ns};
    return true;
}
