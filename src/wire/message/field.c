#include "wire/message/field.h"

enum { VARINT_BYTES_MAX = 10, LENGTH_BYTES_MAX = 5 };

static bool read_long_varint(struct field_cursor *cursor, uint64_t *ret_value)
{
    const uint8_t *p = cursor->p;
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_BYTES_MAX && p < cursor->end; i++) {
        uint8_t byte = *p++;

        if (i == VARINT_BYTES_MAX - 1 && byte > 1) {
            return false; /* would not fit in 64 bits */
        }
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            cursor->p = p;
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static inline bool read_varint(struct field_cursor *cursor, uint64_t *ret_value)
{
    const uint8_t *p = cursor->p;

    if (p < cursor->end && *p < 0x80) { /* most are this short */
        *ret_value = *p;
        cursor->p = p + 1;
        return true;
    }
    return read_long_varint(cursor, ret_value);
}

bool field_read_varint(struct field_cursor *cursor, uint64_t *ret_value)
{
    return read_varint(cursor, ret_value);
}

static bool read_fixed(struct field_cursor *cursor, unsigned byte_count,
                       uint64_t *ret_value)
{
    uint64_t value = 0;

    if ((size_t)(cursor->end - cursor->p) < byte_count) {
        return false;
    }
    for (unsigned i = 0; i < byte_count; i++) {
        value |= (uint64_t)cursor->p[i] << (8 * i);
    }
    cursor->p += byte_count;
    *ret_value = value;
    return true;
}

static bool read_bytes(struct field_cursor *cursor, struct str *ret_bytes)
{
    uint64_t length;

    if (!read_varint(cursor, &length) ||
        length > (size_t)(cursor->end - cursor->p)) {
        return false;
    }
    *ret_bytes = str_make(cursor->p, (size_t)length);
    cursor->p += length;
    return true;
}

bool field_read(struct field_cursor *cursor, struct field *ret_field)
{
    uint64_t tag;

    ASSERT(cursor->p < cursor->end);
    if (!read_varint(cursor, &tag) || tag > UINT32_MAX || tag < 8) {
        return false;
    }
    *ret_field = (struct field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case FIELD_VARINT:
        ret_field->type = FIELD_VARINT;
        return read_varint(cursor, &ret_field->value);
    case FIELD_FIXED64:
        ret_field->type = FIELD_FIXED64;
        return read_fixed(cursor, 8, &ret_field->value);
    case FIELD_BYTES:
        ret_field->type = FIELD_BYTES;
        return read_bytes(cursor, &ret_field->bytes);
    case FIELD_FIXED32:
        ret_field->type = FIELD_FIXED32;
        return read_fixed(cursor, 4, &ret_field->value);
    default: /* groups, and two numbers that mean nothing */
        return false;
    }
}

static unsigned varint_write(uint8_t *to, uint64_t value)
{
    unsigned count = 0;

    while (value >= 0x80) {
        to[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[count++] = (uint8_t)value;
    return count;
}

void field_put_u64(struct strbuf *buf, uint32_t number, uint64_t value)
{
    uint8_t bytes[2 * VARINT_BYTES_MAX];
    unsigned count = varint_write(bytes, (uint64_t)number << 3 | FIELD_VARINT);

    ASSERT(number >= 1 && number <= FIELD_NUMBER_MAX);
    count += varint_write(bytes + count, value);
    strbuf_add(buf, bytes, count);
}

void field_put_bytes(struct strbuf *buf, uint32_t number, struct str bytes)
{
    uint64_t tag = (uint64_t)number << 3 | FIELD_BYTES;
    size_t head =
        field_varint_bytes(tag) + field_varint_bytes(bytes.byte_count);

    ASSERT(number >= 1 && number <= FIELD_NUMBER_MAX);
    uint8_t *to = strbuf_reserve(buf, head + bytes.byte_count);
    if (!to) {
        return;
    }
    to += varint_write(to, tag);
    to += varint_write(to, bytes.byte_count);
    if (bytes.byte_count) {
        memcpy(to, bytes.p, bytes.byte_count);
    }
}

size_t field_begin_wide(struct strbuf *buf, uint32_t number,
                        unsigned length_bytes)
{
    uint64_t tag = (uint64_t)number << 3 | FIELD_BYTES;

    ASSERT(number >= 1 && number <= FIELD_NUMBER_MAX);
    ASSERT(length_bytes >= 1 && length_bytes <= LENGTH_BYTES_MAX);
    uint8_t *to = strbuf_reserve(buf, field_varint_bytes(tag) + length_bytes);
    if (to) {
        varint_write(to, tag);
    }
    return buf->byte_count;
}

/* Move what stands from `begin` on so that its length has `count` bytes. */
static bool make_length_room(struct strbuf *buf, size_t begin,
                             unsigned length_bytes, unsigned count)
{
    size_t length = buf->byte_count - begin;

    if (count > length_bytes && !strbuf_reserve(buf, count - length_bytes)) {
        return false;
    }
    char *at = buf->bytes + begin;
    memmove(at - length_bytes + count, at, length);
    buf->byte_count = begin - length_bytes + count + length;
    buf->bytes[buf->byte_count] = '\0';
    return true;
}

void field_end_wide(struct strbuf *buf, size_t begin, unsigned length_bytes)
{
    if (buf->is_over) {
        return; /* what was dropped makes the rest meaningless anyway */
    }
    ASSERT(begin >= length_bytes && begin <= buf->byte_count);
    size_t length = buf->byte_count - begin;
    ASSERT(length <= UINT32_MAX);
    unsigned count = (unsigned)field_varint_bytes(length);
    if (count == length_bytes ||
        make_length_room(buf, begin, length_bytes, count)) {
        varint_write((uint8_t *)buf->bytes + begin - length_bytes, length);
    }
}
