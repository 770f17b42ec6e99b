/*
 * rounds - when each shard is planned, and what is logged about plans that are
 * made in parallel.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "control/round/planner.h"
#include "model/event.h"
#include "sched/sched.h"

struct control;

/* When one shard of the planner is to be asked. */
struct shard_rounds {
    bool is_plan_wanted, is_balance_wanted;
    uint64_t fast_due_ns, balance_due_ns;
    int64_t wake_ms; /* wall time; INT64_MAX: none */
    /* For BORROW_FIRST: since when the full round that is due has waited for
     * borrowers to find places; 0: it has not. */
    uint64_t borrowing_since_ns;
    /* When lenders are asked again, 0: not; and the pause before that is done
     * once more, 0: the shortest, as after news. */
    int64_t ask_at_ms, ask_pause_ms;
    /* While the planner has it: what it was asked, when, and on which state. */
    bool is_out;
    bool is_back; /* what it decided is not in a batch yet */
    uint64_t started_ns, seen_seq;
    struct planner_task *task; /* owned */
};

/* Something about a plan that is made beside the leader: it began, was back,
 * is done or was dropped.  See round_log.c. */
struct round_entry {
    enum event_type type; /* EVENT_ROUND_... */
    enum round_kind kind;
    uint32_t shard;
    int64_t at_ms;
    uint64_t seen_seq; /* of the state that it was planned on */
};

/* round/rounds.c */

/* How the rounds of a shard stand. */
struct shard_rounds *rounds_of(struct control *c, uint32_t shard);
/* The shards in the order in which they are planned: Default, then objects by
 * name. */
uint32_t rounds_shard_at(const struct control *c, uint32_t at);
/* The shard of a pool object's name, else Default's. */
uint32_t rounds_shard(const struct control *c, struct str pool);
/* Plan what is due, and add what is decided. */
void rounds_add(struct control *c);
/* When a round is next due; UINT64_MAX: never. */
uint64_t rounds_due_ns(struct control *c, int64_t wall_ms);

/* round/round.c */

/* The name of a shard's pool object; empty: it is Default's. */
struct str rounds_shard_name(const struct control *c, uint32_t shard);
/* Plan a shard, and add what the plan decides. */
void batch_plan_round(struct control *c, uint32_t shard, enum round_kind kind);
/* A plan is there: what of it stands goes into the batch.  `seen_seq` is that
 * of the state it was made on beside the leader; 0: it was made in the step. */
void round_take_plan(struct control *c, uint32_t shard, enum round_kind kind,
                     uint64_t started_ns, uint64_t seen_seq,
                     struct sched_plan *plan);
/* The plans of the batch stand: it was folded. */
void rounds_commit(struct control *c);
/* They come to nothing, and leave no trace. */
void rounds_forget(struct control *c);

/* async_planning.c */

/* Whether plans are made beside the leader. */
bool rounds_are_async(const struct control *c);
/* Begin one, and tell of it. */
void rounds_begin(struct control *c, uint32_t shard, enum round_kind kind);
/* The plans that are back, as many as the batch has room for: what is taken
 * goes into it, for the state is another after it.  First all their shards are
 * idle again, since one may lend to another. */
void rounds_take_back(struct control *c);
/* Whether a command must wait until no plan is being made: what changes pools
 * does, and for a while what asks about them. */
bool rounds_must_wait(struct control *c, const struct command *command);
/* Whether no plan may begin beside the leader, since somebody waits for those
 * that are being made. */
bool rounds_are_held(const struct control *c);
/* Wait for all plans that are being made, and leave them unused. */
void rounds_abandon(struct control *c);
/* For who makes the rounds of a log again.  Begin a plan beside the leader, as
 * of a time; nothing where one is out. */
void round_begin(struct control *c, uint32_t shard, enum round_kind kind,
                 int64_t now_ms);
/* It is back: its shard is told what was kept for it. */
void round_take_back(struct control *c, uint32_t shard);
/* What stands of one that is back goes into the batch; false: none is. */
bool round_finish(struct control *c, uint32_t shard);
/* One that is back comes to nothing. */
void round_drop(struct control *c, uint32_t shard);

/* round_log.c */

/* A batch begins with what happened since the last record. */
void round_log_open(struct control *c);
/* Something happens while a batch is formed; `is_quiet`: that alone is worth no
 * record. */
void round_log_add(struct control *c, const struct round_entry *entry,
                   bool is_quiet);
/* Something happens while none is formed. */
void round_log_keep(struct control *c, const struct round_entry *entry);
/* Whether the batch has nothing that is worth a record. */
bool round_log_is_all(const struct control *c);
/* Such a batch is not appended: what it tells waits for the next one. */
void round_log_defer(struct control *c);
/* The batch is durable: all is told. */
void round_log_clear(struct control *c);
/* It is not: its rounds come to nothing, which is told with the next. */
void round_log_fail(struct control *c);
