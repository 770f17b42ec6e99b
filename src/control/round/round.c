/* One round, from its plan to the batch. */

#include "control/decide/decide.h"
#include "control/fold/executors.h"
#include "control/round/rounds.h"
#include "control/state/state.h"

enum {
    US_PER_MS = 1000,
    /* Before lenders are asked again, without news; longer each time. */
    LENDERS_MS_MIN = 1000,
    LENDERS_MS_MAX = 8000,
};

struct str rounds_shard_name(const struct control *c, uint32_t shard)
{
    const struct pool_record *record = pools_shard_record(c->pools, shard);

    return record ? record->name : (struct str){0};
}

/* Leases of all rounds in one batch count together. */
static void reset_in_batch_counts(struct control *c)
{
    if (c->batch.is_counted) {
        return;
    }
    c->batch.is_counted = true;
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            c->executors.items[i]->in_batch_count = 0;
        }
    }
}

/* The log has a plan made in the step as one event, and a plan made beside the
 * leader as several, this being the last. */
static void add_round_done(struct control *c, uint32_t shard,
                           enum round_kind kind, uint64_t seen_seq,
                           bool has_effect)
{
    struct event_scope scope = {0};
    struct event event;

    if (seen_seq) {
        struct round_entry entry = {EVENT_ROUND_DONE, kind, shard,
                                    c->batch.time_ms, seen_seq};
        round_log_add(c, &entry, !has_effect);
        return;
    }
    if (!has_effect) {
        return;
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_ROUND_DONE;
    event.created_ms = c->batch.time_ms;
    event.round.kind = kind;
    event.round.started_ms = c->batch.time_ms;
    event.round.pool = rounds_shard_name(c, shard);
    log_batch_add(&c->batch.log, &scope, &event);
}

/* Remember how long a round took, and when the next may begin: after fast
 * rounds at least as much time goes to other things. */
static void time_round(struct control *c, struct shard_rounds *rounds,
                       enum round_kind kind, uint64_t started_ns)
{
    uint64_t now_ns = control_mono_ns(c);
    ASSERT(now_ns >= started_ns);
    uint64_t took_ns = now_ns - started_ns;
    uint64_t pause_ns = took_ns < CONTROL_FAST_MS * (uint64_t)NS_PER_MS
                            ? took_ns
                            : CONTROL_FAST_MS * (uint64_t)NS_PER_MS;
    int64_t period_ms = c->policy->policy.balance_period_ms;

    rounds->fast_due_ns = now_ns + pause_ns;
    if (kind == ROUND_BALANCE) {
        rounds->balance_due_ns =
            started_ns + (uint64_t)period_ms * (uint64_t)NS_PER_MS;
        c->metrics.balance_round_count++;
    } else {
        c->metrics.fast_round_count++;
    }
    c->metrics.round_us_last = took_ns / US_PER_MS;
    c->metrics.round_us_sum += c->metrics.round_us_last;
    if (c->metrics.round_us_last > c->metrics.round_us_max) {
        c->metrics.round_us_max = c->metrics.round_us_last;
    }
    round_counts_took(&c->metrics.rounds, c->metrics.round_us_last);
    if (c->unplanned_since_ns && c->unplanned_since_ns <= started_ns) {
        round_counts_considered(&c->metrics.rounds,
                                (now_ns - c->unplanned_since_ns) / US_PER_MS);
        c->unplanned_since_ns = 0;
    }
}

static uint32_t decisions_left(const struct control *c)
{
    return c->batch.decision_count < CONTROL_DECISIONS_MAX
               ? CONTROL_DECISIONS_MAX - c->batch.decision_count
               : 1;
}

/* Borrowers that were handed out are planned at once. */
static void wake_lenders(struct control *c)
{
    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        uint32_t shard = rounds_shard_at(c, i);
        if (pools_has_borrowers(c->pools, shard)) {
            rounds_of(c, shard)->is_plan_wanted = true;
        }
    }
}

/* What waits at home and found no lender only because of the moment asks again
 * though nothing happens. */
