/*
 * shim_fence - keeps a job from the data directory where it can have no mount
 * namespace, by Landlock.
 *
 * Landlock knows only what is allowed.  So the job may use everything beside
 * the way to the hidden directory, and in that its own part; directories on
 * the way it may list, but it makes nothing new in them.  Where the kernel
 * knows how (6.12), it signals nobody outside of its own processes.
 *
 * Private to the shim; in the child, before exec.
 */
#pragma once

#include "executor/files/run_file.h"

enum {
    SHIM_FENCE_RULES_MAX = 8192, /* entries beside the way; others are shut */
};

/* Fence the calling process and whatever it starts in; it must have given up
 * new privileges.  -ERR_IO with errno. */
int shim_fence_enter(const struct run_spec *spec) must_check;
