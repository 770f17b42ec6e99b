/*
 * base64 - the encoding in which credentials travel (RFC 4648), read only.
 */
#pragma once

#include "base/arena.h"

/* Decode, with or without padding; the bytes live in the arena.
 * -ERR_INVALID: not base64. */
int base64_decode(struct str text, struct arena *arena,
                  struct str *ret_bytes) must_check;
