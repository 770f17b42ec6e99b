/*
 * kubernetes_private - what the files of the runtime share:
 *
 *     kubernetes_table.c   runs and their pods
 *     kubernetes_watch.c   what the cluster says of pods and nodes
 *     kubernetes_create.c  making pods
 *     kubernetes_attach.c  making what belongs to them
 *     kubernetes_check.c   ending those that do not get on
 *     kubernetes_delete.c  stopping and forgetting them
 *     kubernetes.c         the port
 *
 * Not for use outside the folder.
 */
#pragma once

#include <pthread.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/slots.h"
#include "executor/kubernetes/kube_attached.h"
#include "executor/kubernetes/kube_check.h"
#include "executor/kubernetes/kube_log.h"
#include "executor/kubernetes/kube_pod.h"
#include "executor/kubernetes/kube_usage.h"
#include "executor/kubernetes/kubernetes.h"
#include "executor/port/change_queue.h"
#include "executor/port/node_set.h"
#include "kube/api/follow.h"
#include "kube/api/retry.h"
#include "kube/http/http_client.h"

struct kubernetes;

/* A pod that is being made. */
struct kube_creation {
    struct strbuf body;
    struct retry retry;
    int64_t due_ms;   /* when to ask (again); INT64_MAX: it is under way */
    int64_t until_ms; /* then its lease goes back */
    bool is_looking;  /* at the pod of that name, which is there */
    struct err why;   /* the last refusal */
};

/* A request about a run, while it is under way. */
struct kube_call {
    struct kubernetes *kubernetes;
    struct run_id run;
    uint64_t number; /* of the request */
    uint32_t *count; /* of such calls under way, this one too; NULL */
};

/* How long a pod may wait as it does. */
struct kube_patience {
    enum kube_wait wait;
    int64_t due_ms;
    enum runtime_cause cause; /* of its end then */
    char *text;               /* owned */
    /* END: what its node has no room for while it is there. */
    struct resource_list requests;
    struct resource_amount *amounts; /* owned, with their names */
};

/* Where the objects of a kind are, as the server said. */
struct kube_mapping {
    struct str api_version, kind, plural; /* in the runtime's arena */
};

/* What belongs to a pod beside it, as it is made. */
struct kube_attach {
    struct arena arena; /* of the rest */
    struct kube_attached *items;
    uint32_t count, made_count;
    bool is_looking; /* at the next of them, which is there */
    struct retry retry;
    int64_t due_ms, until_ms; /* as of a creation */
    struct kube_exposed exposed[KUBE_EXPOSED_MAX];
    uint32_t exposed_count;
    const char *host_ip; /* of the pod's node; "" */
    bool is_told;        /* where the pod is reached */
};

/* A run and its pod. */
struct kube_row {
    bool is_used;
    struct run_id run;
    struct job_id job;
    char *texts; /* owned: those below */
    struct str queue, job_set, namespace_, pod_name, node_name;
    struct str container; /* the first main one */
    char *uid;            /* owned; NULL: not known yet */
    char *objects; /* owned; as kube_attached_pack() wrote them with secrets,
                    * until they are made; NULL */
    enum reconcile_phase phase;     /* NEVER: it is being created */
    struct kube_creation *creation; /* owned; while it is */
    bool is_asked;                  /* we have asked for it, not met it */
    uint32_t next_of_job;           /* another row of it; MAP_NONE */
    bool is_made;                   /* its pod is there; under the lock */
    struct kube_call *call;         /* owned; under way */
    bool is_ending;                 /* the cluster knows that it is to end */
    bool is_gone;
    bool is_forgotten; /* and is kept until it is gone */
    /* What is asked of us and was not sent yet, for a call was under way. */
    bool wants_stop, wants_forget;
    int64_t grace_s;            /* of the stop; < 0: the pod's own */
    enum runtime_cause cause;   /* why it ended, if its object does not say */
    char *message;              /* owned; likewise; NULL */
    struct kube_attach *attach; /* owned; NULL: nothing belongs to it */
    struct kube_patience *patience; /* owned; NULL: it gets on */
    bool is_doomed;       /* we end it, for `cause`: that it runs is not told */
    int64_t ask_ms;       /* doomed: when its end is asked for again */
    bool has_room;        /* it has ended for the server, but is there */
    struct retry removal; /* how often it has failed */
    uint32_t list;        /* that it was seen in last */
    int64_t created_ms, started_ms, ended_ms;
    char *object; /* owned; the pod once it has ended, as
                   * kube_pod_shorten() leaves it; NULL */
    size_t object_byte_count;
};

