/*
 * periodic_file - a document with a schedule: a file of jobs that has one, or a
 * Kubernetes CronJob (apiVersion batch/v1).
 *
 *     in the CronJob                   in the file of jobs
 *     metadata.name                    name
 *     metadata.namespace, annotations  as those of a Job
 *     spec.schedule, timeZone,         the same
 *       concurrencyPolicy, suspend,
 *       startingDeadlineSeconds
 *     spec.jobTemplate.spec            jobs, as those of a Job
 *
 * Threads: one.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "cli/shared/job_file.h"

/* Whether a document has a schedule. */
bool periodic_is(const json_t *document);

/* Whether one is a CronJob. */
bool periodic_is_cron_job(const json_t *document);

/* The file of jobs with a schedule that a CronJob stands for; the caller
 * json_decref()s it.  CLI_INVALID, with a message. */
enum cli_exit periodic_convert(struct cli *cli, const json_t *document,
                               json_t **ret_file);

/* The periodic job of such a file, whose jobs are `submission`; in the arena.
 * CLI_INVALID, with a message. */
enum cli_exit periodic_read(struct cli *cli, const json_t *document,
                            const struct submission *submission,
                            Berth__Api__PeriodicJob **ret_periodic);

/* The same by the options of `run`. */
enum cli_exit periodic_of_options(struct cli *cli,
                                  const struct submission *submission,
                                  Berth__Api__PeriodicJob **ret_periodic);

/* Create one, or update it, and say so. */
enum cli_exit periodic_send(struct cli *cli, bool is_update,
                            const Berth__Api__PeriodicJob *periodic);
