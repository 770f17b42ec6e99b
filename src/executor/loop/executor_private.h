/*
 * executor_private - what the files of the loop share: the executor's state,
 * and the doors between
 *
 *     executor_runs.c   the table of runs
 *     executor_deferred.c   leases that wait for room
 *     executor_pods.c   what the runtime says: pods made, changed, found
 *     executor_asked.c  requests to the runtime that may get lost
 *     executor_lease.c  exchanges: what the server says, what we ask
 *     executor_notes.c  reports: what we tell, and what was acknowledged
 *     executor_facts.c  reports: addresses and usage
 *     executor.c        runtime, plan, step
 *
 * Not for use outside the folder.
 */
#pragma once

#include "armada/executorapi.pb-c.h"
#include "base/slots.h"
#include "executor/loop/executor.h"
#include "executor/loop/node_capacity.h"
#include "executor/loop/report.h"
#include "executor/port/node_set.h"

/* A run that we know of.  Its texts share one allocation. */
struct run {
    struct reconcile_row row;
    struct job_id job;
    char *texts; /* owned: those of enum run_text */
    struct str queue, job_set, namespace_, pod_name, node_name, pool, user;
    struct arena *lease_arena; /* owned, until created: holds `lease` */
    const Executorapi__JobRunLease *lease;
    char *text;     /* owned: why refused or returned; NULL */
    char *warnings; /* owned: not yet reported; NULL */
    int64_t created_ms, started_ms, ended_ms;
    struct node_capacity_share
        share; /* of its node, while its pod is to be there */
    bool is_used, is_dirty, is_refused, is_returned;
    bool has_pod;              /* in the runtime, of whatever phase */
    bool has_facts;            /* that are to be told */
    bool is_repacked;          /* on another node than it was leased for */
    bool is_deferred;          /* its lease waits for room: see deferred_run */
    int64_t deferred_until_ms; /* 0: it never waited */
};

/* A lease whose node has room once the pods that are being ended there have
 * ended. */
struct deferred_run {
    struct run_id id;
    int64_t until_ms;     /* then it goes back */
    uint32_t node;        /* node_capacity_node() */
    uint32_t freed_count; /* of the node, when it was last tried */
};

/* The texts of a run, as executor_add() takes them. */
enum run_text {
    RUN_QUEUE,
    RUN_JOB_SET,
    RUN_NAMESPACE,
    RUN_POD_NAME,
    RUN_NODE_NAME,
    RUN_POOL,
    RUN_USER,
    RUN_TEXTS,
};

/* A stop or a forget that was asked of the runtime. */
struct asked {
    struct run_id id;
    int64_t again_ms; /* it is repeated then, if it is not done */
};

/* A phase on its way to the server. */
struct note {
    uint32_t run_index;
    struct run_id id; /* the row may be another run's by then */
    enum reconcile_phase from, to;
};

/* A list of notes. */
struct note_list {
    struct note *items;
    size_t count, capacity;
};

enum exchange_state { EXCHANGE_NONE, EXCHANGE_OPEN, EXCHANGE_HELD };

struct executor {
    struct executor_options options;
    char *id, *pool; /* owned */
    const struct clock *clock;
    struct executor_transport *transport;
    struct runtime *runtime;
    struct executor_stats stats;

    SLOTS(struct run) runs;
    uint32_t waiting_count;  /* leased, not created yet */
    uint32_t deferred_count; /* of those: they wait for room */
    VEC(struct deferred_run) deferred;
    VEC(struct asked) asked; /* oldest first, from asked_first on */
    size_t asked_first;
    bool is_listed;        /* the runtime has told all that was there */
    bool may_have_changes; /* something was asked since the last look */
    struct map by_id;      /* run id -> index */
    struct node_capacity *capacity; /* owned */
    VEC(uint32_t) dirty;
    VEC(struct reconcile_row) plan_rows;
    VEC(uint32_t) plan_indexes;
    VEC(struct reconcile_action) plan;

    /* Ids whose start is for ever ruled out, oldest overwritten first. */
    struct run_id *forgotten; /* owned ring, [EXECUTOR_FORGOTTEN_MAX] */
    uint32_t forgotten_count, forgotten_next;
    struct map is_forgotten;

