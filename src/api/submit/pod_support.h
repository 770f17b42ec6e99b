/*
 * pod_support - refuses what a pod spec asks for and Berth cannot give it.
 *
 * Armada passes such fields to the cluster, which never looks at them, because
 * the pod comes with its node.  The job would run elsewhere, or otherwise,
 * than its owner said; so the submission is refused, by the field's name.
 * What is only a preference is accepted.
 */
#pragma once

#include "api/core/refusal.h"
#include "k8s/core.pb-c.h"

/* -ERR_INVALID with the first field that cannot be honoured. */
int pod_support_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                      struct refusal *refusal) must_check;
