/*
 * elog_contract - what every backend of the log must do: one suite, which
 * knows no backend.  Each test is a sentence of elog.h.
 */
#pragma once

#include "elog/elog.h"

/* A backend, as the suite sees it. */
struct elog_contract {
    const char *name;
    /* An empty place that keeps a log. */
    void *(*place_create)(void);
    /* Open the log of a place.  The suite opens it again while it is open, as
     * a second writer would, and after it was closed, as a restart would. */
    struct elog *(*open)(void *place);
    /* Spoil a byte of the newest checkpoint; the log is closed. */
    void (*checkpoint_spoil)(void *place);
    void (*place_destroy)(void *place);
};

/* Run the suite: the number of tests that failed. */
int elog_contract_run(const struct elog_contract *contract);
