/*
 * job_folders - which files a job brings, and where it leaves others.
 *
 * Pure.
 */
#pragma once

#include "executor/runtime.h"

/* Where in its containers it leaves files that are kept, unchecked; NULL: it
 * leaves none. */
const char *output_path_of(const struct runtime_run *run) must_check;
/* The files that it brings (wire/text/input_files.h), unchecked; NULL: none. */
const char *input_files_of(const struct runtime_run *run) must_check;
