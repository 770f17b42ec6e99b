/*
 * fake_api - an API server in memory, with a kubelet: for tests and simulation.
 *
 * It answers as a real one does to what src/kube and the runtime `kubernetes`
 * ask: lists (in pages), watches (without bookmarks), POST, DELETE and GET
 * of a pod, POST and GET of services, ingresses and config maps, which go with
 * the pod that owns them.  Everything else is 404.  Each drive() answers what
 * was asked before it, then moves each pod one step on:
 *
 *     Pending -> Running -> Succeeded, or Failed with its exit code
 *     deleted -> Failed (its containers end with 143) -> gone
 *
 * Annotations of a pod decide:
 *
 *     berth.dev/fakeRunMs     how long it runs; without it, it ends at once
 *     berth.dev/fakeExitCode  how it ends (0 succeeds)
 *
 * What goes wrong is played by the functions below.  Threads: one owner.
 */
#pragma once

#include "base/clock.h"
#include "kube/http/kube_port.h"

struct fake_api;

/* An API server without objects, on this clock (borrowed). */
struct fake_api *fake_api_create(const struct clock *clock) must_check;
void fake_api_destroy(struct fake_api *api);
DEFINE_AUTO(fake_api, fake_api_destroy)

/* The port to it. */
struct kube_port *fake_api_port(struct fake_api *api);

/* A node of 8 cpu that is ready; or it is not any more. */
void fake_api_put_node(struct fake_api *api, const char *name, bool is_ready);
/* It is gone; its pods stay. */
void fake_api_remove_node(struct fake_api *api, const char *name);
/* A pod of somebody else's, which never ends, that asks for so much cpu of a
 * node ("": of none yet). */
void fake_api_put_pod(struct fake_api *api, const char *name, const char *node,
                      const char *cpu);
/* Somebody copies a pod, with its labels but the run's, under another name. */
void fake_api_copy_pod(struct fake_api *api, const char *name,
                       const char *copy_name, const char *run);
/* Pods end, start, wait or go in this moment, as others or the cluster will it.
 */
void fake_api_fail_pod(struct fake_api *api, const char *name,
                       const char *reason, int exit_code);
void fake_api_start_pod(struct fake_api *api, const char *name);
void fake_api_set_waiting(struct fake_api *api, const char *name,
                          const char *reason, const char *message);
/* Deleted with grace: its kubelet ends it. */
void fake_api_delete_pod(struct fake_api *api, const char *name);
/* Gone at once. */
void fake_api_remove_pod(struct fake_api *api, const char *name);

/* The next `count` requests of this method are answered so: with a Status, or,
 * with status 0, not at all, after they were done if `is_done`. */
void fake_api_answer(struct fake_api *api, const char *method, int count,
                     int status, const char *reason, const char *message,
                     bool is_done);
/* Of those that were said last: only requests with this in their path. */
void fake_api_answer_only(struct fake_api *api, const char *part);
/* All that this was said of is answered plainly again. */
void fake_api_answer_no_more(struct fake_api *api);
/* The port takes no requests (until false). */
void fake_api_refuse(struct fake_api *api, bool is_full);
/* Watches say nothing any more (until false): they are stale. */
void fake_api_hold_watches(struct fake_api *api, bool are_held);
/* The versions so far are forgotten: watches end with 410. */
void fake_api_compact(struct fake_api *api);
/* The kubelets do nothing any more (until false). */
void fake_api_hold_kubelets(struct fake_api *api, bool are_held);

/* Lists are read when they are asked for, but answered later (until false). */
void fake_api_hold_lists(struct fake_api *api, bool are_held);
/* Lists come in pages of so many objects; 0: in one. */
void fake_api_set_page(struct fake_api *api, size_t page_max);

/* How many requests of this method were heard. */
uint32_t fake_api_count(const struct fake_api *api, const char *method);
/* How many pods there are, and how often one was made. */
uint32_t fake_api_pod_count(const struct fake_api *api);
uint32_t fake_api_made_count(const struct fake_api *api);
/* The same of services, ingresses and config maps. */
uint32_t fake_api_other_count(const struct fake_api *api);
uint32_t fake_api_made_other_count(const struct fake_api *api);
