/*
 * texts - what the rules of submission say of a sample: the text of the
 * refusal, or "" if there is none.
 */
#pragma once

#include "api/submit/validate.h"

/* Of a pod, by these rules. */
const char *text_of_pod(K8s__Io__Api__Core__V1__PodSpec *pod,
                        const struct submit_rules *rules, struct arena *arena);
/* Of a pod, by the default rules. */
const char *text_of_usual_pod(K8s__Io__Api__Core__V1__PodSpec *pod,
                              struct arena *arena);
/* Of what goes for all of a request. */
const char *text_of_request(Berth__Submission__Request *request,
                            struct arena *arena);
/* Of an item's shape, and of what is left when its pod is right. */
const char *text_of_shape(Berth__Submission__Item *item, struct arena *arena);
/* See above. */
const char *text_of_rest(Berth__Submission__Item *item, struct arena *arena);
