/*
 * positions - up to which record of the log each target has been told, as the
 * text of a file:
 *
 *     sum 0123456789abcdef    of all that follows; older releases wrote none
 *     4711 pager              a line "SEQ NAME" for each target
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

/* Append the text of the file whose lines are these. */
void positions_seal(struct str lines, struct strbuf *out);
/* Whether a file's text is as it was written: the sum is right; without one,
 * each line is a target's.  An empty one never was. */
bool positions_is_whole(struct str text) must_check;
