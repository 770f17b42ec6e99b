/*
 * privileges - what a program gives up once it has started: its user, if that
 * is root, and system calls; lines in its log say whether it has.
 *
 *     privileges_plan()        whom to become, and whether that can be
 *     (start the helper, which stays root:
 *         privileges_deny_helper_calls()  enter a filter of its own)
 *     privileges_give_up()     become that user
 *     privileges_deny_calls()  enter the filter
 *
 * Where the program could not go on as that user, it stays root, and says why.
 *
 * Threads: before others are started.
 */
#pragma once

#include <sys/types.h>

#include "main/config/config.h"

enum { PRIVILEGES_ID_DEFAULT = 65533, PRIVILEGES_NAME_BYTES_MAX = 64 };

/* What is to be given up.  Zeroed: nothing, for who is not root. */
struct privileges {
    bool is_root;
    bool is_kept; /* stays root, for the reason in `why` */
    struct err why;
    char name[PRIVILEGES_NAME_BYTES_MAX]; /* "": the user has no account */
    uid_t uid;
    gid_t gid;
};

/* What must be usable afterwards; "" and NULL are passed over. */
struct privileges_needs {
    const char *data_dir;    /* absolute; handed over, but for jobs/ */
    const struct str *files; /* to be read */
    uint32_t file_count;
};

/* Find out, and hand over what is needed.  -ERR_INVALID: there is no such
 * user. */
int privileges_plan(const struct config_hardening *config,
                    const struct privileges_needs *needs,
                    struct privileges *ret_plan, struct err *err) must_check;

/* Become the planned user, for good; `process` is for the log.  -ERR_IO: half
 * of it may be done, so the program must end. */
int privileges_give_up(const struct privileges *plan, const char *process,
                       struct err *err) must_check;

/* Enter the filter of system calls (executor/filter), unless the configuration
 * switches it off. */
void privileges_deny_calls(const struct config_hardening *config);

/* The same in a process beside it, which starts programs: with the filter that
 * these can live with. */
void privileges_deny_helper_calls(const struct config_hardening *config,
                                  const char *process);
