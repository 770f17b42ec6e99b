/*
 * kube_build - the Pod that a leased run becomes in a cluster.
 *
 * It has the labels, annotations and variables that Armada's executor gives
 * (armada-api.md 6.5), and KUBE_EXECUTOR_LABEL.  It names its node, so that no
 * scheduler is needed; what the server wrote into the node selector to say
 * which node it is goes, for a cluster may give that label another value.
 *
 * Threads: any; an arena has one owner.
 */
#pragma once

#include "base/strbuf.h"
#include "executor/runtime.h"

/* Append the Pod as an API server takes it.  `executor_id` has been checked by
 * kube_is_label_value(); `priority_class` stands in the place of the job's
 * unless it is "".  -ERR_INVALID: it cannot be made; the text says why. */
int kube_build_pod(const struct runtime_run *run, struct str executor_id,
                   struct str priority_class, struct arena *arena,
                   struct strbuf *body, struct err *err) must_check;

/* Append the DeleteOptions of a pod: of this uid alone, unless it is ""; with
 * its own grace if `grace_s` < 0. */
void kube_build_delete(struct str uid, int64_t grace_s, struct strbuf *body);
