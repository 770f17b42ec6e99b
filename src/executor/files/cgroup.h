/*
 * cgroup - limits the containers of pods by the control groups that are
 * writable on this machine: version 2, version 1, or none.
 *
 * Which ones are writable is tried once, at start.  Below a parent group of
 * ours each container gets a group of its own, named <run id>.<index>; in
 * version 1 that is one directory per controller.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum { CGROUP_PATH_BYTES_MAX = 512, CGROUP_KILL_ROUNDS_MAX = 200 };

/* Which interface was found. */
enum cgroup_kind { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };

/* The controllers used.  Version 2 has them all under `memory`. */
enum cgroup_controller {
    CGROUP_MEMORY,
    CGROUP_CPU,
    CGROUP_PIDS,
    CGROUP_FREEZER,
    CGROUP_CONTROLLERS,
};

/* Parent directories, "" where a controller is not to be had. */
struct cgroup_layout {
    enum cgroup_kind kind;
    char parents[CGROUP_CONTROLLERS][CGROUP_PATH_BYTES_MAX];
    int64_t missing; /* of version 2: bits of the controllers it has not */
};

/* What a container may use; 0 is no limit. */
struct cgroup_limits {
    int64_t memory_bytes;
    int64_t cpu_milli;
    int64_t cpu_request_milli;
    int64_t pids_max;
    int64_t file_bytes; /* of one file; by rlimit, for there is no group */
};

/* Find out what may be used and make the parent groups, called `name`.  Never
 * fails: without rights the kind is CGROUP_NONE.  `ret_text` says in one
 * sentence what was found, for the log of whoever asked. */
void cgroup_probe(const char *name, struct cgroup_layout *ret_layout,
                  struct err *ret_text);

/* Whether a container's group limits what this controller is for. */
bool cgroup_has(const struct cgroup_layout *layout,
                enum cgroup_controller controller);

/* Remove the parent groups, if nothing is in them. */
void cgroup_release(const struct cgroup_layout *layout);

/* Make the group `name` with its limits.  A limit that the kernel refuses is
 * passed over: `ret_text` (may be NULL) then says which.  -ERR_IO when there
 * is no group at all. */
int cgroup_add(const struct cgroup_layout *layout, const char *name,
               const struct cgroup_limits *limits,
               struct err *ret_text) must_check;

/* Move the calling process into the group, which must exist.  -ERR_IO. */
int cgroup_enter(const struct cgroup_layout *layout,
                 const char *name) must_check;

/* Kill all that is in the group and wait (bounded) until it is empty. */
void cgroup_kill(const struct cgroup_layout *layout, const char *name);

/* How many processes of the group the kernel killed for want of memory. */
int64_t cgroup_oom_kill_count(const struct cgroup_layout *layout,
                              const char *name);

/* Kill what is left and remove the group. */
void cgroup_remove(const struct cgroup_layout *layout, const char *name);

/* cgroup_remove() every group whose name begins with `prefix`. */
void cgroup_remove_all(const struct cgroup_layout *layout, const char *prefix);
