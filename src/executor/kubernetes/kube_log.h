/*
 * kube_log - reads the log of a pod in a cluster, by a connection of its own.
 *
 * Threads: any; it waits, at most KUBE_LOG_MS_MAX.
 */
#pragma once

#include "base/clock.h"
#include "executor/runtime.h"
#include "kube/config/kube_config.h"

enum { KUBE_LOG_MS_MAX = 20000 };

/* Which container of which pod. */
struct kube_log_place {
    struct str namespace_, pod_name, container;
};

/* As runtime_ops.logs; the container of the query, unless it is "", stands in
 * the place of that given.  Also -ERR_UNAVAILABLE, as for
 * a server that sends far more than was asked for, and -ERR_INVALID for a
 * `since` that is no time. */
int kube_log_read(const struct kube_config *config, const struct clock *clock,
                  const struct kube_log_place *place,
                  const struct runtime_log_query *query, struct strbuf *buf,
                  struct err *err) must_check;
