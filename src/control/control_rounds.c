/* Rounds: when each shard of the planner is asked, and what it answers.
 *
 * Without pool objects there is one shard.  With some, each has rounds of its
 * own, in order of names after Default's; what is news is news to all. */
#include "control/control_rounds.h"

#include "control/control_batch.h"
#include "control/control_private.h"

enum {
    US_PER_MS = 1000,
    LOOK_MS = 5, /* between looks whether a plan is back */
    /* While some plan is always out, questions hold up others so often. */
    ASKED_AGAIN_MS = 10 * CONTROL_PATIENCE_MS,
    /* Before lenders are asked again, without news; longer each time. */
    LENDERS_MS_MIN = 1000,
    LENDERS_MS_MAX = 8000,
    /* What a decision takes in a record, about; and how much there may be of
     * it for plans that are back to go into it. */
    DECISION_BYTES = 1024,
    BACK_BYTES_MAX = 4 * CONTROL_BATCH_BYTES,
};

struct shard_rounds *rounds_of(struct control *c, uint32_t shard)
{
    while (c->rounds.count <= shard) {
        VEC_PUSH(&c->rounds, (struct shard_rounds){.wake_ms = INT64_MAX});
    }
    return &c->rounds.items[shard];
}

/* The shards in the order in which they are planned: Default, then objects by
 * name. */
static uint32_t shard_at(const struct control *c, uint32_t at)
{
    return at == 0 ? (uint32_t)POOLS_DEFAULT
                   : pools_object_shard(c->pools, at - 1);
}

static struct str shard_name(const struct control *c, uint32_t shard)
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

/* A plan made in the step is told in one event; one made beside the leader in
 * several, of which this is the last. */
static void add_round_done(struct control *c, uint32_t shard,
                           enum round_kind kind, uint64_t seen_seq,
                           bool has_effect)
{
    struct event_scope scope = {0};
    struct event event;

    if (seen_seq) {
        struct round_fact fact = {EVENT_ROUND_DONE, kind, shard,
                                  c->batch.time_ms, seen_seq};
        fact_add(c, &fact, !has_effect);
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
    event.round.pool = shard_name(c, shard);
    log_batch_add(&c->batch.log, &scope, &event);
}

/* Remember how long a round took, and when the next may begin: after fast
 * rounds at least as much time goes to other things. */
static void time_round(struct control *c, struct shard_rounds *rounds,
                       enum round_kind kind, uint64_t started_ns)
{
    uint64_t now_ns = control_mono_ns(c);
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
        uint32_t shard = shard_at(c, i);
        if (pools_has_guests(c->pools, shard)) {
            rounds_of(c, shard)->is_plan_wanted = true;
        }
    }
}

/* What waits at home and found no lender only because of the moment asks again
 * though nothing happens. */
static void ask_again(struct control *c)
{
    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        uint32_t shard = shard_at(c, i);
        struct shard_rounds *rounds = rounds_of(c, shard);
        if (!pools_must_ask_again(c->pools, shard)) {
            rounds->ask_at_ms = 0;
            continue;
        }
        if (!rounds->ask_at_ms) {
            int64_t pause_ms =
                rounds->ask_pause_ms ? rounds->ask_pause_ms : LENDERS_MS_MIN;
            rounds->ask_at_ms = c->batch.time_ms + pause_ms;
            rounds->ask_pause_ms =
                2 * pause_ms < LENDERS_MS_MAX ? 2 * pause_ms : LENDERS_MS_MAX;
        }
        if (rounds->ask_at_ms < rounds->wake_ms) {
            rounds->wake_ms = rounds->ask_at_ms;
        }
    }
}

/* A plan is there: what of it stands goes into the batch. */
static void take_plan(struct control *c, uint32_t shard, enum round_kind kind,
                      uint64_t started_ns, uint64_t seen_seq,
                      struct sched_plan *plan)
{
    uint32_t before_count = c->batch.decision_count;
    bool has_lent = pools_borrow(c->pools, shard, kind, plan) > 0;
    struct shard_rounds *rounds = rounds_of(c, shard);

    reset_in_batch_counts(c);
    bool is_whole = batch_add_plan(c, plan);
    /* What this plan leaves undone, the next one does. */
    bool is_cut = plan->is_cut || !is_whole;
    rounds->is_plan_wanted |= is_cut;
    rounds->is_balance_wanted |=
        kind == ROUND_BALANCE && (is_cut || plan->decision_count > 0);
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
    take_plan(c, shard, kind, started_ns, 0, &plan);
}

/* Plans beside the leader.  The planner has the state of a shard alone while it
 * plans; what happens meanwhile is kept for it (pools.h). */

