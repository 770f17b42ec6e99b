/*
 * node_affinity - whether a pod's node affinity is one that can be matched
 * (I4): no preferences unless the rules allow them, and expressions as
 * Kubernetes accepts them.
 */
#pragma once

#include "api/core/refusal.h"
#include "api/core/submit_rules.h"
#include "k8s/core.pb-c.h"

/* -ERR_INVALID with I4's text. */
int node_affinity_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                        const struct submit_rules *rules,
                        struct refusal *refusal) must_check;
