#include "sched/health/quarantine.h"

/* One node. */

bool quarantine_is_recent(const struct quarantine_policy *rules,
                          int64_t time_ms, int64_t now_ms)
{
    int64_t newest = quarantine_slot(rules, now_ms);

    return newest - quarantine_slot(rules, time_ms) < QUARANTINE_SLOTS;
}

static void remove_failure(struct quarantine *node, uint32_t at)
{
    ASSERT(at < node->failure_count);
    memmove(&node->failures[at], &node->failures[at + 1],
            (node->failure_count - at - 1) * sizeof(node->failures[0]));
    node->failure_count--;
}

static void forget_old(struct quarantine *node,
                       const struct quarantine_policy *rules, int64_t now_ms)
{
    while (node->failure_count > 0 &&
           !quarantine_is_recent(rules, node->failures[0].time_ms, now_ms)) {
        remove_failure(node, 0);
    }
}

/* The oldest of the job set that has the most: what hides least. */
static uint32_t find_spare(const struct quarantine *node)
{
    uint32_t best = 0, best_count = 0;

    for (uint32_t i = 0; i < node->failure_count; i++) {
        uint32_t count = 0;
        for (uint32_t k = i; k < node->failure_count; k++) {
            count += node->failures[k].job_set == node->failures[i].job_set;
        }
        if (count > best_count) {
            best_count = count;
            best = i;
        }
    }
    return best;
}

static void add_failure(struct quarantine *node,
                        const struct quarantine_policy *rules,
                        const struct quarantine_outcome *outcome)
{
    forget_old(node, rules, outcome->time_ms);
    if (node->failure_count == QUARANTINE_FAILURES_MAX) {
        remove_failure(node, find_spare(node));
    }
    ASSERT(node->failure_count < QUARANTINE_FAILURES_MAX);
    node->failures[node->failure_count++] = (struct quarantine_failure){
        outcome->time_ms, outcome->job_set, outcome->gang};
}

void quarantine_note(struct quarantine *node,
                     const struct quarantine_policy *rules,
                     const struct quarantine_outcome *outcome)
{
    bool is_of_trial =
        node->health == NODE_TRIAL && outcome->leased_ms >= node->since_ms;

    quarantine_window_add(&node->window, rules, outcome->time_ms,
                          outcome->is_failed, 1);
    if (outcome->is_failed) {
        add_failure(node, rules, outcome);
    }
    node->success_count += is_of_trial && !outcome->is_failed;
    node->has_failed |= is_of_trial && outcome->is_failed;
}

bool quarantine_forgive(struct quarantine *node,
                        const struct quarantine_policy *rules, uint64_t gang,
                        int64_t time_ms)
{
    for (uint32_t i = node->failure_count; i > 0; i--) {
        const struct quarantine_failure *failure = &node->failures[i - 1];
        if (failure->gang == gang && failure->time_ms == time_ms) {
            quarantine_window_add(&node->window, rules, time_ms, true, -1);
            remove_failure(node, i - 1);
            return true;
        }
    }
    return false;
}

static uint32_t count_job_sets(const struct quarantine *node,
                               const struct quarantine_policy *rules,
                               int64_t now_ms)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < node->failure_count; i++) {
        bool is_first =
            quarantine_is_recent(rules, node->failures[i].time_ms, now_ms);
        for (uint32_t k = i + 1; k < node->failure_count && is_first; k++) {
            is_first = node->failures[k].job_set != node->failures[i].job_set;
        }
        count += is_first;
    }
    return count;
}

bool quarantine_is_due(const struct quarantine *node,
                       const struct quarantine_policy *rules,
                       struct quarantine_sums rest, int64_t now_ms)
{
    struct quarantine_sums own =
        quarantine_window_sums(&node->window, rules, now_ms);

    if (node->health != NODE_NORMAL || own.failed == 0 ||
        own.failed < rules->failures_min) {
        return false;
    }
    bool is_often = (i128)own.failed * FRACTION_ONE_PPM >=
                    (i128)own.ended * rules->failure_rate_ppm;
    /* own.failed / own.ended >= factor * rest.failed / rest.ended */
    bool is_worse =
        rest.ended == 0 ||
        (i128)own.failed * (i128)rest.ended * FRACTION_ONE_PPM >=
            (i128)rest.failed * (i128)own.ended * rules->pool_factor_ppm;
    return is_often && is_worse &&
           count_job_sets(node, rules, now_ms) >= rules->job_sets_min;
}

int64_t quarantine_next_probation(const struct quarantine *node,
                                  const struct quarantine_policy *rules)
{
    int64_t next_ms =
        node->probation_ms > 0 ? node->probation_ms * 2 : rules->probation_ms;

    return next_ms < rules->probation_max_ms ? next_ms
                                             : rules->probation_max_ms;
}

enum node_health quarantine_next(const struct quarantine *node,
                                 const struct quarantine_policy *rules,
                                 int64_t now_ms)
{
    if (node->health == NODE_OUT && !node->is_pinned &&
        now_ms >= node->until_ms) {
        return NODE_TRIAL;
    }
    if (node->health == NODE_TRIAL && node->has_failed) {
        return NODE_OUT;
    }
    if (node->health == NODE_TRIAL &&
        node->success_count >= rules->trial_successes) {
        return NODE_NORMAL;
    }
    return node->health;
}

bool quarantine_is_empty(const struct quarantine *node,
                         const struct quarantine_policy *rules, int64_t now_ms)
{
    return node->health == NODE_NORMAL &&
           quarantine_window_sums(&node->window, rules, now_ms).ended == 0;
}

void quarantine_pack(struct strbuf *buf, const struct quarantine *node,
                     const struct quarantine_policy *rules, int64_t now_ms)
{
    struct quarantine copy = *node;

    forget_old(&copy, rules, now_ms);
    quarantine_window_pack(buf, &copy.window, rules, now_ms);
    pack_u64(buf, copy.failure_count);
    for (uint32_t i = 0; i < copy.failure_count; i++) {
        pack_i64(buf, copy.failures[i].time_ms);
        pack_u64(buf, copy.failures[i].job_set);
        pack_u64(buf, copy.failures[i].gang);
    }
    pack_u64(buf, copy.health);
    pack_u64(buf, copy.is_pinned);
    pack_i64(buf, copy.since_ms);
    pack_i64(buf, copy.until_ms);
    pack_i64(buf, copy.probation_ms);
    pack_u64(buf, copy.success_count);
    pack_u64(buf, copy.has_failed);
}

void quarantine_unpack(struct pack_reader *reader, struct quarantine *ret_node)
{
    struct quarantine node = {0};

    quarantine_window_unpack(reader, &node.window);
    node.failure_count = unpack_count(reader, QUARANTINE_FAILURES_MAX);
    for (uint32_t i = 0; i < node.failure_count && !reader->is_bad; i++) {
        node.failures[i].time_ms = unpack_i64(reader);
        node.failures[i].job_set = unpack_u64(reader);
        node.failures[i].gang = unpack_u64(reader);
    }
    node.health = unpack_count(reader, NODE_TRIAL);
    node.is_pinned = unpack_count(reader, 1);
    node.since_ms = unpack_i64(reader);
    node.until_ms = unpack_i64(reader);
    node.probation_ms = unpack_i64(reader);
    node.success_count = unpack_count(reader, UINT32_MAX);
    node.has_failed = unpack_count(reader, 1);
    *ret_node = node;
}
