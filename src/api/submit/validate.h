/*
 * validate - the rules that a submission must keep, in Armada's words
 * (armada-api.md 3.2 and 3.3).
 *
 * Rules R1-R4 are about the request, I1-I19 about one item.  The first rule
 * that is broken refuses the whole request.  Every function answers 0, or
 * -ERR_INVALID with the text in `refusal`.
 *
 * Whether a job fits anywhere is not asked here: that shows later.
 * Pure but for memory.
 */
#pragma once

#include "api/core/submit_rules.h"
#include "api/submit/annotations.h"
#include "api/submit/pod_view.h"

enum {
    JOB_SET_ID_BYTES_MAX = 1023,
    CLIENT_ID_BYTES_MAX = 100,
    REASON_BYTES_MAX = 50,
    ITEM_NAME_BYTES_MAX = 253,
    ITEM_URI_BYTES_MAX = 2048,
    ITEM_LABELS_MAX = 256,
    ITEM_ANNOTATIONS_MAX = 256,
    ITEM_KEY_BYTES_MAX = 317, /* 253 of a prefix, and 63 */
    ITEM_LABEL_BYTES_MAX = 1023,
    ITEM_ANNOTATION_BYTES_MAX = 256 << 10, /* of all, with their keys */
    ITEM_PORTS_MAX = 64,                   /* ingresses; services */
};

/* R1, R2, R3, R4. */
int validate_request(const Berth__Submission__Request *request,
                     struct refusal *refusal) must_check;

/* I1 and I2, and I3 as far as it can be told without decoding; the one pod
 * spec's bytes, borrowed from the item. */
int validate_item_shape(const Berth__Submission__Item *item,
                        const struct submit_rules *rules,
                        struct str *ret_pod_spec,
                        struct refusal *refusal) must_check;

/* I3 of a pod spec that is not decoded yet. */
int validate_pod_bytes(struct str pod_spec, const struct submit_rules *rules,
                       struct refusal *refusal) must_check;

/* The rules about a pod spec: I3 (as Go would encode it) to I14, I16, I18. */
int validate_pod(const struct pod_view *pod, const struct submit_rules *rules,
                 struct refusal *refusal) must_check;

/* How many and how long the texts of an item may be; of the pod spec says
 * validate_pod_bytes(). */
int validate_item_sizes(const Berth__Submission__Item *item,
                        struct refusal *refusal) must_check;

/* The rules about the rest of an item: I15, I17, I19, our annotations,
 * and the sizes. */
int validate_item_rest(const Berth__Submission__Item *item,
                       const struct submit_rules *rules,
                       struct refusal *refusal) must_check;

/* A reason for cancelling or preempting is at most REASON_BYTES_MAX long. */
bool validate_is_reason_short(const char *reason);
