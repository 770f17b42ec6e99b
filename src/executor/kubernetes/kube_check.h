/*
 * kube_check - whether a pod gets on, and how long that may take.
 *
 * A pod that waits is given the time that Armada's executor gives by default
 * (pendingPodChecks), from when it was first seen to wait so:
 *
 *     its image has an invalid name                      fails at once
 *     an image that cannot be unpacked, or whose pull
 *     the container runtime refuses                      fails after 90 s
 *     ErrImagePull, ImagePullBackOff                     goes back after 15 min
 *     anything else before its containers start          goes back after 5 min
 *     it is to end, and its grace period is over         fails after 30 s
 *
 * What goes back is a lease, of which another node may make more.  A pod whose
 * init containers run gets on: only its deadline ends them.
 *
 * Pure.  Threads: any; an arena has one owner.
 */
#pragma once

#include "executor/kubernetes/kube_pod.h"

/* What a pod waits for. */
enum kube_wait {
    KUBE_WAIT_NONE,
    KUBE_WAIT_NAME,   /* an image of an invalid name */
    KUBE_WAIT_BROKEN, /* an image that cannot be used */
    KUBE_WAIT_IMAGE,  /* an image that may come */
    KUBE_WAIT_START,
    KUBE_WAIT_END,
};

/* How long it may, and what becomes of it then. */
struct kube_check {
    enum kube_wait wait;
    int64_t patience_ms;
    enum runtime_cause cause; /* REJECTED: its lease goes back */
    struct str text;          /* for people, in the arena */
};

/* Look at a pod that has not ended. */
struct kube_check kube_check_pod(const struct kube_pod *pod,
                                 struct arena *arena) must_check;