    struct note_list queued;  /* to be reported */
    struct note_list flying;  /* in the report under way */
    VEC(struct run_id) facts; /* to be told */
    VEC(struct run_id) facts_flying;
    struct report report;
    uint64_t ticket; /* of the report under way; 0: none */
    uint64_t last_ticket;
    int64_t queued_since_ms, report_retry_at_ms, report_backoff_ms;

    bool is_ending; /* nothing is started any more */

    enum exchange_state exchange;
    int64_t exchange_started_ms, exchange_next_ms, last_arrival_ms;
    int64_t request_sent_ms, nodes_sent_ms, inventory_sent_ms;
    uint64_t nodes_version; /* that the server was told on this exchange */
    uint32_t credit;        /* leases that the server may still push */
    VEC(struct run_id) added;
    VEC(struct run_id) removed;
    struct arena arena; /* of one step */
    struct strbuf out;
};

/* Milliseconds of the clock that never goes back. */
static inline int64_t executor_now_ms(const struct executor *executor)
{
    return (int64_t)(executor->clock->mono_ns(executor->clock) / 1000000);
}

/* Milliseconds since the epoch. */
static inline int64_t executor_wall_ms(const struct executor *executor)
{
    return executor->clock->wall_ms(executor->clock);
}

/* The run has changed: plan for it. */
void executor_mark(struct executor *executor, uint32_t index);
/* The run with this id and its index, or NULL. */
struct run *executor_find(struct executor *executor, struct run_id id,
                          uint32_t *ret_index);
/* A new run, marked. */
uint32_t executor_add(struct executor *executor, struct run_id id,
                      struct job_id job, const struct str texts[RUN_TEXTS]);
/* The lease is not needed any more. */
void executor_drop_lease(struct executor *executor, struct run *run);
/* Take a run out of the table. */
void executor_remove(struct executor *executor, uint32_t index);
/* The id must not start again. */
void executor_remember(struct executor *executor, struct run_id id);

/* Let a lease wait for room on a node; false: it has waited long enough. */
bool executor_defer(struct executor *executor, uint32_t index,
                    struct str node_name);
/* It waits no longer; nothing happens to one that does not wait. */
void executor_undefer(struct executor *executor, struct run *run);
/* Mark the waiting leases that may have room now, or have waited too long. */
void executor_try_deferred(struct executor *executor);
/* When executor_try_deferred() is due although no pod ends. */
int64_t executor_deferred_due_ms(const struct executor *executor);

/* Take what the runtime has to say. */
void executor_take_changes(struct executor *executor);
/* Ask the runtime for the pod of a lease that has room. */
void executor_begin(struct executor *executor, uint32_t index);

/* A stop or a forget was asked for a run. */
void executor_note_asked(struct executor *executor, struct run_id id);
/* Mark the runs for which it must be asked again. */
void executor_ask_again(struct executor *executor);
/* When executor_ask_again() is due. */
int64_t executor_asked_due_ms(const struct executor *executor);

/* A LeaseStreamMessage has come. */
void executor_take_message(struct executor *executor, struct str bytes);
/* The exchange is over. */
void executor_exchange_ended(struct executor *executor,
                             const struct executor_arrival *arrival);
/* Open, feed or give up the exchange, as is due. */
void executor_run_exchange(struct executor *executor);
/* When executor_run_exchange() is due next. */
int64_t executor_exchange_due_ms(const struct executor *executor);

/* `to` of a run is to be reported. */
void executor_queue_note(struct executor *executor, uint32_t index,
                         enum reconcile_phase to);
/* What every report says of a run. */
struct report_run executor_told(const struct executor *executor,
                                const struct run *run);
/* The pod of a run has facts to tell. */
void executor_queue_facts(struct executor *executor, struct run_id id);
/* Add them to the report, up to so many events in all. */
void executor_add_facts(struct executor *executor, uint32_t event_max);
/* The report that they went with was answered. */
void executor_facts_done(struct executor *executor, bool is_ok);
/* A report was answered. */
void executor_report_done(struct executor *executor,
                          const struct executor_arrival *arrival);
/* Whether a report should go out, and when the next should. */
bool executor_is_report_due(const struct executor *executor,
                            int64_t *ret_at_ms);
/* Send what is queued, up to a batch. */
void executor_send_report(struct executor *executor);
