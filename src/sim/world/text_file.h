/*
 * text_file - a whole file in memory, unpacked if it is gzipped.
 *
 * Threads: any; the text is the caller's.
 */
#pragma once

#include "base/strbuf.h"

enum { TEXT_FILE_BYTES_MAX = 1 << 30 };

/* Read a file; the caller strbuf_fini()s it.  -ERR_IO, -ERR_LIMIT. */
int text_file_read(const char *path, struct strbuf *ret_text,
                   struct err *err) must_check;
/* The next line of `*rest`, without its end, taken off; false at the end. */
bool text_file_line(struct str *rest, struct str *ret_line);

/* The columns of a line of CSV without quotes, the first `count_max`; their
 * number, or count_max + 1 when there are more. */
uint32_t text_file_columns(struct str line, struct str *ret_columns,
                           uint32_t count_max) must_check;
