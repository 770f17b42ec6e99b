/*
 * message - the rules for a periodic job as a message, and what becomes of it.
 *
 * Internal to the API.  Threads: any.
 */
#pragma once

#include "api/periodic/zones.h"
#include "base/arena.h"
#include "berth/api.pb-c.h"
#include "model/periodic.h"

/* The label that each job of a run has, with the periodic job's name. */
#define PERIODIC_LABEL "berth.dev/periodicJob"
/* The annotation with the moment of the run, as Kubernetes' CronJobs have. */
#define PERIODIC_MOMENT "batch.kubernetes.io/cronjob-scheduled-timestamp"

/* A periodic job's times, with the zone that they go by. */
struct periodic_times {
    struct periodic_terms terms; /* whose zone is: */
    struct zone zone;
};

/* Read the times, with a lock as zone_open() takes it; periodic_times_close()
 * them.  -ERR_INVALID: the text begins
 * with the field. */
int periodic_times_open(const Berth__Api__PeriodicJob *message,
                        pthread_mutex_t *lock, struct periodic_times *ret_times,
                        struct err *err) must_check;
/* Free what they hold. */
void periodic_times_close(struct periodic_times *times);

/* Check all but its times and what submissions check, and fill in what is left
 * out.  -ERR_INVALID, -ERR_LIMIT: the text begins with the field. */
int periodic_check(Berth__Api__PeriodicJob *message, struct arena *arena,
                   struct err *err) must_check;

/* An encoded api.JobSubmitRequest of the run of that moment; in the arena.  Its
 * gangs are its own: their ids end in the moment. */
struct str periodic_submission(const Berth__Api__PeriodicJob *message,
                               int64_t moment_ms,
                               struct arena *arena) must_check;
