/*
 * kube_file - reads the small files that a cluster gives us.
 *
 * Threads: any.
 */
#pragma once

#include "base/strbuf.h"

/* Append the contents of a file, up to the buffer's bound.  -ERR_NOT_FOUND,
 * -ERR_LIMIT, -ERR_IO; the text names the file. */
int kube_file_read(const char *path, struct strbuf *buf,
                   struct err *err) must_check;
