/*
 * defaults - fills in what a submission left out (armada-api.md 3.4). It runs
 * after validation, and its results are not validated again (trap 10).
 *
 * The strings and messages that are added live in the arena or with the
 * rules; both outlive the item.
 *
 * Threads: any; nothing is shared but the rules, which are only read.
 */
#pragma once

#include "api/core/submit_rules.h"
#include "api/submit/pod_view.h"
#include "berth/submission.pb-c.h"
#include "model/id.h"

/* Steps 1 to 3, on labels and annotations: their maps are tidied, job ids
 * put where values ask for them, and what the gang and the rules ask for is
 * added.  `is_gang` says that the item is in a gang of more than one. */
void defaults_metadata(Berth__Submission__Item *item, bool is_gang,
                       struct job_id job, const struct submit_rules *rules,
                       struct arena *arena);

/* Steps 4 to 8, on the pod spec and its view. */
void defaults_pod(struct pod_view *pod, const struct submit_rules *rules,
                  struct arena *arena);

/* Step 9: clamp to what a uint32 holds and round half away from zero; what is
 * not a number counts as 0. */
uint32_t defaults_priority(double priority);

/* Step 10; "" if there is none. */
struct str defaults_external_job_uri(const Berth__Submission__Item *item);

/* A label or annotation value with the job's id in the places that ask for
 * it: `{JobId}` becomes the id, `{{JobId}}` the word JobId. */
struct str defaults_fill_job_id(struct str value, struct str job_id,
                                struct arena *arena);
