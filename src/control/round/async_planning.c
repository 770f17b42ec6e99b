/* Plans in parallel to the leader's step.  A shard belongs to its planner while
 * it plans; changes meanwhile are kept for it (pools.h). */

#include "control/round/rounds.h"
#include "control/state/state.h"

enum {
    /* While some plan is always out, questions hold up others so often. */
    ASKED_AGAIN_MS = 10 * CONTROL_PATIENCE_MS,
    /* What a decision takes in a record, about; and how much there may be of
     * it for plans that are back to go into it. */
    DECISION_BYTES = 1024,
    BACK_BYTES_MAX = 4 * CONTROL_BATCH_BYTES,
};

bool rounds_are_async(const struct control *c)
{
    return c->config.planner && pools_object_count(c->pools) > 0;
}

void round_begin(struct control *c, uint32_t shard, enum round_kind kind,
                 int64_t now_ms)
{
    struct shard_rounds *rounds = rounds_of(c, shard);

    if (rounds->is_out) {
        return;
    }
    ASSERT(!pools_is_busy(c->pools, shard)); /* one planner of a shard */
    ASSERT(!rounds->is_back);
    if (!rounds->task) {
        rounds->task = mem_alloc(sizeof(*rounds->task));
    }
    pools_figures_keep(c->pools, shard, c->batch.time_ms);
    *rounds->task = (struct planner_task){
        .sched = pools_plan_begin(c->pools, shard),
        .now_ms = now_ms,
        .kind = kind,
        .decision_count_max = CONTROL_DECISIONS_MAX,
        .pool = rounds_shard_name(c, shard),
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

    ASSERT(rounds->is_out || !rounds->is_back); /* what is back was out */
    if (rounds->is_out && !rounds->is_back) {
        ASSERT(rounds->seen_seq <=
               c->seq); /* of the state that it was made on */
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
    /* What changes pools waits for all plans. */
    ASSERT(rounds->is_out && !c->batch.changes_pools);
    rounds->is_out = rounds->is_back = false;
    round_take_plan(c, shard, task->kind, rounds->started_ns, rounds->seen_seq,
                    &task->plan);
    return true;
}

void round_drop(struct control *c, uint32_t shard)
{
    struct shard_rounds *rounds = rounds_of(c, shard);

    if (rounds->is_back) {
        ASSERT(rounds->is_out && !pools_is_busy(c->pools, shard));
        rounds->is_out = rounds->is_back = false;
        rounds->is_plan_wanted = rounds->is_balance_wanted = true;
        pools_plan_forget(c->pools, shard);
    }
}

/* And what is told of them. */

/* What is told of the round of a shard that is out. */
static struct round_entry entry_of(struct control *c, enum event_type type,
                                   uint32_t shard)
{
    const struct shard_rounds *rounds = rounds_of(c, shard);

    ASSERT(rounds->is_out); /* only of those anything is told */
    return (struct round_entry){type, rounds->task->kind, shard,
                                c->batch.time_ms, rounds->seen_seq};
}

void rounds_begin(struct control *c, uint32_t shard, enum round_kind kind)
{
    round_begin(c, shard, kind, c->batch.time_ms);
    struct round_entry entry = entry_of(c, EVENT_ROUND_BEGUN, shard);
    round_log_add(c, &entry, true);
}

/* Whether the batch has room for another plan; there is always room for the
 * first. */
static bool has_room(const struct control *c, uint32_t taken_count,
                     uint32_t decision_count)
{
    size_t bytes = log_batch_bytes(&c->batch.log) +
                   (size_t)decision_count * DECISION_BYTES;

    return taken_count == 0 || bytes <= BACK_BYTES_MAX;
}

void rounds_take_back(struct control *c)
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
        struct round_entry entry = entry_of(c, EVENT_ROUND_BACK, shard);
        round_log_add(c, &entry, true);
        round_take_back(c, shard);
        if (pools_take_news(c->pools)) {
            c->is_plan_wanted = c->is_balance_wanted = true;
        }
    }
}

void rounds_abandon(struct control *c)
{
    for (uint32_t shard = 0; shard < c->rounds.count; shard++) {
        struct shard_rounds *rounds = &c->rounds.items[shard];
        if (rounds->is_out) {
            struct round_entry back = entry_of(c, EVENT_ROUND_BACK, shard);
            struct round_entry dropped =
                entry_of(c, EVENT_ROUND_DROPPED, shard);
            c->config.planner->wait(c->config.planner, rounds->task);
            round_log_keep(c, &back);
            round_take_back(c, shard);
            round_log_keep(c, &dropped);
            round_drop(c, shard);
        }
        mem_free(rounds->task);
        rounds->task = NULL;
    }
    ASSERT(!pools_is_any_busy(c->pools));
}

/* Who waits for them. */

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
