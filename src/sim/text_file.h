/*
 * text_file - a whole file in memory, unpacked if it is gzipped.
 */
#pragma once

#include "base/strbuf.h"

enum { TEXT_FILE_BYTES_MAX = 1 << 30 };

/* Read a file; the caller strbuf_fini()s it.  -ERR_IO, -ERR_LIMIT. */
int text_file_read(const char *path, struct strbuf *ret_text,
                   struct err *err) must_check;
/* The next line of `*rest`, without its end, taken off; false at the end. */
bool text_file_line(struct str *rest, struct str *ret_line);
