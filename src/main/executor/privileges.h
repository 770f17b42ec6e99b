/*
 * privileges - what a program gives up once it has started, and a line in its
 * log that says whether it has.
 *
 * Threads: before others are started.
 */
#pragma once

#include "main/config/config.h"

/* Enter the filter of system calls (executor/filter), unless the configuration
 * switches it off, or the program must start others: then
 * `starts_programs` is set. */
void privileges_deny_calls(const struct config_hardening *config,
                           bool starts_programs);
