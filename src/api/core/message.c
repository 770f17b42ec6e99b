#include "api/core/message.h"

#include <stdio.h>

void *message_new(struct arena *arena, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = arena_alloc(arena, type->sizeof_message);

    protobuf_c_message_init(type, message);
    return message;
}

char *message_copy(struct arena *arena, struct str s)
{
    return arena_strdup(arena, s);
}

char *message_vformat(struct arena *arena, const char *format, va_list args)
{
    va_list again;

    ASSERT(format);
    va_copy(again, args);
    int byte_count = vsnprintf(NULL, 0, format, again);
    va_end(again);
    ASSERT(byte_count >= 0);
    char *text = arena_alloc(arena, (size_t)byte_count + 1);
    vsnprintf(text, (size_t)byte_count + 1, format, args);
    return text;
}

char *message_format(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = message_vformat(arena, format, args);
    va_end(args);
    return text;
}

Google__Protobuf__Timestamp *message_time(struct arena *arena, int64_t time_ms)
{
    Google__Protobuf__Timestamp *time =
        message_new(arena, &google__protobuf__timestamp__descriptor);
    int64_t rest_ms = time_ms % 1000;

    if (rest_ms < 0) {
        rest_ms += 1000;
    }
    time->seconds = (time_ms - rest_ms) / 1000;
    time->nanos = (int32_t)(rest_ms * 1000000);
    return time;
}

int64_t message_time_ms(const Google__Protobuf__Timestamp *time)
{
    int64_t ms;

    if (!time || __builtin_mul_overflow(time->seconds, 1000, &ms) ||
        __builtin_add_overflow(ms, time->nanos / 1000000, &ms)) {
        return 0;
    }
    return ms;
}
