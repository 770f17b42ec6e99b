/*
 * pod - what scheduling needs to know of a pod spec and its annotations.
 *
 * Requests: for each resource the larger of the containers' sum and the init
 * containers' maximum, plus overhead (an init container that restarts always
 * runs on beside the others, so it counts in the sum).  A resource that has
 * only a limit is requested at that limit, as Kubernetes does.
 *
 * Placement: nodeSelector, required node affinity, tolerations, priority
 * class.  Preferred affinity and pod affinity are not looked at.
 *
 * Results live in the arena, strings point into the spec.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "k8s/core.pb-c.h"
#include "model/digest.h"

/* The requirement of `spec`, canonical.  -ERR_INVALID: a quantity, an operator
 * or an effect that does not read; -ERR_LIMIT: more than the model takes. */
int pod_requirement(const K8s__Io__Api__Core__V1__PodSpec *spec,
                    struct arena *arena, struct requirement *ret_requirement,
                    struct err *err) must_check;

/* The gang a job says it is in. */
struct pod_gang {
    struct str id; /* "": in none */
    uint32_t cardinality;
    uint32_t minimum;
    struct str uniformity_label;
};

/* Read the gang annotations (armada-api.md 3.3); -ERR_INVALID with that
 * section's text.  A cardinality of 1 is no gang. */
int pod_gang(const struct label *annotations, uint32_t annotation_count,
             struct pod_gang *ret_gang, struct err *err) must_check;

/* The value of an annotation, or "" (the last one wins). */
struct str pod_annotation(const struct label *annotations,
                          uint32_t annotation_count, const char *key);

/* The digest of a job: requirement, gang, pool and what is to become of it
 * when it loses its place.  `client_id` may be "". */
int pod_digest(const K8s__Io__Api__Core__V1__PodSpec *spec,
               const struct label *annotations, uint32_t annotation_count,
               struct str client_id, struct arena *arena,
               struct job_digest *ret_digest, struct err *err) must_check;
