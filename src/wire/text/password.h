/*
 * password - password hashes of crypt(3): yescrypt, or bcrypt.
 *
 * Slow on purpose: some ten milliseconds each.  Threads: any.
 */
#pragma once

#include "base/arena.h"

enum { PASSWORD_HASH_BYTES_MAX = 384, PASSWORD_BYTES_MAX = 512 };

/* Whether a text is a hash that password_matches() takes: of yescrypt, bcrypt
 * or another method that is not too weak. */
bool password_is_hash(struct str text) must_check;

/* Whether it is the hash of this password. */
bool password_matches(struct str hash, struct str password) must_check;

/* The hash of a password by yescrypt, with a salt from the system.
 * -ERR_INVALID: the password is empty, too long, or has a byte 0. */
int password_hash(struct str password, char ret_hash[PASSWORD_HASH_BYTES_MAX],
                  struct err *err) must_check;
