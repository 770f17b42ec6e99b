/*
 * base64 - bytes as text (RFC 4648, with padding).
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/strbuf.h"

/* Append the text of `bytes`. */
void wire_base64_encode(struct str bytes, struct strbuf *buf);

/* Append the bytes of `text`, which may leave the padding out and may use
 * either alphabet, but holds nothing else.  -ERR_INVALID. */
int wire_base64_decode(struct str text, struct strbuf *buf) must_check;
