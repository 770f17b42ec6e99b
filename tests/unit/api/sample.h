/*
 * sample - submissions to test with: a valid one, and ways to bend it.
 *
 * Everything lives in the arena; texts must outlive it.
 */
#pragma once

#include "base/arena.h"
#include "berth/submission.pb-c.h"
#include "k8s/core.pb-c.h"

/* A pod spec with one main container `main` of 1 cpu and 1Gi, requests equal
 * to limits. */
K8s__Io__Api__Core__V1__PodSpec *sample_pod(struct arena *arena);

/* Add a container that asks for nothing yet. */
K8s__Io__Api__Core__V1__Container *
sample_container(struct arena *arena, K8s__Io__Api__Core__V1__PodSpec *pod,
                 const char *name, bool is_init);

/* Put a request and a limit into a container; NULL leaves one out. */
void sample_resource(struct arena *arena,
                     K8s__Io__Api__Core__V1__Container *container,
                     const char *name, const char *request, const char *limit);

/* The request that container `index` has for a resource, or NULL. */
const char *sample_request(const K8s__Io__Api__Core__V1__PodSpec *pod,
                           size_t index, const char *name);

/* Expose a port. */
void sample_port(struct arena *arena,
                 K8s__Io__Api__Core__V1__Container *container, int port);

/* Give a pod a toleration of everything with this key. */
void sample_toleration(struct arena *arena,
                       K8s__Io__Api__Core__V1__PodSpec *pod, const char *key);

/* Give a pod a required node affinity of one expression. */
K8s__Io__Api__Core__V1__NodeAffinity *
sample_affinity(struct arena *arena, K8s__Io__Api__Core__V1__PodSpec *pod,
                const char *key, const char *op, const char *value);

/* An item of namespace `default` whose pod spec is `pod`, encoded; NULL: it
 * has none. */
Berth__Submission__Item *
sample_item(struct arena *arena, const K8s__Io__Api__Core__V1__PodSpec *pod);

/* Add an annotation. */
void sample_annotation(struct arena *arena, Berth__Submission__Item *item,
                       const char *key, const char *value);

/* Add a label. */
void sample_label(struct arena *arena, Berth__Submission__Item *item,
                  const char *key, const char *value);

/* Make an item a member of a gang. */
void sample_gang(struct arena *arena, Berth__Submission__Item *item,
                 const char *id, const char *cardinality);

/* Ask for an ingress over one port. */
Api__IngressConfig *sample_ingress(struct arena *arena,
                                   Berth__Submission__Item *item,
                                   uint32_t port);

/* Ask for a service over one port. */
Api__ServiceConfig *sample_service(struct arena *arena,
                                   Berth__Submission__Item *item,
                                   Api__ServiceType type, uint32_t port);

/* A request of these items to queue `q` and job set `s`. */
Berth__Submission__Request *sample_request_of(struct arena *arena,
                                              Berth__Submission__Item **items,
                                              size_t count);
