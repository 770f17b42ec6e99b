/* When each shard is planned.
 *
 * Without pool objects there is one shard.  Otherwise each shard has rounds of
 * its own, in order of names after Default's; a change wakes all shards. */
#include "control/round/rounds.h"

#include "control/state/state.h"

enum { LOOK_MS = 5 /* between looks whether a plan is back */ };

struct shard_rounds *rounds_of(struct control *c, uint32_t shard)
{
    while (c->rounds.count <= shard) {
        VEC_PUSH(&c->rounds, (struct shard_rounds){.wake_ms = INT64_MAX});
    }
    return &c->rounds.items[shard];
}

uint32_t rounds_shard_at(const struct control *c, uint32_t at)
{
    ASSERT(at <= pools_object_count(c->pools)); /* Default, then objects */
    return at == 0 ? (uint32_t)POOLS_DEFAULT
                   : pools_object_shard(c->pools, at - 1);
}

uint32_t rounds_shard(const struct control *c, struct str pool)
{
    for (uint32_t i = 1; i <= pools_object_count(c->pools); i++) {
        if (str_equal(pools_object(c->pools, i - 1)->name, pool)) {
            return rounds_shard_at(c, i);
        }
    }
    return POOLS_DEFAULT;
}

static void plan(struct control *c, uint32_t shard, enum round_kind kind)
{
    if (rounds_are_async(c)) {
        rounds_begin(c, shard, kind);
    } else {
        batch_plan_round(c, shard, kind);
    }
}

/* In a pool that borrows before it preempts, a full round comes when fast
 * ones have handed out all that waits, and the lenders have answered.  True:
 * not yet.  Work that comes all the time, or a lender that takes its own,
 * delays it by one period at most. */
static bool must_borrow_first(struct control *c, uint32_t shard,
                              struct shard_rounds *rounds)
{
    const struct pool_record *record = pools_shard_record(c->pools, shard);
    uint64_t period_ns =
        (uint64_t)c->policy->policy.balance_period_ms * NS_PER_MS;
    uint64_t now_ns = control_mono_ns(c);

    if (!record || record->preemption_order != BORROW_FIRST ||
        record->is_borrowing_off) {
        return false;
    }
    if (!rounds->borrowing_since_ns) {
        rounds->borrowing_since_ns = now_ns;
        rounds->is_plan_wanted = true;
    } else if (now_ns - rounds->borrowing_since_ns >= period_ns) {
        return false;
    }
    if (rounds->is_plan_wanted && now_ns >= rounds->fast_due_ns) {
        plan(c, shard, ROUND_FAST);
        return true;
    }
    return rounds->is_plan_wanted || pools_lent_count(c->pools, shard) > 0;
}

static void add_one(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);
    uint64_t now_ns = control_mono_ns(c);

    if (rounds->is_out || c->batch.changes_pools ||
        (rounds_are_async(c) && rounds_are_held(c))) {
        return;
    }
    if (rounds->wake_ms <= c->batch.time_ms) {
        /* Only the full round does all that a wake may be for. */
        rounds->wake_ms = INT64_MAX;
        rounds->is_plan_wanted = rounds->is_balance_wanted = true;
    }
    if (rounds->is_balance_wanted && now_ns >= rounds->balance_due_ns) {
        if (must_borrow_first(c, shard, rounds)) {
            return;
        }
        rounds->borrowing_since_ns = 0;
        plan(c, shard, ROUND_BALANCE);
    } else if (rounds->is_plan_wanted && now_ns >= rounds->fast_due_ns) {
        plan(c, shard, ROUND_FAST);
    }
}

/* What happened may matter to any shard. */
static void share_news(struct control *c)
{
    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        struct shard_rounds *rounds = rounds_of(c, rounds_shard_at(c, i));
        rounds->is_plan_wanted |= c->is_plan_wanted;
        rounds->is_balance_wanted |= c->is_balance_wanted;
        if (c->is_balance_wanted) {
            rounds->ask_pause_ms = 0;
        }
    }
    c->is_plan_wanted = c->is_balance_wanted = false;
}

/* Whether no plan is back that is not in the batch. */
static bool all_are_taken(const struct control *c)
{
    for (size_t i = 0; i < c->rounds.count; i++) {
        if (c->rounds.items[i].is_back) {
            return false;
        }
    }
    return true;
}

void rounds_add(struct control *c)
{
    uint32_t count = pools_object_count(c->pools) + 1;
    uint32_t first = c->first_shard;
    bool is_full = false;

    ASSERT(!c->batch.moves_nodes); /* plans are for nodes as they will be */
    rounds_take_back(c);
    share_news(c);
    c->first_shard = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (first + i) % count;
        if (round_finish(c, rounds_shard_at(c, at))) {
            continue; /* the next begins when this is durable */
        }
        if (is_full) {
            continue;
        }
        is_full = log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES;
        if (is_full) {
            c->first_shard = at; /* the next batch goes on here */
        } else {
            add_one(c, rounds_shard_at(c, at));
        }
    }
    ASSERT(all_are_taken(c)); /* what is back would be of an older state */
    if (!pools_is_any_busy(c->pools)) {
        c->holds_plans = false;
        c->held_since = 0;
    }
}

/* When a round of one shard is next due. */
static uint64_t shard_due_ns(const struct control *c,
                             const struct shard_rounds *rounds, uint64_t now_ns,
                             int64_t wall_ms)
{
    uint64_t look_ns = now_ns + LOOK_MS * (uint64_t)NS_PER_MS;
    uint64_t due_ns = UINT64_MAX;

    if (rounds->is_out) {
        return look_ns;
    }
    if (rounds->is_plan_wanted || c->is_plan_wanted) {
        due_ns = rounds->fast_due_ns;
    }
    if ((rounds->is_balance_wanted || c->is_balance_wanted) &&
        rounds->balance_due_ns < due_ns) {
        due_ns = rounds->balance_due_ns;
    }
    if (rounds->borrowing_since_ns && due_ns <= now_ns) {
        due_ns = look_ns;
    }
    if (rounds->wake_ms != INT64_MAX &&
        (rounds->wake_ms <= wall_ms ||
         rounds->wake_ms - wall_ms < CONTROL_FAR_MS)) {
        int64_t in_ms =
            rounds->wake_ms > wall_ms ? rounds->wake_ms - wall_ms : 0;
        uint64_t wake_ns = now_ns + (uint64_t)in_ms * NS_PER_MS;
        due_ns = wake_ns < due_ns ? wake_ns : due_ns;
    }
    return due_ns;
}

uint64_t rounds_due_ns(struct control *c, int64_t wall_ms)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        const struct shard_rounds *rounds = rounds_of(c, rounds_shard_at(c, i));
        uint64_t due_ns = shard_due_ns(c, rounds, now_ns, wall_ms);
        first_ns = due_ns < first_ns ? due_ns : first_ns;
    }
    return first_ns;
}