/* A pod that nobody wants any more, kept for its logs. */
struct kube_retained {
    struct run_id run;
    int64_t due_ms; /* to be deleted then */
};

struct kubernetes {
    struct runtime runtime;
    struct kubernetes_options options;
    struct arena arena; /* of the options */
    struct kube_port *port;
    struct http_client *client; /* owned; NULL: the port is another's */
    const struct clock *clock;
    const struct rng *rng;
    struct follow *nodes_follow, *pods_follow; /* owned */
    struct node_set *nodes;                    /* owned */
    struct intern *listed_nodes; /* owned; while they are listed; NULL */
    struct kube_usage *usage;    /* owned */
    struct resource_list pending;
    struct arena pending_arena;
    SLOTS(struct kube_row) rows;
    struct map by_run;
    uint32_t pod_list;
    VEC(struct run_id) creating; /* that wait to be asked for, or again */
    uint32_t asking_count;       /* creations under way */
    int64_t retry_ms;            /* when one is due; INT64_MAX */
    VEC(struct kube_retained) retained; /* forgotten pods, oldest first */
    size_t retained_first;
    VEC(struct kube_retained) repeats; /* removals that failed; a heap */
    uint32_t removing_count;           /* of them: removals under way */
    int64_t remove_ms;                 /* when one is due; INT64_MAX */
    const struct kube_config *config;  /* for logs; borrowed; NULL: none */
    pthread_mutex_t lock; /* rows and by_job, as logs() reads them */
    struct map by_job;    /* the first row of a job; see kubernetes_table.c */
    VEC(struct run_id) attaching;      /* pods that lack something */
    int64_t attach_ms;                 /* when to ask for it; INT64_MAX */
    VEC(struct kube_mapping) mappings; /* of kinds that are allowed */
    int64_t check_ms;  /* when a pod's patience may end; INT64_MAX */
    int64_t follow_ms; /* when a list or watch is; INT64_MAX */
    struct change_queue changes;
    bool is_listed;
    struct kubernetes_stats stats;
};

/* The backend of a port. */
static inline struct kubernetes *kubernetes_of(struct runtime *runtime)
{
    return container_of(runtime, struct kubernetes, runtime);
}

/* Now, for waiting. */
static inline int64_t kubernetes_now_ms(const struct kubernetes *k)
{
    return (int64_t)(k->clock->mono_ns(k->clock) / 1000000);
}

/* kubernetes_table.c */

/* The row of a run, or NULL. */
struct kube_row *kubernetes_find(struct kubernetes *k, struct run_id run);
/* A row for a run without one; texts are copied, and the two names are fit for
 * paths (kube_name.h).  NULL: there are
 * KUBERNETES_PODS_MAX. */
struct kube_row *kubernetes_add(struct kubernetes *k,
                                const struct runtime_pod *pod,
                                struct str container);
/* Where the first pod of a job is, in the arena; false: it has none yet.  Any
 * thread. */
bool kubernetes_place(struct kubernetes *k, struct job_id job,
                      struct arena *arena, struct kube_log_place *ret_place);
/* Free it, and end what is under way for it. */
void kubernetes_remove(struct kubernetes *k, struct kube_row *row);
/* What the port says of it. */
struct runtime_pod kubernetes_pod_of(const struct kube_row *row);
/* The pod has come so far: tell, if that is news. */
void kubernetes_raise(struct kubernetes *k, struct kube_row *row,
                      enum reconcile_phase phase);
