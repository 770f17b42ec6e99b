/*
 * pod_group - from a group of pods to its jobs: the terms that they share,
 * and what each job says of its place in the group (model.md 2.11, 6.2).
 *
 * Each pod is a job of the gang.  Jobs come in order of the sub-groups, and
 * of their indexes within one.  The gang's id is the id of its first job, so
 * that whoever has the answer to the request knows how to find the others:
 *
 *     annotations  armadaproject.io/gangId, /gangCardinality
 *     labels       berth.dev/pod-group (the gang's id), /sub-group, /pod-index
 *                  (from 0, within the sub-group)
 *     environment  BERTH_POD_GROUP, BERTH_SUB_GROUP, BERTH_POD_INDEX: the
 *                  labels, in every container, for the pod's own to refer to
 *
 * The group of a PodGroup body is read and checked by pod_group_read(); other
 * kinds of objects make theirs by hand and give it to
 * submission_build_group().
 *
 * Pure.  Strings are borrowed from the item.
 */
#pragma once

#include "api/core/refusal.h"
#include "api/submit/pod_view.h"
#include "berth/submission.pb-c.h"
#include "model/digest.h"
#include "model/id.h"

#define LABEL_POD_GROUP "berth.dev/pod-group"
#define LABEL_SUB_GROUP "berth.dev/sub-group"
#define LABEL_POD_INDEX "berth.dev/pod-index"

/* What a group is made of. */
struct pod_group {
    struct gang_terms terms;
    /* The pod spec of each sub-group, encoded, as the user gave it. */
    struct str templates[SUB_GROUPS_MAX];
    /* A label that the pods of a sub-group get beside; key NULL: none. */
    struct {
        const char *key, *value;
    } labels[SUB_GROUPS_MAX];
};

/* One job of a group. */
struct pod_member {
    uint32_t sub_group;
    uint32_t index; /* within it */
    struct job_id job;
    struct str gang_id;
    bool has_gang_label; /* show the gang's id in Armada's label as well */
};

/* How many jobs an item asks for, not checked yet; 1 without a group. */
uint64_t pod_group_job_count(const Berth__Submission__Item *item);

/* Read the group that an item has instead of a pod spec, by all rules but
 * those about pod specs.  -ERR_INVALID, naming the field. */
int pod_group_read(const Berth__Submission__Item *item,
                   struct pod_group *ret_group,
                   struct refusal *refusal) must_check;

/* The pods that a group may have, and those that it needs. */
uint32_t pod_group_max(const struct pod_group *group);
/* The like. */
uint32_t pod_group_min(const struct pod_group *group);

/* An item like `item` for one job of a group, with the labels and annotations
 * that tell its place; in the arena. */
Berth__Submission__Item *pod_group_item(const Berth__Submission__Item *item,
                                        const struct pod_group *group,
                                        const struct pod_member *member,
                                        struct arena *arena) must_check;

/* The variables of the environment that tell a pod its place, put before the
 * container's own. */
void pod_group_environment(struct pod_view *pod, struct arena *arena);

/* Fill in what a group says in the digest of one of its jobs: the gang, and
 * that a pod which loses its place waits again, unless the item's annotations
 * say otherwise.  `packed` is of the terms. */
void pod_group_digest(const Berth__Submission__Item *item,
                      const struct pod_group *group,
                      const struct pod_member *member, struct str packed,
                      struct job_digest *digest);
