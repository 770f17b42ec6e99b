/*
 * runtime - where pods run: a port with the backends process.c (processes of
 * this machine) and fake.c (thousands of pods without processes).
 *
 * A runtime remembers, across restarts where it can, which runs it was given,
 * how far each is, and what the server has acknowledged.  A run id is started
 * at most once: creating it again answers -ERR_CONFLICT.
 *
 * Calls do not wait for pods; a change reports what happened to one.
 *
 * Ownership: what is passed in is borrowed for the call; what is handed out
 * says how long it is valid.  Threads: one, that of the executor's step; only
 * what says so may be called from others.
 */
#pragma once

#include "armada/armadaevents.pb-c.h"
#include "base/arena.h"
#include "model/node.h"
#include "reconcile/reconcile.h"

enum {
    RUNTIME_CONTAINERS_MAX = 64,
    RUNTIME_LOG_BYTES_MAX = 2000000, /* of one answer of logs */
};

/* A leased run, ready to be made into a pod. */
struct runtime_run {
    struct run_id run;
    struct job_id job;
    struct str queue, job_set, user;
    struct str namespace_, pod_name, node_name;
    const Armadaevents__SubmitJob *submit;
};

/* A pod that the runtime has. */
struct runtime_pod {
    struct run_id run;
    struct job_id job;
    struct str queue, job_set, namespace_, node_name;
    enum reconcile_phase phase;
    enum reconcile_phase acked; /* see runtime_ops.ack */
    bool is_foreign;
};

/* A pod has come to a phase (PENDING to LOST). */
struct runtime_change {
    struct run_id run;
    enum reconcile_phase phase;
};

/* Why a pod failed. */
enum runtime_cause {
    RUNTIME_CAUSE_NONE,
    RUNTIME_CAUSE_ERROR,    /* a container ended badly */
    RUNTIME_CAUSE_OOM,      /* killed for want of memory */
    RUNTIME_CAUSE_DEADLINE, /* ran longer than its active deadline */
    RUNTIME_CAUSE_STOPPED,  /* the executor ended it */
    RUNTIME_CAUSE_LOST,     /* it vanished */
    RUNTIME_CAUSE_START,    /* a container could not be started */
    RUNTIME_CAUSE_REFUSED,  /* what it asks for cannot be given */
};

/* How one container ended. */
struct runtime_ended {
    struct str name, reason, message;
    int32_t exit_code;
    enum runtime_cause cause;
};

/* All that is known of a pod, for a report. */
struct runtime_status {
    enum runtime_cause cause;
    struct str message; /* for people; empty: made from the containers */
    struct runtime_ended *ended;
    uint32_t ended_count;
    int64_t created_ms, started_ms, ended_ms; /* 0: did not happen */
};

/* What part of a log is wanted. */
struct runtime_log_query {
    struct job_id job;
    struct str container;   /* "": the first main one */
    struct str since;       /* RFC 3339; "": from the beginning */
    int64_t line_count_max; /* the last so many; < 0: all */
    int64_t byte_count_max; /* > 0, <= RUNTIME_LOG_BYTES_MAX */
};

/* A backend's functions; each backend embeds `struct runtime` first. */
struct runtime;

struct runtime_ops {
    /* Call `each` for every pod there is; its strings are valid for the
     * call.  Once, after opening. */
    void (*list)(struct runtime *,
                 void (*each)(void *ctx, const struct runtime_pod *),
                 void *ctx);
    /* Make a pod.  0, or: -ERR_CONFLICT the run was made before;
     * -ERR_INVALID the runtime can never run it (the job fails);
     * -ERR_UNAVAILABLE, -ERR_FULL, -ERR_IO, -ERR_LIMIT not here, not now
     * (the lease goes back).  Any of these may leave a failed pod that is
     * listed after a restart; none leaves one that runs.  What the pod asks
     * for and will not get is appended to `warnings`, a line each. */
    int (*create)(struct runtime *, const struct runtime_run *run,
                  struct strbuf *warnings, struct err *err);
    /* End a pod: SIGTERM, then SIGKILL after its own grace, or after
     * `grace_ms` when that is >= 0.  Unknown runs are passed over. */
    void (*stop)(struct runtime *, struct run_id run, int64_t grace_ms);
    /* The server has acknowledged `phase`: remember it. */
    void (*ack)(struct runtime *, struct run_id run,
                enum reconcile_phase phase);
    /* The pod has ended and all is said: it may be removed (its logs are
     * kept a while), but its id must not start again. */
    void (*forget)(struct runtime *, struct run_id run);
    /* Up to `change_max` changes since the last poll, in order; returns how
     * many.  Never waits. */
    uint32_t (*poll)(struct runtime *, struct runtime_change *ret_changes,
                     uint32_t change_max);
    /* When poll may have something although nothing becomes readable, on the
     * clock given at opening; INT64_MAX: never. */
    int64_t (*next_wake_ms)(struct runtime *);
    /* What is known of a pod; strings live in the arena.  Answers false for
     * an unknown run. */
    bool (*status)(struct runtime *, struct run_id run, struct arena *arena,
                   struct runtime_status *ret_status);
    /* The nodes; valid until the next call. */
    const struct node_record *(*nodes)(struct runtime *, uint32_t *ret_count);
    /* What pods that are not ours ask for and found no node for; valid until
     * the next call.  NULL: a backend that knows of none. */
    const struct resource_list *(*pending)(struct runtime *);
    /* The runs whose eviction would violate a disruption budget now, in an
     * order that stays while they do; valid until the next call.  NULL: a
     * backend without budgets. */
    const struct run_id *(*protected_runs)(struct runtime *,
                                           uint32_t *ret_count);
    /* Lines "time text" of a pod's log: 0, or 1 when there is more than
     * `byte_count_max` let through.  Any thread.  -ERR_NOT_FOUND. */
    int (*logs)(struct runtime *, const struct runtime_log_query *query,
                struct strbuf *buf, struct err *err);
    /* Let go; pods live on where they can. */
    void (*close)(struct runtime *);
};

/* What the backends have in common. */
struct runtime {
    const struct runtime_ops *ops;
    int wake_fd;         /* readable when poll has something; -1: never */
    uint32_t create_max; /* pods to make between two looks around; 0: any */
};

/* Close a runtime; NULL is fine. */
static inline void runtime_close(struct runtime *runtime)
{
    if (runtime) {
        runtime->ops->close(runtime);
    }
}
DEFINE_AUTO(runtime, runtime_close)
