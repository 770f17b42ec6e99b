/*
 * pod_affinity - which nodes a pod spec requires, and which it prefers.
 *
 * Results live in the arena; strings point into the spec.
 *
 * Threads: everything here may be called from any thread; an arena has one
 * owner.
 */
#pragma once

#include "k8s/core.pb-c.h"
#include "model/requirement.h"

/* Set the affinity and the preferences of `requirement`.  -ERR_INVALID,
 * -ERR_LIMIT: as of pod_requirement(). */
int pod_add_affinity(const K8s__Io__Api__Core__V1__PodSpec *spec,
                     struct arena *arena, struct requirement *requirement,
                     struct err *err) must_check;
