/*
 * runtime - where pods run: a port with the backends process.c (processes of
 * this machine), kubernetes.c (pods of a cluster) and fake.c (thousands of pods
 * without processes).
 *
 * A runtime remembers, across restarts where it can, which runs it was given,
 * how far each is, and what the server has acknowledged.  A run id is started
 * at most once: creating it again ends by RUNTIME_KNOWN.
 *
 * No call waits for what it begins; changes, which poll() hands out, tell how
 * that ended and what happened else.  A backend in another process answers
 * list(), poll(), status() and logs() by a round trip, and each call waits
 * while that process is busy (helper.h says how long).  A creation always ends.
 * The executor may close a runtime before: what became of the pod is then for
 * list() to say in the runtime's next life.  The requests stop() and forget()
 * may get lost on their way to a cluster: the executor repeats them until the
 * change has come.
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
    /* Of one answer about the files of a job: those that are listed, the bytes
     * of their paths, how deep they lie, and the bytes of one that are read. */
    RUNTIME_FILES_MAX = 10000,
    RUNTIME_FILE_NAMES_BYTES_MAX = 1 << 20,
    RUNTIME_FILE_DEPTH_MAX = 32,
    RUNTIME_FILE_BYTES_MAX = 1 << 20,
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
    struct str queue, job_set, namespace_, pod_name, node_name;
    enum reconcile_phase phase;
    enum reconcile_phase acked; /* see runtime_ops.ack */
    bool is_foreign;
};

/* What happened. */
enum runtime_change_kind {
    RUNTIME_LISTED,    /* the runtime knows all there is: see list() */
    RUNTIME_APPEARED,  /* `pod` is there, which nobody was told of */
    RUNTIME_CREATED,   /* the pod is there, PENDING; `text`: what it asks for
                        * and will not get, a line each */
    RUNTIME_KNOWN,     /* not created: the run had a pod before */
    RUNTIME_RETURNED,  /* not created, here and now: the lease goes back */
    RUNTIME_REFUSED,   /* not created, and never can be: the job fails */
    RUNTIME_PHASE,     /* the pod has come to `phase`, RUNNING to LOST */
    RUNTIME_FACTS,     /* status() has addresses or usage to tell */
    RUNTIME_FORGOTTEN, /* what forget() began is done */
};

/* How far a reason not to create a pod reaches. */
enum runtime_scope {
    RUNTIME_SCOPE_NODE,    /* another node of the cluster may do */
    RUNTIME_SCOPE_CLUSTER, /* none of them will */
};

/* One thing that happened.  Of one run they come in order: the end of its
 * creation first, then rising phases. */
struct runtime_change {
    enum runtime_change_kind kind;
    struct run_id run;
    enum reconcile_phase phase;    /* PHASE */
    enum runtime_scope scope;      /* RETURNED, REFUSED */
    struct str text;               /* CREATED; RETURNED, REFUSED: why */
    const struct runtime_pod *pod; /* APPEARED */
};

/* Why a pod failed. */
enum runtime_cause {
    RUNTIME_CAUSE_NONE,
    RUNTIME_CAUSE_ERROR,     /* a container ended badly */
    RUNTIME_CAUSE_OOM,       /* killed for want of memory */
    RUNTIME_CAUSE_DEADLINE,  /* ran longer than its active deadline */
    RUNTIME_CAUSE_STOPPED,   /* the executor ended it */
    RUNTIME_CAUSE_LOST,      /* it vanished */
    RUNTIME_CAUSE_START,     /* a container could not be started */
    RUNTIME_CAUSE_REFUSED,   /* what it asks for cannot be given */
    RUNTIME_CAUSE_EVICTED,   /* its node or its cluster wanted the room */
    RUNTIME_CAUSE_NODE_LOST, /* its node is gone, or out of reach */
    RUNTIME_CAUSE_REJECTED,  /* its node did not take it: it never ran, and its
                              * lease goes back */
    RUNTIME_CAUSE_IMAGE,     /* an image cannot be had */
    RUNTIME_CAUSE_STUCK,     /* it was to end, and did not */
};

/* How one container ended. */
struct runtime_ended {
    struct str name, reason, message;
    int32_t exit_code;
    enum runtime_cause cause;
};

/* Where one port of a pod is reached from outside of its cluster. */
struct runtime_address {
    int32_t port;
    struct str address;
};

/* What was made beside a pod, or was refused. */
struct runtime_object {
    uint32_t index; /* among the objects of the job */
    struct str api_version, kind, name, namespace_;
    struct str uid;     /* "": it was refused */
    struct str message; /* why it was */
    int64_t generation;
    int64_t changed_ms; /* made or refused */
};

/* All that is known of a pod, for a report. */
struct runtime_status {
    enum runtime_cause cause;
    struct str message; /* for people; empty: made from the containers */
    struct runtime_ended *ended;
    uint32_t ended_count;
    int64_t created_ms, started_ms, ended_ms; /* 0: did not happen */
    const struct runtime_address *addresses;  /* ports ascending */
    uint32_t address_count;
    const struct runtime_object *objects; /* by index */
    uint32_t object_count;
    struct resource_list used_max; /* at once, since it was told last */
    struct resource_list used_sum; /* since it began: amounts times seconds */
};

