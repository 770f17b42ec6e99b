#include "kube/api/envelope.h"

#include "wire/message/field.h"

static const char magic[4] = {'k', '8', 's', '\0'};

/* Numbers of fields, as k8s/runtime.proto and k8s/meta.proto have them. */
enum {
    UNKNOWN_TYPE = 1,
    UNKNOWN_RAW = 2,
    TYPE_API_VERSION = 1,
    TYPE_KIND = 2,
    OBJECT_META = 1, /* of every object and every list */
    META_NAME = 1,
    META_NAMESPACE = 3,
    META_UID = 5,
    META_RESOURCE_VERSION = 6,
    LIST_ITEMS = 2,
    LIST_RESOURCE_VERSION = 2,
    LIST_CONTINUE = 3,
    STATUS_MESSAGE = 3,
    STATUS_REASON = 4,
    STATUS_DETAILS = 5,
    STATUS_CODE = 6,
    DETAILS_RETRY_AFTER = 5,
};

/* A field of bytes that is looked for. */
struct wanted {
    uint32_t number;
    struct str *into;
};

/* Read the fields that are wanted; the last of each counts. */
static int read_fields(struct str message, const struct wanted *wanted,
                       size_t count)
{
    struct field_cursor cursor = field_cursor_make(message);

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        for (size_t i = 0; i < count; i++) {
            if (field.number == wanted[i].number && field.type == FIELD_BYTES) {
                *wanted[i].into = field.bytes;
            }
        }
    }
    return 0;
}

int envelope_field(struct str message, uint32_t number, struct str *ret_bytes)
{
    *ret_bytes = STR("");
    return read_fields(message, &(const struct wanted){number, ret_bytes}, 1);
}

int envelope_read(struct str bytes, struct envelope *ret_envelope)
{
    struct envelope envelope = {.object = {0}};
    struct str type = {0};
    const struct wanted parts[] = {{UNKNOWN_TYPE, &type},
                                   {UNKNOWN_RAW, &envelope.object}};
    const struct wanted names[] = {{TYPE_API_VERSION, &envelope.api_version},
                                   {TYPE_KIND, &envelope.kind}};

    if (bytes.byte_count < sizeof(magic) ||
        memcmp(bytes.p, magic, sizeof(magic)) != 0) {
        return -ERR_CORRUPT;
    }
    int rc = read_fields(
        str_make(bytes.p + sizeof(magic), bytes.byte_count - sizeof(magic)),
        parts, ARRAY_COUNT(parts));
    rc = rc ? rc : read_fields(type, names, ARRAY_COUNT(names));
    *ret_envelope = envelope;
    return rc;
}

void envelope_write(struct str api_version, struct str kind, struct str object,
                    struct strbuf *buf)
{
    strbuf_add(buf, magic, sizeof(magic));
    size_t type = field_begin(buf, UNKNOWN_TYPE);
    field_put_bytes(buf, TYPE_API_VERSION, api_version);
    field_put_bytes(buf, TYPE_KIND, kind);
    field_end(buf, type);
    field_put_bytes(buf, UNKNOWN_RAW, object);
}

int object_head_read(struct str object, struct object_head *ret_head)
{
    struct object_head head = {.name = {0}};
    struct str meta;
    const struct wanted texts[] = {
        {META_NAME, &head.name},
        {META_NAMESPACE, &head.namespace_},
        {META_UID, &head.uid},
        {META_RESOURCE_VERSION, &head.resource_version},
    };

    int rc = envelope_field(object, OBJECT_META, &meta);
    rc = rc ? rc : read_fields(meta, texts, ARRAY_COUNT(texts));
    *ret_head = head;
    return rc;
}

int list_read(struct str list, struct list_head *ret_head,
              void (*each)(void *ctx, struct str object), void *ctx)
{
    struct field_cursor cursor = field_cursor_make(list);
    struct list_head head = {.continue_ = {0}};
    struct str meta = {0};
    const struct wanted texts[] = {
        {LIST_RESOURCE_VERSION, &head.resource_version},
        {LIST_CONTINUE, &head.continue_},
    };

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number == OBJECT_META && field.type == FIELD_BYTES) {
            meta = field.bytes;
        } else if (field.number == LIST_ITEMS && field.type == FIELD_BYTES) {
            each(ctx, field.bytes);
        }
    }
    int rc = read_fields(meta, texts, ARRAY_COUNT(texts));
    *ret_head = head;
    return rc;
}

/* The integer in a field, the last one; 0: none. */
static uint64_t number_at(struct str message, uint32_t number)
{
    struct field_cursor cursor = field_cursor_make(message);
    uint64_t value = 0;
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == number && field.type == FIELD_VARINT) {
            value = field.value;
        }
    }
    return value;
}

int status_read(struct str status, struct status_head *ret_head)
{
    struct status_head head = {.code = 0};
    struct str details = {0};
    const struct wanted texts[] = {{STATUS_MESSAGE, &head.message},
                                   {STATUS_REASON, &head.reason},
                                   {STATUS_DETAILS, &details}};

    int rc = read_fields(status, texts, ARRAY_COUNT(texts));
    head.code = (int32_t)number_at(status, STATUS_CODE);
    head.retry_after_s =
        (int64_t)(uint32_t)number_at(details, DETAILS_RETRY_AFTER);
    *ret_head = head;
    return rc;
}
