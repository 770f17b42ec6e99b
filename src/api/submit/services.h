/*
 * services - the Kubernetes services and ingresses that a job asks for beside
 * its pod (armada-api.md 3.5).
 *
 * Everything lives in the arena; strings are borrowed from the item.
 */
#pragma once

#include "api/core/submit_rules.h"
#include "api/submit/pod_view.h"
#include "armada/armadaevents.pb-c.h"
#include "berth/submission.pb-c.h"

/* A port that services can expose. */
struct pod_port {
    struct str container;
    struct str protocol;
    int32_t number;
};

/* In the order in which containers list them. */
struct pod_ports {
    struct pod_port *items;
    uint32_t count;
};

/* The ports of main containers, then of init containers that restart always;
 * none that asks for a port of the host.  All in the arena. */
struct pod_ports pod_ports_of(const struct pod_view *pod,
                              struct arena *arena) must_check;

/* Whose objects they are. */
struct object_owner {
    const char *job_id; /* as text */
    const char *queue;
    const char *job_set;
    const char *owner;
};

/* The objects of an item: services, then each ingress after the service that
 * was made for it.  `*ret_count` of them; NULL if none. */
Armadaevents__KubernetesObject **
services_make(const Berth__Submission__Item *item,
              const struct pod_ports *ports, const struct object_owner *owner,
              const struct submit_rules *rules, struct arena *arena,
              uint32_t *ret_count) must_check;
