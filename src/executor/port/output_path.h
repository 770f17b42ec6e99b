/*
 * output_path - where in its containers a job leaves files that are kept.
 *
 * Pure.
 */
#pragma once

#include "executor/runtime.h"

/* The job's annotation, unchecked; NULL: it has none. */
const char *output_path_of(const struct runtime_run *run) must_check;
