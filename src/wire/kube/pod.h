/*
 * pod - the requirements of a pod spec, in the types of the model.
 *
 * Requests, as Kubernetes counts them: for each resource the larger of the
 * containers' sum and of any init container's request, plus overhead.  An init
 * container that always restarts keeps running beside the containers after it,
 * so it counts with them.  A resource that has only a limit is requested at
 * its limit.  What the pod asks for as a whole stands in the place of its
 * containers' sum, which it must cover.  Amounts of zero are left out.
 *
 * Placement: nodeSelector, required and preferred node affinity, tolerations,
 * priority class, preemptionPolicy, host ports (pod_ports.h).  Affinity to pods
 * is ignored.
 *
 * Results live in the arena; strings point into the spec.
 *
 * Threads: everything here may be called from any thread; an arena has one
 * owner.
 */
#pragma once

#include "k8s/core.pb-c.h"
#include "model/requirement.h"

/* The requirement of `spec`, canonical.  -ERR_INVALID: a quantity, operator or
 * effect that does not read, or resources of the pod that Kubernetes refuses;
 * -ERR_LIMIT: more than a requirement holds. */
int pod_requirement(const K8s__Io__Api__Core__V1__PodSpec *spec,
                    struct arena *arena, struct requirement *ret_requirement,
                    struct err *err) must_check;
