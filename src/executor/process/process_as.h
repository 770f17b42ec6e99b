/*
 * process_as - to look at files as a user of jobs: what comes of it tells
 * nothing of files that only we see, whatever the job has put in their place.
 *
 * Threads: of the calling thread alone, which keeps what else it may.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

/* What the thread was before. */
struct process_as {
    gid_t *groups; /* owned */
    int group_count;
    bool is_on;
};

/* Look at files as this user from now on; `uid` < 0: as we are.  -ERR_IO with
 * errno, and nothing has changed. */
int process_as_begin(struct process_as *as, int64_t uid,
                     int64_t gid) must_check;
/* As ourselves again; errno stays. */
void process_as_end(struct process_as *as);
