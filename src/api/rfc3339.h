/*
 * rfc3339 - times as texts, in UTC: "2026-11-21T20:57:49.123456789Z".
 */
#pragma once

#include "base/str.h"

enum { RFC3339_TEXT_BYTES_MAX = 40 };

/* Write a time and a NUL; returns `text`. */
char *rfc3339_format(int64_t time_ns, char text[RFC3339_TEXT_BYTES_MAX]);

/* Read a time of any offset, as nanoseconds since the epoch.
 * -ERR_INVALID. */
int rfc3339_parse(struct str text, int64_t *ret_time_ns) must_check;
