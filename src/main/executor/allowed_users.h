/*
 * allowed_users - whether executor.process.allowedUsers names accounts of this
 * machine: an entry that names none gives nobody anything.
 *
 * Threads: any.
 */
#pragma once

#include "main/config/config.h"

/* Note each that names none, if the runtime is process. */
void allowed_users_check(const struct config_executor *executor,
                         struct config_findings *findings);
