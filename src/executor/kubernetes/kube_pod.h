/*
 * kube_pod - a cluster's Pod object: whose it is, how far it is, and why it
 * ended.
 *
 * A pod is ours when it carries the labels that all Armada executors give
 * (armada-api.md 6.5): armada_job_id, armada_job_run_id and armada_queue_id,
 * with the annotation armada_jobset_id.  The label KUBE_EXECUTOR_LABEL tells
 * which of Berth's executors made it: other programs give the other labels too.
 *
 * Threads: any; an arena has one owner.
 */
#pragma once

#include "base/strbuf.h"
#include "executor/runtime.h"
#include "model/resource.h"

/* The labels and the annotation that tell whose a pod is. */
#define KUBE_JOB_LABEL "armada_job_id"
#define KUBE_RUN_LABEL "armada_job_run_id"
#define KUBE_QUEUE_LABEL "armada_queue_id"
#define KUBE_JOB_SET_ANNOTATION "armada_jobset_id"
#define KUBE_EXECUTOR_LABEL "berth.dev/executor"

/* What a Pod says; all of it is in the arena. */
struct kube_pod {
    struct runtime_pod pod; /* its run and its texts only if it is ours */
    bool is_ours;
    struct str uid, ip;
    struct str host_ip;   /* of its node; "" */
    struct str objects;   /* of KUBE_OBJECTS_ANNOTATION, if it is ours; "" */
    struct str container; /* the first main one */
    struct str executor;  /* whose label it carries (KUBE_EXECUTOR_LABEL); "" */
    bool is_ready;
    bool is_ending;          /* it is being deleted */
    bool has_no_image;       /* a container waits for one that is not had */
    struct str waiting;      /* why one waits, first for an image; "" */
    struct str waiting_text; /* the kubelet's words on that */
    bool is_initializing;    /* an init container runs */
    int64_t grace_ms;        /* while it is ending */
    struct resource_list requests; /* of its node */
    struct runtime_status status;
};

/* Append the encoded Pod without what kube_pod_read() does not need to tell its
 * status.  -ERR_CORRUPT, -ERR_LIMIT. */
int kube_pod_shorten(struct str object, struct strbuf *buf,
                     struct err *err) must_check;
/* Read an encoded Pod.  -ERR_CORRUPT, -ERR_INVALID, -ERR_LIMIT. */
int kube_pod_read(struct str object, struct arena *arena,
                  struct kube_pod *ret_pod, struct err *err) must_check;
