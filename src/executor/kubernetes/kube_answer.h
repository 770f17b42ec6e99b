/*
 * kube_answer - what an API server's answer to the creation of a pod means for
 * its run.
 *
 *     201                              made
 *     409 AlreadyExists                look at the pod of that name
 *     no answer, 401, 408, 409, 429, 5xx           ask again
 *     403 for want of quota or rights  the lease goes back: another cluster may
 *     403, 404, 413, 422, 400, a webhook that denies  it never can be
 *
 * Pure.  Threads: any.
 */
#pragma once

#include "executor/runtime.h"
#include "kube/http/kube_port.h"

enum kube_answer {
    KUBE_MADE,
    KUBE_EXISTS,
    KUBE_AGAIN,
    KUBE_RETURNED,
    KUBE_REFUSED,
};

/* What it says. */
struct kube_verdict {
    enum kube_answer answer;
    int64_t after_ms; /* AGAIN: not before; < 0: it does not say */
    struct err why;   /* all but MADE, for people */
};

/* Read an answer to a POST. */
struct kube_verdict kube_answer_read(const struct http_result *result);
