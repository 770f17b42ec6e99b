/*
 * pattern - regular expressions as configurations write them: POSIX extended
 * ones, with "(?i)" in front to ignore case.
 *
 * What is usual elsewhere and would mean something else here (\d, (?:...),
 * \pL) is refused rather than misunderstood.
 *
 * Threads: a compiled pattern may be used by one thread at a time.
 */
#pragma once

#include <regex.h>

#include "base/base.h"
#include "base/str.h"

enum { PATTERN_BYTES_MAX = 1024 };

/* Compile; the caller frees with regfree().  -ERR_INVALID: what is wrong. */
int pattern_compile(struct str text, regex_t *ret_pattern,
                    struct err *err) must_check;

/* Whether `text` has a part that matches.  A byte 0 ends it. */
bool pattern_matches(const regex_t *pattern, struct str text);
