#include "kube/api/retry.h"

int64_t retry_failed(struct retry *retry, const struct rng *rng,
                     int64_t after_ms)
{
    int64_t pause_ms = RETRY_FIRST_MS;
    uint32_t random;

    for (uint32_t i = 0; i < retry->failure_count && pause_ms < RETRY_MS_MAX;
         i++) {
        pause_ms *= 2;
    }
    pause_ms = pause_ms < RETRY_MS_MAX ? pause_ms : RETRY_MS_MAX;
    retry->failure_count += retry->failure_count < UINT32_MAX;
    rng->fill(rng, &random, sizeof(random));
    /* From half of it to all of it. */
    pause_ms -= (int64_t)(random % (uint64_t)(pause_ms / 2 + 1));
    after_ms = after_ms < RETRY_AFTER_MS_MAX ? after_ms : RETRY_AFTER_MS_MAX;
    /* What the server said is spread too, upwards. */
    return after_ms >= 0 ? after_ms + pause_ms : pause_ms;
}