static void ask_again(struct control *c)
{
    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        uint32_t shard = rounds_shard_at(c, i);
        struct shard_rounds *rounds = rounds_of(c, shard);
        if (!pools_must_ask_again(c->pools, shard)) {
            rounds->ask_at_ms = 0;
            continue;
        }
        if (!rounds->ask_at_ms) {
            int64_t pause_ms =
                rounds->ask_pause_ms ? rounds->ask_pause_ms : LENDERS_MS_MIN;
            ASSERT(pause_ms >= LENDERS_MS_MIN && pause_ms <= LENDERS_MS_MAX);
            rounds->ask_at_ms = c->batch.time_ms + pause_ms;
            rounds->ask_pause_ms =
                2 * pause_ms < LENDERS_MS_MAX ? 2 * pause_ms : LENDERS_MS_MAX;
        }
        /* A full round that is wanted asks them when it is due. */
        if (!rounds->is_balance_wanted && rounds->ask_at_ms < rounds->wake_ms) {
            rounds->wake_ms = rounds->ask_at_ms;
        }
    }
}

void round_take_plan(struct control *c, uint32_t shard, enum round_kind kind,
                     uint64_t started_ns, uint64_t seen_seq,
                     struct sched_plan *plan)
{
    uint32_t before_count = c->batch.decision_count;
    bool has_lent = pools_borrow(c->pools, shard, kind, plan) > 0;
    struct shard_rounds *rounds = rounds_of(c, shard);

    ASSERT(!rounds->is_out);                 /* its shard is back */
    ASSERT(seen_seq <= c->seq);              /* it was made on what was */
    ASSERT(!pools_is_busy(c->pools, shard)); /* nobody else plans there */
    reset_in_batch_counts(c);
    bool is_whole = batch_add_plan(c, plan);
    /* What this plan leaves undone, the next one does. */
    bool is_truncated = plan->is_truncated || !is_whole;
    rounds->is_plan_wanted |= is_truncated;
    rounds->is_balance_wanted |=
        kind == ROUND_BALANCE && (is_truncated || plan->decision_count > 0);
    rounds->wake_ms = plan->next_wake_ms;
    rounds->ask_at_ms = kind == ROUND_BALANCE ? 0 : rounds->ask_at_ms;
    ask_again(c);
    rounds = rounds_of(c, shard); /* those of others may be new */
    /* Where a round stops is part of what the next decides: it is logged. */
    bool has_effect = c->batch.decision_count > before_count ||
                      plan->is_spent || plan->is_resumed || has_lent;
    add_round_done(c, shard, kind, seen_seq, has_effect);
    if (has_effect) {
        VEC_PUSH(&c->batch.planned, shard);
    } else {
        /* What it decided is not told, now or later: the plans of others do
         * not count on it. */
        (void)pools_plan_commit(c->pools, shard);
    }
    time_round(c, rounds, kind, started_ns);
    if (plan->is_spent) {
        c->metrics.spent_round_count++;
        rounds->balance_due_ns = rounds->fast_due_ns;
    }
}

void batch_plan_round(struct control *c, uint32_t shard, enum round_kind kind)
{
    uint64_t started_ns = control_mono_ns(c);
    struct shard_rounds *rounds = rounds_of(c, shard);
    struct sched_plan plan;

    rounds->is_plan_wanted = false;
    rounds->is_balance_wanted &= kind != ROUND_BALANCE;
    pools_plan(c->pools, shard, c->batch.time_ms, kind, decisions_left(c),
               &plan);
    round_take_plan(c, shard, kind, started_ns, 0, &plan);
}

void rounds_commit(struct control *c)
{
    bool has_lent = false;

    for (size_t i = 0; i < c->batch.planned.count; i++) {
        /* No other plan began before this one stood. */
        ASSERT(!pools_is_busy(c->pools, c->batch.planned.items[i]));
        has_lent |= pools_plan_commit(c->pools, c->batch.planned.items[i]);
    }
    if (has_lent) {
        wake_lenders(c);
    }
}

void rounds_forget(struct control *c)
{
    for (size_t i = 0; i < c->batch.planned.count; i++) {
        ASSERT(!pools_is_busy(c->pools, c->batch.planned.items[i]));
        pools_plan_forget(c->pools, c->batch.planned.items[i]);
    }
    c->batch.planned.count = 0;
}
