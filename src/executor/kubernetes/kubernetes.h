/*
 * kubernetes - the runtime whose pods are pods of a Kubernetes cluster.
 *
 * A run becomes one Pod that names its node, so one write starts it.  The
 * cluster is the runtime's memory: a pod carries the labels of its run
 * (kube_pod.h), and a restart finds it by them.  Acknowledgements are not
 * written to it, for the server passes over what it is told twice; a pod that
 * is forgotten is deleted, and the server says of its run that it was reported.
 *
 * A job that has crashed the executor ATTEMPTS_MAX times while its pod was
 * built (executor/files/attempt.h) is refused, if there is a folder for that
 * record.
 *
 * Pods without our label, of whomever they are, count as what others use of a
 * node.  They are never touched.
 *
 * A creation that the API server cannot take now is asked again for up to
 * `create_ms_max`; then the lease goes back.  Since a request without an answer
 * may have been heard, a pod may come later: it appears, and is stopped.
 *
 * A failed request to stop is not repeated here: the executor does that.  A pod
 * that others delete fails with RUNTIME_CAUSE_STOPPED.  A pod that is forgotten
 * stays for `retention_ms`, so that its logs can be read, and is then deleted;
 * after a restart it is listed as one that has ended, and forgotten again.
 *
 * A pod that does not start in time is deleted, and its lease goes back or its
 * job fails (kube_check.h).  One that does not end in time is reported to have
 * failed, and keeps its room until it is gone.
 *
 * What belongs to a job beside its pod is made after the pod, which owns it
 * (kube_attached.h).  Where its ports are reached then is told by
 * RUNTIME_FACTS, again after a restart.  If one is refused the pod is deleted.
 *
 * Not yet: disruption budgets.
 *
 * Threads: as runtime.h says.
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"
#include "executor/kubernetes/kube_allowed.h"
#include "executor/runtime.h"
#include "kube/config/kube_config.h"
#include "kube/http/kube_port.h"

enum {
    KUBERNETES_CREATE_MS_MAX = 120000,
    KUBERNETES_PODS_MAX = RECONCILE_ROWS_MAX,
    KUBERNETES_RETENTION_MS = 600000,
    KUBERNETES_RETAINED_MAX = 1000,    /* more forgotten pods are not kept */
    KUBERNETES_REQUEST_MS_MAX = 30000, /* of one creation or deletion */
    KUBERNETES_CREATING_MAX = 64,      /* creations under way at once */
};

struct kubernetes_options {
    struct str executor_id;        /* the value of a label */
    struct str pool_label;         /* of nodes; "": none */
    struct str node_type_label;    /* likewise */
    struct str priority_class;     /* of all pods; "": each job's own */
    struct str hostname_suffix;    /* of hosts of ingresses that end in '.' */
    struct str certificate_suffix; /* of their TLS secrets that end in '-' */
    const struct str *namespaces;  /* where pods may be made; none: anywhere */
    uint32_t namespace_count;
    struct kube_allowed allowed; /* of what belongs to jobs */
    int64_t create_ms_max;
    int64_t retention_ms; /* of pods that are forgotten, for their logs */
    int attempts_fd;      /* a folder for attempt.h; borrowed; -1: none */
};

struct kubernetes_stats {
    uint64_t create_count, delete_count; /* requests */
    uint64_t again_count;                /* creations that were asked again */
    uint64_t bad_count;                  /* pods and nodes that do not read */
    uint32_t own_count;                  /* pods now */
};

/* The defaults: all namespaces, no labels, no annotations of users. */
void kubernetes_options_default(struct kubernetes_options *ret_options);

/* A runtime over an API server, which it borrows; options are copied.
 * -ERR_INVALID: the executor's id cannot be the value of a label, or a kind is
 * none. */
int kubernetes_open(const struct kubernetes_options *options,
                    struct kube_port *port, const struct clock *clock,
                    const struct rng *rng, struct runtime **ret_runtime,
                    struct err *err) must_check;

/* The same over a connection of its own, by a configuration that it borrows. */
int kubernetes_connect(const struct kubernetes_options *options,
                       const struct kube_config *config,
                       const struct clock *clock, const struct rng *rng,
                       struct runtime **ret_runtime,
                       struct err *err) must_check;

/* How it goes. */
struct kubernetes_stats kubernetes_stats(struct runtime *runtime);
