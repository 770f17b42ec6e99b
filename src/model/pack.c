#include "model/pack.h"

enum { NUMBER_BYTES_MAX = 10 };

void pack_u64(struct strbuf *buf, uint64_t v)
{
    char bytes[NUMBER_BYTES_MAX];
    size_t count = 0;

    while (v >= 0x80) {
        bytes[count++] = (char)(v | 0x80);
        v >>= 7;
    }
    bytes[count++] = (char)v;
    strbuf_add(buf, bytes, count); /* at once: a checkpoint has millions */
}

void pack_i64(struct strbuf *buf, int64_t v)
{
    pack_u64(buf, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void pack_key128(struct strbuf *buf, struct key128 key)
{
    pack_u64(buf, key.hi);
    pack_u64(buf, key.lo);
}

void pack_u128(struct strbuf *buf, u128 v)
{
    pack_key128(buf, (struct key128){(uint64_t)(v >> 64), (uint64_t)v});
}

void pack_str(struct strbuf *buf, struct str s)
{
    pack_u64(buf, s.byte_count);
    strbuf_add_str(buf, s);
}

uint64_t unpack_u64(struct pack_reader *reader)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64 && reader->rest.byte_count > 0;
         shift += 7) {
        uint64_t byte = (unsigned char)*reader->rest.p++;
        reader->rest.byte_count--;
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            return v;
        }
    }
    reader->is_bad = true;
    reader->rest = (struct str){0};
    return 0;
}

uint32_t unpack_count(struct pack_reader *reader, uint32_t max)
{
    uint64_t v = unpack_u64(reader);

    if (v > max) {
        reader->is_bad = true;
        reader->rest = (struct str){0};
        return 0;
    }
    return (uint32_t)v;
}

int64_t unpack_i64(struct pack_reader *reader)
{
    uint64_t v = unpack_u64(reader);

    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

struct key128 unpack_key128(struct pack_reader *reader)
{
    struct key128 key = {.hi = unpack_u64(reader)};

    key.lo = unpack_u64(reader);
    return key;
}

u128 unpack_u128(struct pack_reader *reader)
{
    struct key128 key = unpack_key128(reader);

    return (u128)key.hi << 64 | key.lo;
}

struct str unpack_str(struct pack_reader *reader)
{
    uint64_t byte_count = unpack_u64(reader);
    struct str s = {reader->rest.p, (size_t)byte_count};

    if (byte_count > reader->rest.byte_count) {
        reader->is_bad = true;
        reader->rest = (struct str){0};
        return (struct str){0};
    }
    reader->rest.p += byte_count;
    reader->rest.byte_count -= (size_t)byte_count;
    return s;
}
