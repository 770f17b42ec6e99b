/*
 * notify_setup - the targets of notifications as the configuration names them,
 * with the keys that their files hold.
 *
 * Threads: main's, at the start.
 */
#pragma once

#include "main/config/config.h"
#include "notify/target.h"

/* Note what is wrong with them, also with their files. */
void notify_setup_check(const struct config *config,
                        struct config_findings *findings);

/* The targets, in the arena; config_notify_count() of them.
 * -ERR_INVALID, -ERR_IO: a file has no key, or cannot be read. */
int notify_setup(const struct config *config, struct arena *arena,
                 struct notify_target **ret_targets,
                 struct err *err) must_check;