void round_begin(struct control *c, uint32_t shard, enum round_kind kind,
                 int64_t now_ms)
{
    struct shard_rounds *rounds = rounds_of(c, shard);

    if (rounds->is_out) {
        return;
    }
    if (!rounds->task) {
        rounds->task = mem_alloc(sizeof(*rounds->task));
    }
    pools_figures_keep(c->pools, shard, c->batch.time_ms);
    *rounds->task = (struct planner_task){
        .sched = pools_plan_begin(c->pools, shard),
        .now_ms = now_ms,
        .kind = kind,
        .decision_count_max = CONTROL_DECISIONS_MAX,
        .pool = shard_name(c, shard),
    };
    rounds->is_plan_wanted = false;
    rounds->is_balance_wanted &= kind != ROUND_BALANCE;
    rounds->is_out = true;
    rounds->started_ns = control_mono_ns(c);
    rounds->seen_seq = c->seq;
    c->config.planner->begin(c->config.planner, rounds->task);
}

void round_take_back(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);

    if (rounds->is_out && !rounds->is_back) {
        rounds->is_back = true;
        (void)pools_plan_end(c->pools, shard, &rounds->task->plan);
    }
}

bool round_finish(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);
    struct planner_task *task = rounds->task;

    if (!rounds->is_back) {
        return false;
    }
    rounds->is_out = rounds->is_back = false;
    take_plan(c, shard, task->kind, rounds->started_ns, rounds->seen_seq,
              &task->plan);
    return true;
}

void round_drop(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);

    if (rounds->is_back) {
        rounds->is_out = rounds->is_back = false;
        rounds->is_plan_wanted = rounds->is_balance_wanted = true;
        pools_plan_forget(c->pools, shard);
    }
}

void rounds_commit(struct control *c)
{
    bool has_lent = false;

    for (size_t i = 0; i < c->batch.planned.count; i++) {
        has_lent |= pools_plan_commit(c->pools, c->batch.planned.items[i]);
    }
    if (has_lent) {
        wake_lenders(c);
    }
}

void rounds_forget(struct control *c)
{
    for (size_t i = 0; i < c->batch.planned.count; i++) {
        pools_plan_forget(c->pools, c->batch.planned.items[i]);
    }
    c->batch.planned.count = 0;
}

/* What is told of the round of a shard that is out. */
static struct round_fact fact_of(struct control *c, enum event_type type,
                                 uint32_t shard)
{
    const struct shard_rounds *rounds = rounds_of(c, shard);

    return (struct round_fact){type, rounds->task->kind, shard,
                               c->batch.time_ms, rounds->seen_seq};
}

static void begin(struct control *c, uint32_t shard, enum round_kind kind)
{
    round_begin(c, shard, kind, c->batch.time_ms);
    struct round_fact fact = fact_of(c, EVENT_ROUND_BEGUN, shard);
    fact_add(c, &fact, true);
}

/* Whether the batch has room for a plan beside those that were taken: for the
 * first there is some in all that else goes into a batch. */
static bool has_room(const struct control *c, uint32_t taken_count,
                     uint32_t decision_count)
{
    size_t bytes = log_batch_bytes(&c->batch.log) +
                   (size_t)decision_count * DECISION_BYTES;

    return taken_count == 0 || bytes <= BACK_BYTES_MAX;
}

/* The plans that are back, as many as the batch has room for: what is taken
 * goes into it, for the state is another after it.  First all their shards are
 * idle again, since one may lend to another. */
static void take_back(struct control *c)
{
    uint32_t count = (uint32_t)c->rounds.count;
    uint32_t first = c->first_back < count ? c->first_back : 0;
    uint32_t taken_count = 0, decision_count = 0;

    c->first_back = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t shard = (first + n) % count;
        struct shard_rounds *rounds = &c->rounds.items[shard];
        if (!rounds->is_out) {
            continue;
        }
        if (pools_is_full(c->pools, shard)) {
            c->config.planner->wait(c->config.planner, rounds->task);
        } else if (!c->config.planner->is_done(c->config.planner,
                                               rounds->task)) {
            continue;
        } else if (!has_room(c, taken_count,
                             decision_count +
                                 rounds->task->plan.decision_count)) {
            c->first_back = c->first_back ? c->first_back : shard;
            continue;
        }
        taken_count++;
        decision_count += rounds->task->plan.decision_count;
        struct round_fact fact = fact_of(c, EVENT_ROUND_BACK, shard);
        fact_add(c, &fact, true);
        round_take_back(c, shard);
        if (pools_take_news(c->pools)) {
            c->is_plan_wanted = c->is_balance_wanted = true;
        }
    }
}

static bool is_beside(const struct control *c)
{
    return c->config.planner && pools_object_count(c->pools) > 0;
}

static void plan(struct control *c, uint32_t shard, enum round_kind kind)
{
    if (is_beside(c)) {
        begin(c, shard, kind);
    } else {
        batch_plan_round(c, shard, kind);
    }
}

void rounds_abandon(struct control *c)
{
    for (uint32_t shard = 0; shard < c->rounds.count; shard++) {
        struct shard_rounds *rounds = &c->rounds.items[shard];
        if (rounds->is_out) {
            struct round_fact back = fact_of(c, EVENT_ROUND_BACK, shard);
            struct round_fact dropped = fact_of(c, EVENT_ROUND_DROPPED, shard);
            c->config.planner->wait(c->config.planner, rounds->task);
            fact_keep(c, &back);
            round_take_back(c, shard);
            fact_keep(c, &dropped);
            round_drop(c, shard);
        }
        mem_free(rounds->task);
        rounds->task = NULL;
    }
}