/* Push a change of a run. */
void kubernetes_push(struct kubernetes *k, enum runtime_change_kind kind,
                     struct run_id run);
/* Ask the API server something about a row, which has no call under way;
 * `on_end` gets the call, and takes it by kubernetes_end_call().  `count`
 * (NULL: none) is that of such calls.  False: not now. */
bool kubernetes_ask(struct kubernetes *k, struct kube_row *row,
                    const char *method, struct str path, struct str body,
                    uint32_t *count,
                    void (*on_end)(void *call, const struct http_result *));
/* The same with a body in JSON (if it has one), for objects of any kind; the
 * answer holds but metadata. */
bool kubernetes_ask_any(struct kubernetes *k, struct kube_row *row,
                        const char *method, struct str path, struct str body,
                        uint32_t *count,
                        void (*on_end)(void *call, const struct http_result *));
/* The call is over: its row.  Frees the call. */
struct kube_row *kubernetes_end_call(struct kube_call *call);
/* Append "/api/v1/namespaces/NS/pods" and "/NAME". */
void kubernetes_pods_path(const struct kube_row *row, bool has_name,
                          struct strbuf *path);

/* kubernetes_watch.c */

/* Begin to follow nodes and pods. */
void kubernetes_follow(struct kubernetes *k);
/* What the cluster says of a pod that is ours. */
void kubernetes_take_pod(struct kubernetes *k, const struct kube_pod *pod,
                         struct str object);
/* What it asks of its node, with its place among the pods; in the array, of
 * RESOURCE_LIST_MAX. */
struct resource_list kubernetes_requests(const struct kube_pod *pod,
                                         struct resource_amount *amounts);
/* Tell the node set of nodes whose use by others has changed. */
void kubernetes_tell_usage(struct kubernetes *k);

/* kubernetes_create.c */

/* See runtime_ops.create. */
void kubernetes_create(struct runtime *runtime, const struct runtime_run *run);
/* Ask for the pods that are due. */
void kubernetes_create_due(struct kubernetes *k);
/* The pod is there: tell, and end the creation. */
void kubernetes_created(struct kubernetes *k, struct kube_row *row);
/* Free it; NULL is fine. */
void kubernetes_creation_free(struct kube_creation *creation);

/* kubernetes_attach.c */

/* The cluster has shown a pod: make what belongs to it, if that is not begun.
 */
void kubernetes_note_objects(struct kubernetes *k, struct kube_row *row,
                             const struct kube_pod *pod);
/* Ask for what is due. */
void kubernetes_attach_due(struct kubernetes *k);
/* Tell where a pod is reached, once, when that is known and it runs. */
void kubernetes_tell_addresses(struct kubernetes *k, struct kube_row *row);
/* What was made beside it, and where it is reached once that was told; in the
 * arena, what it points to is the row's. */
void kubernetes_put_objects(const struct kube_row *row, struct arena *arena,
                            struct runtime_status *status);
/* Free it; NULL is fine. */
void kubernetes_attach_free(struct kube_attach *attach);

/* kubernetes_check.c */

/* The cluster has shown this state of a pod. */
void kubernetes_note_wait(struct kubernetes *k, struct kube_row *row,
                          const struct kube_pod *pod);
/* End the pods whose patience has ended. */
void kubernetes_check_due(struct kubernetes *k);
/* End a pod, for this reason: once. */
void kubernetes_doom(struct kubernetes *k, struct kube_row *row,
                     enum runtime_cause cause, struct str text);
/* Free it; NULL is fine. */
void kubernetes_patience_free(struct kube_patience *patience);

/* kubernetes_delete.c */

/* See runtime_ops. */
void kubernetes_stop(struct runtime *runtime, struct run_id run,
                     int64_t grace_ms);
void kubernetes_forget(struct runtime *runtime, struct run_id run);
/* Delete the forgotten pods whose time has come. */
void kubernetes_remove_due(struct kubernetes *k);
/* Send what is wanted of a row, unless a call is under way.  False: the port
 * takes no request now. */
bool kubernetes_delete_wanted(struct kubernetes *k, struct kube_row *row);
