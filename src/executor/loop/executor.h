/*
 * executor - the loop between a server and a runtime.
 *
 *     server --leases, cancels--> rows --reconcile_plan--> runtime
 *     server <--held runs, nodes, reports-- rows <--changes-- runtime
 *
 * One row per run.  A message or a change touches rows; each step plans for
 * the touched ones and does what the plan says.  So a step costs what has
 * changed, not what there is.
 *
 * Conversation (armada-api.md 6.2).  Polled: every `lease_period_ms` one
 * LeaseRequest with all nodes and all held runs; the server answers and
 * closes.  Held: the same request says held_stream; a server that sends a
 * heartbeat has agreed, and the stream stays open.  Then requests are deltas
 * (runs added and removed, nodes that changed, now and then all nodes), sent as
 * soon as there is news and at least every `alive_period_ms`, and
 * `max_jobs_to_lease` is credit: how many more leases the server may push
 * before the next request.  When the stream ends, another is opened.
 *
 * Reports go out in batches of about `report_events_max` events, one batch at a
 * time so that they arrive in order; one that fails is made again from the
 * rows. While the server is away nothing is dropped: rows keep what is to be
 * told.
 *
 * A pod's warnings travel as jobRunTerminatedDebugInfo.
 *
 * Deterministic, but for what its ports answer.  It never sleeps and reads
 * only the given clock.  Threads: one owner calls step.
 */
#pragma once

#include "base/clock.h"
#include "executor/runtime.h"

enum {
    EXECUTOR_RUNS_MAX = RECONCILE_ROWS_MAX,
    EXECUTOR_REPORTS_MAX = 8,         /* batches under way */
    EXECUTOR_FORGOTTEN_MAX = 1 << 18, /* run ids remembered after their end */
    EXECUTOR_MESSAGE_BYTES_MAX = 64 << 20,
    EXECUTOR_LEASES_PER_STEP_MAX = 4096,
};

/* What a transport has to tell. */
enum executor_arrival_kind {
    EXECUTOR_LEASE_MESSAGE, /* a LeaseStreamMessage */
    EXECUTOR_LEASE_ENDED,   /* the exchange is over; `is_ok` */
    EXECUTOR_REPORT_DONE,   /* report `ticket` was answered; `is_ok` */
};

struct executor_arrival {
    enum executor_arrival_kind kind;
    struct str bytes; /* of a message; valid until the next call */
    uint64_t ticket;
    bool is_ok;
    struct str text; /* why not; valid until the next call */
};

/* How the executor reaches its server: a port.  Nothing here waits. */
struct executor_transport {
    /* Begin an exchange with this LeaseRequest (copied).  There is at most
     * one; its end arrives as EXECUTOR_LEASE_ENDED. */
    void (*lease_open)(struct executor_transport *, struct str request);
    /* Whether lease_send() would take a request now, or the last ones are
     * still to be sent. */
    bool (*lease_has_room)(struct executor_transport *);
    /* A further request on the open exchange (copied); false: it cannot be
     * taken now. */
    bool (*lease_send)(struct executor_transport *, struct str request);
    /* End the exchange from this side. */
    void (*lease_cancel)(struct executor_transport *);
    /* Send an EventList (copied); the answer arrives with `ticket`. */
    void (*report)(struct executor_transport *, uint64_t ticket,
                   struct str events);
    /* The next thing that has arrived; false: nothing. */
    bool (*next)(struct executor_transport *, struct executor_arrival *ret);
};

/* How to behave; executor_options_default() fills in the defaults. */
struct executor_options {
    struct str id;        /* of this executor; names its nodes at the server */
    struct str pool;      /* of nodes that name none */
    bool has_held_stream; /* ask for one */
    uint64_t instance;    /* of this program, random; 0: do not say */
    const struct failure_classes *classes; /* borrowed; NULL: no rules */
    int64_t lease_period_ms;               /* 5 s, polled */
    int64_t lease_retry_ms;   /* 1 s, after an exchange that failed */
    int64_t lease_timeout_ms; /* 30 s, polled exchanges */
    int64_t held_silence_ms;  /* 150 s without a message: open anew */
    uint32_t lease_max;       /* 100; credit of a held stream: 4096 */
    uint32_t held_lease_max;
    uint32_t create_max;        /* pods made per step */
    int64_t room_wait_ms_max;   /* 10 min: so long a lease waits for pods that
                                 * are being ended on its node */
    int64_t ask_again_ms;       /* 30 s: a stop or forget that is not done by
                                 * then is asked for again */
    uint32_t report_events_max; /* 200; of a held stream 2000 */
    uint32_t held_report_events_max;
    int64_t report_delay_ms; /* 2 s; of a held stream 5 ms */
    int64_t held_report_delay_ms;
    int64_t report_retry_ms; /* 1 s after a failure, doubling to 30 s */
    int64_t report_retry_ms_max;
    int64_t alive_period_ms;     /* 5 s: a held delta even if it says nothing,
                                  * or the server takes us for silent */
    int64_t inventory_period_ms; /* 60 s: all nodes in held deltas */
    int64_t nodes_gap_ms;        /* 200 ms: between two deltas of nodes */
};

/* Counters since the start, for metrics and tests. */
struct executor_stats {
    uint64_t lease_count, create_count, refuse_count, return_count;
    uint64_t repack_count; /* created on another node than was leased */
    uint64_t repeat_count; /* stops and forgets that were asked for again */
    uint64_t stop_count, report_count, event_count, report_failed_count;
    uint64_t exchange_count, exchange_failed_count;
    uint32_t run_count; /* rows now, forgotten ones not counted */
    bool is_connected;  /* the last exchange went well, or is held */
    bool is_held;
    struct err last_failure; /* of the transport; "" is none yet */
};

struct executor;

/* The defaults, Armada's where it has them. */
void executor_options_default(struct executor_options *ret_options);

/* An executor over its ports, which it borrows until executor_destroy().  Once
 * the runtime has listed what it already has, that is taken up and the first
 * exchange begins.  Strings of the options are copied. */
struct executor *executor_create(const struct executor_options *options,
                                 const struct clock *clock,
                                 struct executor_transport *transport,
                                 struct runtime *runtime) must_check;

/* Take what arrived, plan, act, report.  Returns in how many milliseconds it
 * wants to be called again if nothing arrives (0: at once). */
int64_t executor_step(struct executor *executor);

/* Ask the runtime to end every pod (grace as in runtime_ops.stop), and start
 * none any more: leases that have no pod yet, and those that still arrive, are
 * dropped as if they had been lost on the way, so the server sends them to the
 * executor's next start. */
void executor_stop_all(struct executor *executor, int64_t grace_ms);

/* Counters; borrowed. */
const struct executor_stats *executor_stats(const struct executor *executor);

/* Free it; pods live on.  NULL is fine. */
void executor_destroy(struct executor *executor);
DEFINE_AUTO(executor, executor_destroy)
