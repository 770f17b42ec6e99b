/*
 * pod_resources - what a pod takes as a whole: for each resource the larger
 * of the main containers' sum and the largest init container.
 *
 * Pure.  Threads: any.
 */
#pragma once

#include "base/arena.h"
#include "k8s/core.pb-c.h"

/* Requests and limits of the whole pod, in the arena. */
K8s__Io__Api__Core__V1__ResourceRequirements *
pod_resources(const K8s__Io__Api__Core__V1__PodSpec *pod,
              struct arena *arena) must_check;
