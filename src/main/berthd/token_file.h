/*
 * token_file - a secret in the data directory that only the server's own user
 * can read, that identifies berthctl (cli/shared/token.h) as an administrator
 * where the kernel does not know the caller.
 *
 *     127.0.0.1:50051 9f3c...       the server's address, its token
 */
#pragma once

#include "base/base.h"

/* Put a new file with mode 0600 in the place of `path`.  -ERR_IO. */
int token_file_write(const char *path, const char *address, const char *token,
                     struct err *err) must_check;

/* Remove it, if it is there.  -ERR_IO. */
int token_file_remove(const char *path, struct err *err) must_check;
