/*
 * kube_manifest - an object that a job brings itself (manifest.h), as it is
 * sent; and a job without what its secrets say.
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "executor/runtime.h"
#include "k8s/meta.pb-c.h"

/* Of a claim: where it is to be provided, for no scheduler of the cluster says
 * so. */
#define KUBE_SELECTED_NODE_ANNOTATION "volume.kubernetes.io/selected-node"

/* Whether it is a secret (manifest.h). */
bool kube_manifest_is_secret(const Armadaevents__KubernetesObject *object)
    must_check;
/* Whether the job has one. */
bool kube_manifest_has_secrets(const Armadaevents__SubmitJob *submit)
    must_check;

/* A job's objects without what its secrets say; in the arena, the rest
 * borrowed. */
Armadaevents__KubernetesObject **
kube_manifest_withhold(const Armadaevents__SubmitJob *submit,
                       struct arena *arena) must_check;

/* The JSON of an object that passed manifest_check_rest(), in the arena; its
 * metadata may be changed. */
struct str
kube_manifest_body(const Berth__Api__Manifest *manifest,
                   K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *meta,
                   struct str node_name, struct arena *arena) must_check;
