/*
 * shim_probe - which layers around a pod this machine allows.
 *
 * They are not looked up but tried, by the very code that pods get and as the
 * user that they get it from: kernels, containers and security modules forbid
 * this and that, and only some of them say so.
 *
 * Threads: one; the process has no other.
 */
#pragma once

#include "base/base.h"

/* Try them around an empty pod in `space_dir`, from which `hidden_dir`, which
 * it lies in, is kept; print records (kv.h) to standard output: `layers`, a set
 * of enum run_layer, and `missing`, why it has not all.  The exit code. */
int shim_probe(const char *space_dir, const char *hidden_dir) must_check;
