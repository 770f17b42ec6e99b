/*
 * job_pod - refuses what the pod of a job asks for in vain.
 *
 * Armada passes such fields to the cluster, which never looks at them, because
 * the pod comes with its node.  The job would run elsewhere, or otherwise,
 * than its owner said; so the submission is refused, by the field's name.
 */
#pragma once

#include "api/core/refusal.h"
#include "k8s/core.pb-c.h"

/* -ERR_INVALID with the first field that cannot be honoured: what no pod may
 * ask for (wire/kube/pod_support.h), and what only others may. */
int job_pod_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                  struct refusal *refusal) must_check;
