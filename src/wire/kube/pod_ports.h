/*
 * pod_ports - which ports of its node's own addresses a pod spec asks for.
 *
 * Those are the host ports of its containers, and of init containers that
 * always restart.  In the node's network every port of a container is one.
 *
 * Results live in the arena; strings point into the spec.
 *
 * Threads: everything here may be called from any thread; an arena has one
 * owner.
 */
#pragma once

#include "k8s/core.pb-c.h"
#include "model/requirement.h"

/* Set the ports of `requirement`.  -ERR_INVALID, -ERR_LIMIT: as of
 * pod_requirement(). */
int pod_add_ports(const K8s__Io__Api__Core__V1__PodSpec *spec,
                  struct arena *arena, struct requirement *requirement,
                  struct err *err) must_check;
