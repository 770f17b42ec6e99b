/*
 * job_labels - whether a job has the labels that a listing requires.
 *
 * Those that the store's index has not, or not yet, are looked up in the spec
 * that was submitted, so a request looks at no more than JOB_LABELS_SCAN_MAX
 * jobs.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "store/store.h"

/* Jobs that one request looks at when it asks for labels. */
enum { JOB_LABELS_SCAN_MAX = 5000 };

/* Whether the job has every label that the request asks for: 1 or 0, or what
 * the store failed with.  1 also if the request asks for none; 0 if the spec is
 * not kept any more. */
int job_labels_match(struct store_reader *reader, struct job_id id,
                     const Berth__Api__ListJobsRequest *request,
                     struct err *err) must_check;
