/*
 * view - what a caller may see of a job.
 *
 * Callers with a queue's verb `watch` (also written `view`) or the permission
 * watch_all_events may see jobs, their events, specs and logs.  Only
 * administrators, the submitter, and callers with every verb of the queue (such
 * as its owners) see the values of environment variables, which may be
 * secrets.  For other callers the server answers as if the job did not exist.
 *
 * Internal to the API.  Threads: those of the call.
 */
#pragma once

#include "api/core/api_call.h"
#include "k8s/core.pb-c.h"

enum view {
    VIEW_NOTHING,
    VIEW_REDACTED, /* without the values of environment variables */
    VIEW_ALL,
};

/* What the caller may see of a job of a queue, which may be gone, that `owner`
 * submitted ("": nobody in particular). */
enum view view_of_job(struct api_call *call, struct str queue,
                      struct str owner) must_check;

/* The same of a job that is not known: nothing unless the caller may see every
 * job. */
enum view view_of_unknown(struct api_call *call) must_check;

/* Whether the caller may see what a queue has, or all queues ("") have; false:
 * the call is over. */
bool view_check_queue(struct api_call *call, struct str queue) must_check;

/* Replace the values of environment variables, in place.  NULL is fine. */
void view_redact(K8s__Io__Api__Core__V1__PodSpec *spec);
