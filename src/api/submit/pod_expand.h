/*
 * pod_expand - refuses a pod whose arguments and variables, expanded, are too
 * long (wire/kube/expand.h): no runtime could start it.
 *
 * Nothing is expanded, only counted.  What only the executor knows (a name of
 * the job, a field, a config map) counts nothing, so that no pod is refused
 * that could start; the executor, which knows it, bounds it.
 *
 * Threads: no state.
 */
#pragma once

#include "api/core/refusal.h"
#include "k8s/core.pb-c.h"

/* -ERR_INVALID, naming the container. */
int pod_expand_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                     struct refusal *refusal) must_check;
