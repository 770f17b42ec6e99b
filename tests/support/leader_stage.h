/*
 * leader_stage - a leader over the log in memory, with a clock that stands
 * until it is moved, and executors played by the test.
 *
 * The leader can be dropped and started again at any moment: what it had
 * acknowledged is in the storage.
 *
 *     leader_stage.c           time, the leader, what is asked of it
 *     leader_stage_commands.c  commands as the API makes them
 *     leader_stage_log.c       what the log says of it, as text
 */
#pragma once

#include "base/vec.h"
#include "control/audit/audit.h"
#include "control/command/session.h"
#include "control/control.h"
#include "elog/elog_memory.h"
#include "wire/log/log_codec.h"

struct stage {
    struct clock clock; /* first member */
    uint64_t mono_ns;
    int64_t wall_ms;
    struct rng rng;
    struct elog_memory_storage *storage;
    struct elog *log;
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct control *control;
    struct policy policy;
    struct control_hooks hooks;
    struct planner *planner; /* NULL: plans are made in the step */
    uint64_t checkpoint_events;
    int64_t retention_ms;
    int64_t deduplication_ms; /* 0: the leader's own */
    uint32_t job_count;       /* made so far */
    int step_rc;              /* of the last step */
    struct err err;
    /* The command of the last stage_do(), answered, kept whole. */
    struct command *answer;
    struct command *wanted; /* the one that is waited for */
    uint32_t answer_count;
};

/* What a job to submit is like; zero is a preemptible job of 1 cpu. */
struct stage_job {
    const char *priority_class, *client_id, *gang;
    uint32_t gang_cardinality, gang_minimum;
    const char *gang_uniformity;
    const struct gang_terms *terms; /* of its gang; NULL: none.  All but the
                                       first of a command are further jobs */
    uint32_t sub_group;
    uint32_t priority;
    int64_t cpu_milli; /* 0: 1000 */
    const char *also;  /* another resource, of which it asks for 1; or NULL */
    bool is_fail_fast, is_requeue_preempted, is_requeue_lost;
    uint32_t class_salt; /* another class for each; 0: none */
    const char *application;
    const char *pool; /* its home; NULL: names none */
    bool has_stateaware_off;
    int64_t deadline_ms;         /* 0: unknown */
    const struct job_wait *wait; /* what it waits for; NULL: nothing */
    bool is_wait_known;          /* the store has that job, not ended */
    const char *turn_group;      /* of which `turn_limit` run; NULL: none */
    uint32_t turn_limit;
    uint32_t host_port; /* of TCP; 0: none */
};

/* A stage with an empty log and the default policy; not started. */
void stage_init(struct stage *stage);
/* Drop the leader and the storage. */
void stage_fini(struct stage *stage);
/* A stage that leads, with queue `q` and executor `e` of `node_count` nodes;
 * stage_end() it. */
struct stage *stage_begin(uint32_t node_count) must_check;
/* The same in a pool where nothing starves, nor is any gang kept. */
struct stage *stage_begin_unkept(uint32_t node_count) must_check;
/* Settle it, check it, and free it. */
void stage_end(struct stage *stage);
/* Start a leader and step until it leads. */
void stage_start(struct stage *stage);
/* Drop the leader as a crash would; what was durable stays. */
void stage_crash(struct stage *stage);
/* One step. */
void stage_step(struct stage *stage);
/* Step, moving the clock on as far as the leader asks (at most `ms` in all),
 * until it wants to sleep longer than a balance period. */
void stage_settle(struct stage *stage);
/* Move the clock on, stepping at least every second of it. */
void stage_pass(struct stage *stage, int64_t ms);

/* Post a command that stage_fill()ed and step until it is answered; the
 * answer is stage->answer, borrowed until the next. */
void stage_do(struct stage *stage, struct command *command);
/* Ask why a job waits, or how it ended, which must be answered; the answer is
 * valid until the next stage_do(). */
