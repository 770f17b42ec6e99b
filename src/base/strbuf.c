#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>

void strbuf_fini(struct strbuf *buf)
{
    mem_free(buf->bytes);
    *buf = (struct strbuf){.byte_count_max = buf->byte_count_max};
}

void strbuf_clear(struct strbuf *buf)
{
    buf->byte_count = 0;
    buf->is_over = false;
    if (buf->bytes) {
        buf->bytes[0] = '\0';
    }
}

static bool ensure_room(struct strbuf *buf, size_t more)
{
    size_t max = buf->byte_count_max ? buf->byte_count_max : STRBUF_DEFAULT_MAX;

    if (more > max - buf->byte_count) {
        buf->is_over = true;
        return false;
    }
    size_t need = buf->byte_count + more + 1;
    if (need > buf->capacity) {
        size_t capacity = buf->capacity ? buf->capacity * 2 : 64;
        while (capacity < need) {
            capacity *= 2;
        }
        buf->bytes = mem_grow_array(buf->bytes, capacity, 1);
        buf->capacity = capacity;
    }
    return true;
}

void *strbuf_reserve(struct strbuf *buf, size_t byte_count)
{
    if (!ensure_room(buf, byte_count)) {
        return NULL;
    }
    void *place = buf->bytes + buf->byte_count;
    buf->byte_count += byte_count;
    buf->bytes[buf->byte_count] = '\0';
    return place;
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t byte_count)
{
    void *place = strbuf_reserve(buf, byte_count);

    if (place && byte_count) {
        memcpy(place, bytes, byte_count);
    }
}

void strbuf_add_str(struct strbuf *buf, struct str s)
{
    strbuf_add(buf, s.p, s.byte_count);
}

void strbuf_add_text(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buf, char c)
{
    strbuf_add(buf, &c, 1);
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int byte_count = vsnprintf(NULL, 0, format, args);
    va_end(args);
    ASSERT(byte_count >= 0);

    char *place = strbuf_reserve(buf, (size_t)byte_count);
    if (place) {
        va_start(args, format);
        vsnprintf(place, (size_t)byte_count + 1, format, args);
        va_end(args);
    }
}

char *strbuf_steal(struct strbuf *buf)
{
    char *bytes = buf->bytes ? buf->bytes : mem_alloc(1);

    *buf = (struct strbuf){.byte_count_max = buf->byte_count_max};
    return bytes;
}
