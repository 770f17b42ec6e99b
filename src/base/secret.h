/*
 * secret - reads small files that may hold secrets, which others than the
 * file's owner and group may then neither read nor write.
 *
 * Threads: any.
 */
#pragma once

#include "base/strbuf.h"

/* Append the contents of a file, up to the buffer's bound, and say whether
 * anybody on the machine may read or write it.  Never waits for a FIFO.
 * -ERR_NOT_FOUND, -ERR_LIMIT, -ERR_IO; the text names the file. */
int secret_look(const char *path, struct strbuf *buf, bool *ret_is_public,
                struct err *err) must_check;
/* The same of what holds a secret; -ERR_INVALID: anybody may read or write it.
 */
int secret_read(const char *path, struct strbuf *buf,
                struct err *err) must_check;
/* The same without reading; 0 where there is no such file. */
int secret_check(const char *path, struct err *err) must_check;
/* Say that anybody may; -ERR_INVALID. */
int secret_refuse(const char *path, struct err *err) must_check;
