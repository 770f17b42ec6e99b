/*
 * pod_logs - the logs of pods that ran under this data directory, for the
 * API.
 */
#pragma once

#include "api/logs/log_source.h"
#include "executor/helper/helper.h"

/* A source over the runs in `jobs_dir` (borrowed), in the arena.  `helper` (may
 * be NULL; borrowed) reads them, where this process may not. */
struct log_source *pod_logs_make(const char *jobs_dir, struct helper *helper,
                                 struct arena *arena) must_check;