static bool is_question(const struct command *command)
{
    switch ((int)command->kind) {
    case COMMAND_SUBMIT:
    case COMMAND_EVENTS:
    case COMMAND_EXCHANGE:
    case COMMAND_SESSION_END:
    case COMMAND_TRAINING_UPDATE:
    case COMMAND_TRAINING_DELETE:
        return false;
    default:
        return true;
    }
}

/* Whether questions wait.  Their patience is all that they cost the pools that
 * are not the slow one. */
static bool is_asked(const struct control *c, uint64_t now_ns)
{
    return c->held_since &&
           now_ns - c->held_since < CONTROL_PATIENCE_MS * (uint64_t)NS_PER_MS;
}

bool rounds_are_held(const struct control *c)
{
    return c->holds_plans || is_asked(c, control_mono_ns(c));
}

bool rounds_must_wait(struct control *c, const struct command *command)
{
    uint64_t now_ns = control_mono_ns(c);

    if (!is_question(command) || !pools_is_any_busy(c->pools)) {
        return false;
    }
    if (!c->held_since ||
        now_ns - c->held_since >= ASKED_AGAIN_MS * (uint64_t)NS_PER_MS) {
        c->held_since = now_ns;
    }
    return is_asked(c, now_ns);
}

/* In a pool that borrows before it preempts, a balance round comes when fast
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
    return rounds->is_plan_wanted || pools_away_count(c->pools, shard) > 0;
}

static void add_one(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);
    uint64_t now_ns = control_mono_ns(c);

    if (rounds->is_out || c->batch.changes_pools ||
        (is_beside(c) && rounds_are_held(c))) {
        return;
    }
    if (rounds->wake_ms <= c->batch.time_ms) {
        /* Only the balance round does all that a wake may be for. */
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
        struct shard_rounds *rounds = rounds_of(c, shard_at(c, i));
        rounds->is_plan_wanted |= c->is_plan_wanted;
        rounds->is_balance_wanted |= c->is_balance_wanted;
        if (c->is_balance_wanted) {
            rounds->ask_pause_ms = 0;
        }
    }
    c->is_plan_wanted = c->is_balance_wanted = false;
}

void rounds_add(struct control *c)
{
    uint32_t count = pools_object_count(c->pools) + 1;
    uint32_t first = c->first_shard;
    bool is_full = false;

    take_back(c);
    share_news(c);
    c->first_shard = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (first + i) % count;
        if (round_finish(c, shard_at(c, at))) {
            continue; /* the next begins when this is durable */
        }
        if (is_full) {
            continue;
        }
        is_full = log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES;
        if (is_full) {
            c->first_shard = at; /* the next batch goes on here */
        } else {
            add_one(c, shard_at(c, at));
        }
    }
    if (!pools_is_any_busy(c->pools)) {
        c->holds_plans = false;
        c->held_since = 0;
    }
}

uint32_t rounds_shard(const struct control *c, struct str pool)
{
    for (uint32_t i = 1; i <= pools_object_count(c->pools); i++) {
        if (str_equal(pools_object(c->pools, i - 1)->name, pool)) {
            return shard_at(c, i);
        }
    }
    return POOLS_DEFAULT;
}

uint64_t rounds_due_ns(struct control *c, int64_t wall_ms)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t due_ns = UINT64_MAX;

    for (uint32_t i = 0; i <= pools_object_count(c->pools); i++) {
        const struct shard_rounds *rounds = rounds_of(c, shard_at(c, i));
        uint64_t next_ns = UINT64_MAX;
        if (rounds->is_out) {
            next_ns = now_ns + LOOK_MS * (uint64_t)NS_PER_MS;
            due_ns = next_ns < due_ns ? next_ns : due_ns;
            continue;
        }
        if (rounds->is_plan_wanted || c->is_plan_wanted) {
            next_ns = rounds->fast_due_ns;
        }
        if ((rounds->is_balance_wanted || c->is_balance_wanted) &&
            rounds->balance_due_ns < next_ns) {
            next_ns = rounds->balance_due_ns;
        }
        if (rounds->borrowing_since_ns && next_ns <= now_ns) {
            next_ns = now_ns + LOOK_MS * (uint64_t)NS_PER_MS;
        }
        if (rounds->wake_ms != INT64_MAX &&
            rounds->wake_ms - wall_ms < CONTROL_WAKE_MS_MAX) {
            int64_t in_ms =
                rounds->wake_ms > wall_ms ? rounds->wake_ms - wall_ms : 0;
            uint64_t wake_ns = now_ns + (uint64_t)in_ms * NS_PER_MS;
            next_ns = wake_ns < next_ns ? wake_ns : next_ns;
        }
        due_ns = next_ns < due_ns ? next_ns : due_ns;
    }
    return due_ns;
}
