/*
 * pod_support - refuses what a pod asks for and Berth cannot give any pod, be
 * it that of a job or one that somebody else created.
 *
 * A cluster's own scheduler would honour these; Berth chooses the node itself,
 * so they would be lost without a word.  What is only a preference is accepted.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/str.h"
#include "k8s/core.pb-c.h"

/* -ERR_INVALID with the first field that cannot be honoured. */
int pod_support_check(const K8s__Io__Api__Core__V1__PodSpec *pod,
                      struct err *err) must_check;
