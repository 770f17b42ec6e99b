#include "sched/data/bucket.h"

/* What is missing from a full bucket at `now_ms`. */
static i128 missing_at(const struct bucket *bucket,
                       const struct bucket_rule *rule, int64_t now_ms)
{
    int64_t elapsed_ms = now_ms > bucket->at_ms ? now_ms - bucket->at_ms : 0;
    i128 missing = bucket->missing - (i128)elapsed_ms * rule->refill;

    return missing > 0 ? missing : 0;
}

/* What may be missing at most for `tokens` to be given. */
static i128 missing_max(const struct bucket_rule *rule, int64_t tokens)
{
    int64_t rest = rule->size - tokens;

    return rest > 0 ? (i128)rest * rule->period_ms : 0;
}

void bucket_take(struct bucket *bucket, const struct bucket_rule *rule,
                 int64_t tokens, int64_t now_ms)
{
    if (rule->size <= 0) {
        return;
    }
    ASSERT(tokens >= 0 && rule->period_ms > 0);
    bucket->missing =
        missing_at(bucket, rule, now_ms) + (i128)tokens * rule->period_ms;
    bucket->at_ms = now_ms > bucket->at_ms ? now_ms : bucket->at_ms;
}

bool bucket_has(const struct bucket *bucket, const struct bucket_rule *rule,
                int64_t tokens, int64_t now_ms)
{
    return rule->size <= 0 ||
           missing_at(bucket, rule, now_ms) <= missing_max(rule, tokens);
}

int64_t bucket_when(const struct bucket *bucket, const struct bucket_rule *rule,
                    int64_t tokens, int64_t now_ms)
{
    if (bucket_has(bucket, rule, tokens, now_ms)) {
        return now_ms;
    }
    i128 excess = missing_at(bucket, rule, now_ms) - missing_max(rule, tokens);
    if (rule->refill <= 0) {
        return INT64_MAX;
    }
    ASSERT(excess > 0); /* or the bucket had them */
    i128 wait_ms = (excess + rule->refill - 1) / rule->refill;
    i128 base_ms = now_ms > bucket->at_ms ? now_ms : bucket->at_ms;
    i128 when_ms = base_ms + wait_ms;
    return when_ms > INT64_MAX ? INT64_MAX : (int64_t)when_ms;
}
