/*
 * support - what the executor's tests share: a directory that goes away, the
 * machine's clock, jobs made of a few words, and waiting for a condition.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "executor/runtime.h"
#include "patience.h"

/* Longest that any single thing in these tests may take. */
#define WAIT_MS_MAX patient_ms(20000)

/* The machine's own clock and randomness. */
extern const struct clock machine_clock;
extern const struct rng machine_rng;

/* A fresh directory below /tmp that any user may walk through. */
char *make_dir(void);
/* Remove it and free its name. */
void remove_dir(char *dir);

/* Read a file of at most 1 MiB; the caller frees it; "" if it is not there. */
char *read_file(const char *format, ...) printf_like(1, 2);

/* A job under construction; all of it lives in the arena. */
struct job {
    struct arena arena;
    struct runtime_run run;
    Armadaevents__SubmitJob *submit;
    K8s__Io__Api__Core__V1__PodSpec *pod;
};

/* A job with one main container `args` (NULL-ended) and no limits; `number`
 * and this process make its ids: processes of a run are found by its id, also
 * those of the same test elsewhere on the machine. */
void job_make(struct job *job, int number, const char *const *args);
/* Add a container to the pod, an init one if asked. */
K8s__Io__Api__Core__V1__Container *job_container(struct job *job, bool is_init,
                                                 const char *const *args);
/* Add a variable to a container. */
K8s__Io__Api__Core__V1__EnvVar *
job_env(struct job *job, K8s__Io__Api__Core__V1__Container *container,
        const char *name, const char *value);
/* Limit (and request) an amount. */
void job_limit(struct job *job, K8s__Io__Api__Core__V1__Container *container,
               const char *name, const char *amount);
/* Set an annotation. */
void job_annotate(struct job *job, const char *key, const char *value);
/* Free it. */
void job_free(struct job *job);

/* Milliseconds of the machine's clock. */
int64_t machine_ms(void);
