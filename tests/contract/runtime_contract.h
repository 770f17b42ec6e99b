/*
 * runtime_contract - what every runtime must do: one suite, which knows no
 * backend.  Each test is a sentence of executor/runtime.h.
 */
#pragma once

#include "executor/runtime.h"
#include "support.h"

/* What the program of a job does. */
enum contract_program {
    CONTRACT_SUCCEEDS,
    CONTRACT_FAILS, /* with exit code 3 */
    CONTRACT_RUNS_ON,
    CONTRACT_PROGRAMS,
};

/* A backend, as the suite sees it. */
struct runtime_contract {
    const char *name;
    bool remembers;           /* runs, across restarts */
    bool remembers_forgotten; /* and what was acknowledged or forgotten */
    bool lets_users_in;
    /* An empty place that keeps what the runtime remembers. */
    void *(*place_create)(void);
    /* Open the runtime of a place, also after it was closed, as a restart
     * would. */
    struct runtime *(*open)(void *place);
    /* Make job number `number`, which differs from all others. */
    void (*make_job)(struct job *job, int number,
                     enum contract_program program);
    /* Let time pass until something may have happened. */
    void (*wait)(void *place, struct runtime *runtime);
    void (*place_destroy)(void *place);
};

/* Run the suite: the number of tests that failed. */
int runtime_contract_run(const struct runtime_contract *contract);
