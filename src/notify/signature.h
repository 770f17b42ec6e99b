/*
 * signature - by which a receiver knows that a note comes from this server,
 * and when: HMAC-SHA256 over id, time and body, as the convention "Standard
 * Webhooks" has it, for which there are libraries in many languages.
 *
 *     v1,BASE64(HMAC-SHA256(key, "ID.SECONDS.BODY"))
 *
 * Pure.
 */
#pragma once

#include "base/strbuf.h"

enum {
    SIGNATURE_KEY_BYTES_MIN = 16,
    SIGNATURE_KEY_BYTES_MAX = 1024,
};

/* Append the signature's text. */
void signature_put(struct str key, struct str id, int64_t seconds,
                   struct str body, struct strbuf *out);

/* The key that the text of a file stands for: "whsec_" and base64, or else the
 * bytes as they are; white space at either end does not count.  -ERR_INVALID
 * if it is not SIGNATURE_KEY_BYTES_MIN to _MAX bytes. */
int signature_key(struct str text, struct strbuf *ret_key,
                  struct err *err) must_check;
