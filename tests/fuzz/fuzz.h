/*
 * fuzz - what each fuzz target includes: libFuzzer's entry point.
 *
 * A target asserts with ASSERT, which is on in every build.
 */
#pragma once

#include "base/str.h"

/* Try one input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count);
