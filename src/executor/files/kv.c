#include "executor/files/kv.h"

#include <inttypes.h>
#include <stdlib.h>

void kv_add(struct strbuf *buf, const char *key, struct str value)
{
    strbuf_add_text(buf, key);
    strbuf_add_char(buf, '=');
    for (size_t i = 0; i < value.byte_count; i++) {
        strbuf_add_char(buf, value.p[i] ? value.p[i] : '?');
    }
    strbuf_add_char(buf, '\0');
}

void kv_add_text(struct strbuf *buf, const char *key, const char *value)
{
    kv_add(buf, key, str_of(value));
}

void kv_add_int(struct strbuf *buf, const char *key, int64_t value)
{
    strbuf_addf(buf, "%s=%" PRId64, key, value);
    strbuf_add_char(buf, '\0');
}

int kv_next(struct kv_reader *reader)
{
    if (reader->rest.byte_count == 0) {
        return 0;
    }
    const char *start = reader->rest.p;
    const char *end = memchr(start, '\0', reader->rest.byte_count);
    if (!end) {
        return -ERR_CORRUPT;
    }
    const char *equals = memchr(start, '=', (size_t)(end - start));
    if (!equals) {
        return -ERR_CORRUPT;
    }
    size_t taken = (size_t)(end - start) + 1;
    reader->key = str_make(start, (size_t)(equals - start));
    reader->value = equals + 1;
    reader->rest = str_make(end + 1, reader->rest.byte_count - taken);
    return 1;
}

bool kv_is(const struct kv_reader *reader, const char *key)
{
    return str_equal(reader->key, str_of(key));
}

int64_t kv_int(const struct kv_reader *reader)
{
    return strtoll(reader->value, NULL, 10);
}
