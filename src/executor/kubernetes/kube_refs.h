/*
 * kube_refs - names of a job's own objects.
 *
 * A job calls its config maps, secrets, claims and other objects as it likes;
 * in the cluster the name of its pod stands before that, so that no job can
 * take a name that others look for.  In the pod's spec the names are put in
 * their places.
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "executor/runtime.h"

/* POD-NAME, in the arena: what is called `name` in the job. */
struct str kube_refs_name(struct str pod_name, struct str name,
                          struct arena *arena) must_check;

/* The spec with the names that its job's objects have in the cluster: a copy
 * in the arena if the job has such objects, else `spec`. */
const K8s__Io__Api__Core__V1__PodSpec *
kube_refs_put(const K8s__Io__Api__Core__V1__PodSpec *spec,
              const Armadaevents__SubmitJob *submit, struct str pod_name,
              struct arena *arena) must_check;
