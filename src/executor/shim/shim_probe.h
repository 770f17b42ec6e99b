/*
 * shim_probe - which layers around a pod this machine allows.
 *
 * It tries them, with the code and the user of real pods, because kernels,
 * containers and security modules forbid some of them, and only some say so.
 *
 * Threads: one; the process has no other.
 */
#pragma once

#include "base/base.h"

/* Try them around an empty pod in `space_dir`, from which `hidden_dir`, which
 * it lies in, is kept; print records (kv.h) to standard output: `layers`, a set
 * of enum run_layer, and `missing`, why it has not all; without
 * `has_namespaces` no namespace is tried.  The exit code. */
int shim_probe(const char *space_dir, const char *hidden_dir,
               bool has_namespaces) must_check;
