/*
 * log_cut - what of a log is wanted: lines "time text", the time with nine
 * digits after the second, in UTC.
 *
 * Pure.
 */
#pragma once

#include "base/str.h"
#include "wire/text/rfc3339.h"

/* A moment as the lines have it; false: the text is none. */
bool log_cut_time(struct str text, char ret_time[WIRE_RFC3339_TEXT_BYTES_MAX]);
/* What follows the last line whose time is not after `since`. */
struct str log_cut_since(struct str log, const char *since);
/* Whole lines of the first `byte_count_max` bytes. */
struct str log_cut_bytes(struct str log, int64_t byte_count_max);
