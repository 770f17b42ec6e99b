/*
 * positions - up to which record of the log each target has been told, as the
 * text of a file: a line "SEQ NAME" for each.
 *
 * Pure.
 */
#pragma once

#include "base/strbuf.h"

enum { POSITIONS_BYTES_MAX = 64 << 10 };

/* The position of a target; false: the text does not know it. */
bool positions_find(struct str text, struct str name,
                    uint64_t *ret_seq) must_check;
/* Append a target's. */
void positions_put(struct str name, uint64_t seq, struct strbuf *out);
