/*
 * kubernetes_job - a Kubernetes Job (apiVersion batch/v1) as a file of jobs:
 * each of its completions is a job of its own with the template's pod spec.
 *
 *     in the Job                              in the file of jobs
 *     metadata.namespace                      namespace of each
 *     metadata.annotations, armadaproject.io/ queue, jobSetId
 *       queue and jobSet
 *     metadata.name                           jobSetId, when none is given
 *     spec.completions, else parallelism      how many
 *     spec.activeDeadlineSeconds              of each pod that has none
 *     spec.template.metadata                  labels, annotations of each
 *     spec.template.spec                      podSpecs of each
 *
 * Not taken over: parallelism below completions (Berth decides how many run
 * at once), backoffLimit (the queue's retry policies do that), and fields by
 * which the Job's controller tells pods apart.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"
#include "wire/json/json.h"

enum { KUBERNETES_JOB_PODS_MAX = 100000 };

/* Whether a document is a Kubernetes Job. */
bool kubernetes_job_is(const json_t *document);

/* What the Job calls itself; "" if it does not. */
const char *kubernetes_job_name(const json_t *document);

/* The file of jobs that a Job stands for; the caller json_decref()s it.
 * CLI_INVALID, with a message, when it is no Job that can be run. */
enum cli_exit kubernetes_job_convert(struct cli *cli, const json_t *document,
                                     json_t **ret_file);
