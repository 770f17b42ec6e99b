/*
 * job_objects - what a job brings beside its pod as manifests of its own
 * (manifest.h): secrets, claims, config maps, and objects of any other kind.
 *
 * Which kinds a cluster makes says its executor.
 *
 * Everything lives in the arena; strings are borrowed from the item.
 */
#pragma once

#include "api/core/refusal.h"
#include "api/submit/services.h"

/* Whether there are not too many, each is well-formed, and no two of a kind
 * have one name.  -ERR_INVALID: the text says which, and never quotes it. */
int job_objects_check(const Berth__Submission__Item *item,
                      struct refusal *refusal) must_check;

/* Those of an item that was checked, in its order; `*ret_count` of them.  Their
 * names are as the job's pod refers to them. */
Armadaevents__KubernetesObject **
job_objects_make(const Berth__Submission__Item *item,
                 const struct object_owner *owner, struct arena *arena,
                 uint32_t *ret_count) must_check;
