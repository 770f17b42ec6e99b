/*
 * refusal - why a request is refused, in the texts that Armada's operators
 * search for (armada-api.md 1-3).
 *
 * Longer than a `struct err`, because the words quote what users wrote.
 *
 * Threads: that of the call whose request it is.
 */
#pragma once

#include "base/str.h"

enum {
    REFUSAL_TEXT_BYTES_MAX = 2048,
    OBJECT_BYTES_MAX = 256 << 10, /* of a pool or a retry policy, encoded */
};

struct refusal {
    char text[REFUSAL_TEXT_BYTES_MAX];
    /* Which of the request's items was refused, from 1; 0: not one of them.
     * refusal_set() leaves it as it is. */
    uint32_t item_number;
};

/* Format into `refusal` (longer texts are cut, never inside a character) and
 * return -ERR_INVALID. */
int refusal_set(struct refusal *refusal, const char *format, ...)
    printf_like(2, 3);
