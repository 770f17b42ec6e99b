/*
 * pod_logs - the logs of pods that ran under this data directory, for the
 * API.
 */
#pragma once

#include "api/logs/log_source.h"

/* A source over the runs in `jobs_dir` (borrowed), in the arena. */
struct log_source *pod_logs_make(const char *jobs_dir,
                                 struct arena *arena) must_check;
