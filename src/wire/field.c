#include "wire/field.h"

enum { VARINT_BYTES_MAX = 10, LENGTH_BYTES_MAX = 5 };

bool field_read_varint(struct field_cursor *cursor, uint64_t *ret_value)
{
    const uint8_t *p = cursor->p;
    uint64_t value = 0;

    if (p < cursor->end && *p < 0x80) { /* most are this short */
        *ret_value = *p;
        cursor->p = p + 1;
        return true;
    }
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

    if (!field_read_varint(cursor, &length) ||
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
    if (!field_read_varint(cursor, &tag) || tag > UINT32_MAX || tag < 8) {
        return false;
    }
    *ret_field = (struct field){.number = (uint32_t)(tag >> 3)};
    switch (tag & 7) {
    case FIELD_VARINT:
        ret_field->type = FIELD_VARINT;
        return field_read_varint(cursor, &ret_field->value);
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
    uint8_t head[2 * VARINT_BYTES_MAX];
    unsigned count = varint_write(head, (uint64_t)number << 3 | FIELD_BYTES);

    ASSERT(number >= 1 && number <= FIELD_NUMBER_MAX);
    count += varint_write(head + count, bytes.byte_count);
    uint8_t *to = strbuf_reserve(buf, count + bytes.byte_count);
    if (!to) {
        return;
    }
    memcpy(to, head, count);
    if (bytes.byte_count) {
        memcpy(to + count, bytes.p, bytes.byte_count);
    }
}

size_t field_begin(struct strbuf *buf, uint32_t number)
{
    uint8_t head[VARINT_BYTES_MAX + LENGTH_BYTES_MAX] = {0};
    unsigned count = varint_write(head, (uint64_t)number << 3 | FIELD_BYTES);

    ASSERT(number >= 1 && number <= FIELD_NUMBER_MAX);
    strbuf_add(buf, head, count + LENGTH_BYTES_MAX);
    return buf->byte_count;
}

void field_end(struct strbuf *buf, size_t begin)
{
    if (buf->is_over) {
        return; /* what was dropped makes the rest meaningless anyway */
    }
    ASSERT(begin >= LENGTH_BYTES_MAX && begin <= buf->byte_count);
    size_t length = buf->byte_count - begin;
    ASSERT(length <= UINT32_MAX);
    char *at = buf->bytes + begin - LENGTH_BYTES_MAX;
    unsigned count = varint_write((uint8_t *)at, length);
    memmove(at + count, buf->bytes + begin, length);
    buf->byte_count -= LENGTH_BYTES_MAX - count;
    buf->bytes[buf->byte_count] = '\0';
}
