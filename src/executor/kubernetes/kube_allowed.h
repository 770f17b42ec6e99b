/*
 * kube_allowed - what may belong to a job beside its pod.
 *
 * Controllers take orders from annotations, and from labels with a prefix, some
 * of which reach beyond the job: other hosts' traffic, the controller's
 * configuration.  Kinds are what controllers are made of.  So only what the
 * operator has named passes.
 *
 * Pure.  Threads: any.
 */
#pragma once

#include "executor/runtime.h"

/* Borrowed. */
struct kube_allowed {
    /* Keys of annotations and of labels with a prefix; one that ends in '*'
     * stands for all that begin so. */
    const struct str *keys;
    uint32_t count;
    const struct str *kinds; /* APIVERSION/KIND: "v1/Secret" */
    uint32_t kind_count;
};

/* Whether all of a job's objects are of kinds that are allowed, services and
 * ingresses apart, and have nothing but what is allowed or written by the
 * server.  -ERR_INVALID: the text names what is not, and its object. */
int kube_allowed_check(const Armadaevents__SubmitJob *submit,
                       const struct kube_allowed *allowed,
                       struct err *err) must_check;

/* Whether a text names a kind so: "v1/Secret", "batch/v1/Job". */
bool kube_allowed_is_kind(struct str text) must_check;