const struct command *stage_explain(struct stage *stage, struct job_id job);
/* Post without stepping. */
void stage_post(struct stage *stage, struct command *command);
/* Append one event in a sequence of that queue, set and user. */
void stage_event(struct stage *stage, const char *queue, const char *job_set,
                 const char *user, const struct event *event);
/* A command that does the same. */
struct command *stage_event_command(const char *queue, const char *job_set,
                                    const char *user,
                                    const struct event *event) must_check;
/* A command that submits `count` jobs to queue/`set`, as anna. */
struct command *stage_submit_command(struct stage *stage, const char *queue,
                                     const struct stage_job *jobs,
                                     uint32_t count) must_check;
/* A command that makes a queue of weight 1. */
struct command *stage_queue_command(const char *name) must_check;
/* The same with an ordering, as the API calls it; a stateaware one lets jobs
 * opt out. */
struct command *stage_ordered_queue_command(const char *name,
                                            const char *ordering) must_check;
/* Do it. */
void stage_queue(struct stage *stage, const char *name);
/* A command that makes a TrainingJob whose pods are `jobs`, of a gang with
 * these terms: parameter servers are the auxiliary sub-group, trainers the
 * other. */
struct command *
stage_training_command(struct stage *stage, const char *queue, const char *name,
                       const struct stage_job *jobs,
                       const struct gang_terms *terms) must_check;
/* A command about one of that name, as anna. */
struct command *stage_training_about(enum command_kind kind, const char *queue,
                                     const char *name) must_check;
/* Submit one job to queue/`set` as anna: the id answered. */
struct job_id stage_submit(struct stage *stage, const char *queue,
                           struct stage_job job);
/* The same of queue `q`, then settle. */
struct job_id stage_leased(struct stage *stage, struct stage_job job);

/* Ask for a job of queue/`set` to be cancelled. */
void stage_cancel(struct stage *stage, struct job_id job);

/* A whole exchange of `executor`, which has `node_count` nodes n0, n1, ... of
 * 10 cpu (0: says nothing about nodes) and holds `runs`. */
struct command *stage_exchange_command(const char *executor,
                                       uint32_t node_count,
                                       const struct run_id *runs,
                                       uint32_t run_count) must_check;
/* Do it; the answer is stage->answer->exchange.response. */
void stage_exchange(struct stage *stage, const char *executor,
                    uint32_t node_count, const struct run_id *runs,
                    uint32_t run_count);
/* An executor reports an event about the newest run of a job. */
void stage_report(struct stage *stage, struct job_id job, enum event_type type);
/* An executor gives the newest run of a job back. */
void stage_give_back(struct stage *stage, struct job_id job,
                     bool is_run_attempted);
/* An executor reports that a run failed. */
void stage_fail(struct stage *stage, struct job_id job);

/* The types of all events in the log about `job`, oldest first, as text:
 * "submit leased assigned ...".  mem_free() it. */
char *stage_history(struct stage *stage, struct job_id job) must_check;
/* Settle, then hold the history of `job` against a text; of unit.h. */
#define STAGE_HISTORY(stage, job, text)                          \
    do {                                                         \
        stage_settle(stage);                                     \
        auto_mem char *history_ = stage_history((stage), (job)); \
        assert_string_equal(history_, (text));                   \
    } while (0)
/* The newest run of a job that was leased; none if it never was. */
struct run_id stage_run(struct stage *stage, struct job_id job);
/* The message of the last failure of a job, or "".  mem_free() it. */
char *stage_failure(struct stage *stage, struct job_id job) must_check;
/* The reason of the last preemption of a job, or "".  mem_free() it. */
char *stage_preemption(struct stage *stage, struct job_id job) must_check;
/* Whether every decision in the log is made again from the log alone; the first
 * difference goes to standard error.  `ret_counts` may be NULL. */
bool stage_is_made_again(struct stage *stage,
                         struct control_audit_counts *ret_counts);
/* How many events of a type there are in the log. */
uint32_t stage_count(struct stage *stage, enum event_type type);

/* A zeroed event of a type. */
struct event stage_event_make(enum event_type type);
