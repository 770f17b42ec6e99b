/*
 * message - protobuf-c messages made in an arena.
 *
 * Threads: the arena's owner.
 */
#pragma once

#include <stdarg.h>

#include "armada/submit.pb-c.h"
#include "base/arena.h"

/* An empty message of `type`; its size is that of the type's struct. */
void *message_new(struct arena *arena,
                  const ProtobufCMessageDescriptor *type) must_check;

/* Messages hold what they will not change as char *; `s` must end in a NUL
 * and outlive the message. */
static inline char *message_text(struct str s)
{
    return s.p ? (char *)(uintptr_t)s.p : (char *)(uintptr_t) "";
}

/* A NUL-terminated copy for a message. */
char *message_copy(struct arena *arena, struct str s) must_check;

/* Text made up in the arena. */
char *message_format(struct arena *arena, const char *format, ...)
    printf_like(2, 3);

/* The same with the arguments of another such function. */
char *message_vformat(struct arena *arena, const char *format, va_list args)
    printf_like(2, 0);

/* A time. */
Google__Protobuf__Timestamp *message_time(struct arena *arena,
                                          int64_t time_ms) must_check;

/* Milliseconds of a time; 0 for NULL and for times beyond an int64. */
int64_t message_time_ms(const Google__Protobuf__Timestamp *time);
