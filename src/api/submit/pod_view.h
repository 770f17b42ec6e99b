/*
 * pod_view - a decoded pod spec, made ready for the rules of submission.
 *
 * protobuf lets a map name a key twice and leave a key or value out.  The
 * view puts that right in the message itself (sorted by key, the last of
 * equal ones stays, as protobuf says) for the maps that rules look at, and
 * reads every amount once.
 *
 * Lives in the arena; the message stays the caller's.
 */
#pragma once

#include "api/core/refusal.h"
#include "base/arena.h"
#include "k8s/core.pb-c.h"

/* One amount of a container. */
struct pod_amount {
    struct str name;
    struct str quantity; /* as written */
    int64_t milli;
};

/* Sorted by name, each once. */
struct pod_amounts {
    struct pod_amount *items;
    uint32_t count;
};

/* A container, as the rules look at it. */
struct pod_container {
    K8s__Io__Api__Core__V1__Container *message;
    struct str name;
    bool is_init;
    struct pod_amounts requests, limits;
};

struct pod_view {
    K8s__Io__Api__Core__V1__PodSpec *message;
    struct pod_container *containers; /* main ones first, then init ones */
    uint32_t container_count;
    uint32_t main_count;
};

/* View `message`, tidying its maps.  -ERR_INVALID with the refusal when an
 * amount is not a quantity or too large. */
int pod_view_make(K8s__Io__Api__Core__V1__PodSpec *message, struct arena *arena,
                  struct pod_view *ret_view,
                  struct refusal *refusal) must_check;

/* The amount with this name, or NULL. */
const struct pod_amount *pod_amounts_find(const struct pod_amounts *amounts,
                                          struct str name);

/* Whether any container, or any main one, requests some of `name`. */
bool pod_view_requests(const struct pod_view *view, struct str name,
                       bool is_main_only);

/* Sort the entries of a protobuf-c map with text keys, drop all but the last
 * of equal keys, and put "" where a key is missing.  Returns how many stay. */
size_t pod_map_tidy(void **entries, size_t count);
