/*
 * field - texts for the fields of messages, which protobuf-c wants as
 * `char *` though nobody writes to them.
 */
#pragma once

#include <stdint.h>

/* A text that outlives the message. */
static inline char *field(const char *text)
{
    return (char *)(uintptr_t)text;
}
