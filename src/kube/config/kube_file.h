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
/* The same of what may keep a secret; whether anybody may read or write it. */
int kube_file_look(const char *path, struct strbuf *buf, bool *ret_is_public,
                   struct err *err) must_check;
/* The same of what keeps a secret; -ERR_INVALID: anybody may read or write it.
 */
int kube_file_read_secret(const char *path, struct strbuf *buf,
                          struct err *err) must_check;
/* Say so of a file; -ERR_INVALID. */
int kube_file_refuse(const char *path, struct err *err) must_check;
