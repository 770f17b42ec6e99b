/*
 * kube_allowed - which annotations what belongs to a job may have.
 *
 * Controllers of ingresses take orders from annotations, some of which reach
 * beyond the job: other hosts' traffic, the controller's configuration.  So
 * only those pass that the operator has named.
 *
 * Pure.  Threads: any.
 */
#pragma once

#include "executor/runtime.h"

/* Keys; one that ends in '*' stands for all that begin so.  Borrowed. */
struct kube_allowed {
    const struct str *keys;
    uint32_t count;
};

/* Whether all annotations of a job's objects are allowed or written by the
 * server.  -ERR_INVALID: the text names one that is not, and its object. */
int kube_allowed_check(const Armadaevents__SubmitJob *submit,
                       const struct kube_allowed *allowed,
                       struct err *err) must_check;