/* What part of a log is wanted. */
struct runtime_log_query {
    struct job_id job;
    struct str container;   /* "": the first main one */
    struct str since;       /* RFC 3339; "": from the beginning */
    int64_t line_count_max; /* the last so many; < 0: all */
    int64_t byte_count_max; /* > 0, <= RUNTIME_LOG_BYTES_MAX */
};

/* What is wanted of the files of a job. */
struct runtime_files_query {
    struct job_id job;
    struct str path;        /* inner_path.h; "": all of the folder (a list) */
    bool is_read;           /* a part of a file, else a list */
    int64_t offset;         /* >= 0, of a part */
    int64_t byte_count_max; /* > 0, <= RUNTIME_FILE_BYTES_MAX, of a part */
    uint64_t file_id;       /* the file that it must be; 0: any */
};

/* A backend's functions; each backend embeds `struct runtime` first. */
struct runtime;
struct node_set; /* executor/port/node_set.h */

struct runtime_ops {
    const char *name; /* as `executor.runtime` has it */
    /* Call `each` for every pod there is; its strings are valid for the
     * call.  Once, after RUNTIME_LISTED. */
    void (*list)(struct runtime *,
                 void (*each)(void *ctx, const struct runtime_pod *),
                 void *ctx);
    /* Begin to make a pod.  It ends by CREATED, KNOWN, RETURNED or REFUSED;
     * any but the first may leave a failed pod that is listed after a restart,
     * none leaves one that runs. */
    void (*create)(struct runtime *, const struct runtime_run *run);
    /* Begin to end a pod: SIGTERM, then SIGKILL after its own grace, or after
     * `grace_ms` when that is >= 0.  It ends by an ended phase; to ask again
     * before changes nothing.  Unknown runs are passed over. */
    void (*stop)(struct runtime *, struct run_id run, int64_t grace_ms);
    /* The server has acknowledged `phase`: remember it. */
    void (*ack)(struct runtime *, struct run_id run,
                enum reconcile_phase phase);
    /* All is said of a pod: it may be removed (its logs are kept a while), but
     * its id must not start again.  Ends by FORGOTTEN, also for runs that are
     * not known. */
    void (*forget)(struct runtime *, struct run_id run);
    /* Up to `change_max` changes since the last poll, in order; returns how
     * many.  What they point to is valid until the next poll. */
    uint32_t (*poll)(struct runtime *, struct runtime_change *ret_changes,
                     uint32_t change_max);
    /* When poll may have something although nothing becomes readable, on the
     * clock given at opening; INT64_MAX: never. */
    int64_t (*next_wake_ms)(struct runtime *);
    /* What is known of a pod; strings live in the arena.  Answers false for
     * an unknown run. */
    bool (*status)(struct runtime *, struct run_id run, struct arena *arena,
                   struct runtime_status *ret_status);
    /* The nodes: the set lives as long as the runtime, and changes in poll()
     * only. */
    const struct node_set *(*nodes)(struct runtime *);
    /* What pods that are not ours ask for and found no node for; valid until
     * the next call.  NULL: a backend that knows of none. */
    const struct resource_list *(*pending)(struct runtime *);
    /* The runs whose eviction would violate a disruption budget now, in an
     * order that stays while they do; valid until the next call.  NULL: a
     * backend without budgets. */
    const struct run_id *(*protected_runs)(struct runtime *,
                                           uint32_t *ret_count);
    /* Why it does not see its pods now, for people; "": it does.  Valid until
     * the next call.  NULL: a backend that always does. */
    const char *(*trouble)(struct runtime *);
    /* Lines "time text" of a pod's log: 0, or 1 when there is more than
     * `byte_count_max` let through.  Any thread.  -ERR_NOT_FOUND. */
    int (*logs)(struct runtime *, const struct runtime_log_query *query,
                struct strbuf *buf, struct err *err);
    /* Files of a job's folder, running or ended: an encoded
     * berth.api.ListJobFilesResponse or ReadJobFileResponse.  Any thread.
     * -ERR_NOT_FOUND: no such job or file, or not any more, and why;
     * -ERR_CONFLICT: another file is there now. */
    int (*files)(struct runtime *, const struct runtime_files_query *query,
                 struct strbuf *buf, struct err *err);
    /* Connect to what supervises a running pod, on a socket that speaks
     * exec_frame.h and is waited for START; the caller's.  Any thread.
     * -ERR_NOT_FOUND: the job does not run here.  NULL: a backend that cannot
     * let users in. */
    int (*exec)(struct runtime *, struct job_id job, int *ret_fd,
                struct err *err);
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

/* Call exec() of a runtime that may have none.  -ERR_INVALID: it has not. */
static inline int runtime_exec(struct runtime *runtime, struct job_id job,
                               int *ret_fd, struct err *err)
{
    return runtime->ops->exec
               ? runtime->ops->exec(runtime, job, ret_fd, err)
               : err_set(err, -ERR_INVALID,
                         "runtime %s cannot exec: it has no way into a job",
                         runtime->ops->name);
}
