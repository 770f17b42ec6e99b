/*
 * kube_usage - what pods that are not ours ask of a cluster's nodes, kept up to
 * date pod by pod: a node is told when what is asked of it has changed.
 *
 * A pod is counted from its assignment to its end.  Pods that wait for a node
 * count under the name "".  Each pod takes 60 bytes or so: what pods ask for is
 * kept once however many ask for the same.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "model/resource.h"

struct kube_usage;

/* Nothing is asked for; the caller owns it. */
struct kube_usage *kube_usage_create(void) must_check;
void kube_usage_destroy(struct kube_usage *usage);
DEFINE_AUTO(kube_usage, kube_usage_destroy)

/* The pod of this uid is on `node` and asks for so much; or it does now. */
void kube_usage_put(struct kube_usage *usage, struct str uid, struct str node,
                    const struct resource_list *requests);
/* It is there no more, or has ended; nothing happens to one that is unknown. */
void kube_usage_remove(struct kube_usage *usage, struct str uid);

/* From here on pods are put again; what is not by kube_usage_end_list() is
 * removed. */
void kube_usage_begin_list(struct kube_usage *usage);
void kube_usage_end_list(struct kube_usage *usage);

/* What is asked of a node, in the arena. */
struct resource_list kube_usage_of(const struct kube_usage *usage,
                                   struct str node, struct arena *arena);
/* The next node whose sum has changed since it was told; false: none has.  The
 * name is valid until the next call. */
bool kube_usage_next_changed(struct kube_usage *usage, struct str *ret_node);
