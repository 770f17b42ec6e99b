#include "executor/files/kv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const char promise_key[] = "sealed", sum_key[] = "sum";

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

void kv_promise_seal(struct strbuf *buf)
{
    kv_add_int(buf, promise_key, 1);
}

static void print_sum(struct str bytes, char ret_text[17])
{
    (void)snprintf(ret_text, 17, "%016" PRIx64,
                   hash_bytes(bytes.p, bytes.byte_count, 0));
}

void kv_seal(struct strbuf *buf)
{
    char text[17];

    print_sum(strbuf_str(buf), text);
    kv_add_text(buf, sum_key, text);
}

int kv_check(struct str bytes)
{
    struct kv_reader reader = {.rest = bytes};
    bool is_promised = false, is_sealed = false;
    int rc;

    for (struct str rest = bytes; (rc = kv_next(&reader)) == 1;
         rest = reader.rest) {
        is_promised |= kv_is(&reader, promise_key);
        if (kv_is(&reader, sum_key)) {
            char text[17];
            print_sum(str_make(bytes.p, (size_t)(rest.p - bytes.p)), text);
            is_sealed = strcmp(reader.value, text) == 0;
            if (!is_sealed || reader.rest.byte_count > 0) {
                return -ERR_CORRUPT;
            }
        }
    }
    return rc < 0 || (is_promised && !is_sealed) ? -ERR_CORRUPT : 0;
}
