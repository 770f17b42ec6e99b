#include "wire/message/message.h"

#include "wire/message/field.h"
#include "wire/text/utf8.h"

enum {
    MESSAGE_FIELDS_MAX = 256,
    /* What protobuf-c takes for each field while it scans, and for a slot in
     * the arrays it makes, from above. */
    FIELD_MEMORY_BYTES = 96,
};

const struct wire_limits wire_request_limits = {
    .byte_count_max = WIRE_REQUEST_BYTES_MAX,
    .field_count_max = WIRE_REQUEST_FIELDS_MAX,
    .memory_bytes_max = WIRE_REQUEST_MEMORY_BYTES_MAX,
    .depth_max = WIRE_DEPTH_MAX,
};

struct check {
    const struct wire_limits *limits;
    struct err *err;
    bool may_mend; /* the bytes are a copy of ours */
    size_t field_count;
    size_t memory_bytes;
};

/* Which fields of one message have been seen, by index. */
struct seen {
    uint64_t words[MESSAGE_FIELDS_MAX / 64];
    unsigned last; /* the index of the latest */
};

static int check_message(struct check *check,
                         const ProtobufCMessageDescriptor *type,
                         struct str bytes, uint32_t depth);

static int refuse(struct check *check, int code,
                  const ProtobufCMessageDescriptor *type,
                  const ProtobufCFieldDescriptor *field, const char *what)
{
    return err_set(check->err, code, "%s%s%s: %s", type->name, field ? "." : "",
                   field ? field->name : "", what);
}

static int spend(struct check *check, const ProtobufCMessageDescriptor *type,
                 size_t field_count, size_t memory_bytes)
{
    check->field_count += field_count;
    check->memory_bytes += memory_bytes + field_count * FIELD_MEMORY_BYTES;
    if (check->field_count > check->limits->field_count_max) {
        return refuse(check, -ERR_LIMIT, type, NULL, "too many fields");
    }
    if (check->memory_bytes > check->limits->memory_bytes_max) {
        return refuse(check, -ERR_LIMIT, type, NULL, "too large unpacked");
    }
    return 0;
}

static void mend(struct str text)
{
    /* The cast is fair: `may_mend` says that the bytes are our copy. */
    char *p = (char *)(uintptr_t)text.p;
    size_t at = 0;

    while ((at += utf8_text_bytes(str_make(p + at, text.byte_count - at))) <
           text.byte_count) {
        p[at] = '?';
    }
}

static int check_text(struct check *check,
                      const ProtobufCMessageDescriptor *type,
                      const ProtobufCFieldDescriptor *field, struct str text)
{
    size_t good = utf8_text_bytes(text);

    if (good == text.byte_count) {
        return 0;
    }
    if (check->limits->mends_text) {
        if (check->may_mend) {
            mend(text);
        }
        return 0;
    }
    return refuse(check, -ERR_CORRUPT, type, field,
                  text.p[good] ? "not valid UTF-8" : "has a NUL");
}

/* The encoding of one item of this type. */
static enum field_type type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return FIELD_FIXED32;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return FIELD_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return FIELD_BYTES;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return FIELD_VARINT;
    }
    ASSERT(!"protobuf has no other type");
    return FIELD_VARINT;
}

/* Many numbers in one field. */
static int check_packed(struct check *check,
                        const ProtobufCMessageDescriptor *type,
                        const ProtobufCFieldDescriptor *field,
                        struct str packed)
{
    struct field_cursor cursor = field_cursor_make(packed);
    enum field_type item = type_of(field->type);
    size_t count = 0;

    if (item != FIELD_VARINT) {
        size_t width = item == FIELD_FIXED32 ? 4 : 8;
        if (packed.byte_count % width) {
            return refuse(check, -ERR_CORRUPT, type, field, "is cut short");
        }
        return spend(check, type, packed.byte_count / width, 0);
    }
    while (!field_cursor_is_done(&cursor)) {
        uint64_t value;
        if (!field_read_varint(&cursor, &value)) {
            return refuse(check, -ERR_CORRUPT, type, field, "is cut short");
        }
        count++;
    }
    return spend(check, type, count, 0);
}

static int check_known(struct check *check,
                       const ProtobufCMessageDescriptor *type,
                       const ProtobufCFieldDescriptor *known,
                       const struct field *field, uint32_t depth)
{
    enum field_type wanted = type_of(known->type);

    if (field->type == FIELD_BYTES && wanted != FIELD_BYTES &&
        known->label == PROTOBUF_C_LABEL_REPEATED) {
        return check_packed(check, type, known, field->bytes);
    }
    if (field->type != wanted) {
        return refuse(check, -ERR_CORRUPT, type, known, "wrong wire type");
    }
    if (known->type == PROTOBUF_C_TYPE_MESSAGE) {
        return check_message(check, known->descriptor, field->bytes, depth + 1);
    }
    if (known->type == PROTOBUF_C_TYPE_STRING) {
        return check_text(check, type, known, field->bytes);
    }
    return 0;
}

/* The field with this number, or NULL.  Encoders write fields in the order of
 * their numbers, so a look at the latest and at the next spares a search. */
static const ProtobufCFieldDescriptor *
find_field(const ProtobufCMessageDescriptor *type, const struct seen *seen,
           uint32_t number)
{
    for (unsigned i = seen->last; i < type->n_fields && i <= seen->last + 1;
         i++) {
        if (type->fields[i].id == number) {
            return &type->fields[i];
        }
    }
    return protobuf_c_message_descriptor_get_field(type, number);
}

/* Remember the field; false when it may come once and has come before. */
static bool is_first(struct seen *seen, const ProtobufCMessageDescriptor *type,
                     const ProtobufCFieldDescriptor *known)
{
    size_t index = (size_t)(known - type->fields);
    uint64_t bit = UINT64_C(1) << (index % 64);
    bool is_repeat = seen->words[index / 64] & bit;

    seen->words[index / 64] |= bit;
    seen->last = (unsigned)index;
    return !is_repeat || known->type != PROTOBUF_C_TYPE_MESSAGE ||
           known->label == PROTOBUF_C_LABEL_REPEATED;
}

static int check_field(struct check *check,
                       const ProtobufCMessageDescriptor *type,
                       struct seen *seen, const struct field *field,
                       uint32_t depth)
{
    const ProtobufCFieldDescriptor *known =
        find_field(type, seen, field->number);
    size_t byte_count =
        field->type == FIELD_BYTES ? field->bytes.byte_count : 0;

    bool is_message = known && known->type == PROTOBUF_C_TYPE_MESSAGE;
    int rc = spend(check, type, 1, is_message ? 0 : byte_count + 16);
    if (rc < 0 || !known) {
        return rc;
    }
    if (!is_first(seen, type, known)) {
        return refuse(check, -ERR_CORRUPT, type, known, "is given twice");
    }
    return check_known(check, type, known, field, depth);
}

static int check_message(struct check *check,
                         const ProtobufCMessageDescriptor *type,
                         struct str bytes, uint32_t depth)
{
    struct field_cursor cursor = field_cursor_make(bytes);
    struct seen seen = {0};

    ASSERT(type->n_fields <= MESSAGE_FIELDS_MAX);
    if (depth > check->limits->depth_max) {
        return refuse(check, -ERR_LIMIT, type, NULL, "nested too deep");
    }
    int rc = spend(check, type, 0, type->sizeof_message + 16);
    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;

        rc = field_read(&cursor, &field)
                 ? check_field(check, type, &seen, &field, depth)
                 : refuse(check, -ERR_CORRUPT, type, NULL, "is malformed");
    }
    return rc;
}

static int check_start(struct check *check,
                       const ProtobufCMessageDescriptor *type, struct str bytes)
{
    if (bytes.byte_count > check->limits->byte_count_max) {
        return err_set(check->err, -ERR_LIMIT,
                       "%s: %zu bytes, more than the %zu allowed", type->name,
                       bytes.byte_count, check->limits->byte_count_max);
    }
    return check_message(check, type, bytes, 1);
}

int wire_check(const ProtobufCMessageDescriptor *type, struct str bytes,
               const struct wire_limits *limits, struct err *err)
{
    struct check check = {.limits = limits, .err = err};

    return check_start(&check, type, bytes);
}

int wire_decode(const ProtobufCMessageDescriptor *type, struct str bytes,
                const struct wire_limits *limits, struct arena *arena,
                ProtobufCMessage **ret_message, struct err *err)
{
    struct check check = {
        .limits = limits, .err = err, .may_mend = limits->mends_text};
    ProtobufCAllocator allocator = wire_allocator(arena);

    if (limits->mends_text && bytes.byte_count <= limits->byte_count_max) {
        bytes = arena_str(arena, bytes);
    }
    int rc = check_start(&check, type, bytes);
    if (rc < 0) {
        return rc;
    }
    ProtobufCMessage *message = protobuf_c_message_unpack(
        type, &allocator, bytes.byte_count, (const uint8_t *)bytes.p);
    if (!message) {
        return err_set(err, -ERR_CORRUPT, "%s: does not decode", type->name);
    }
    *ret_message = message;
    return 0;
}

void *wire_new(const ProtobufCMessageDescriptor *type, struct arena *arena)
{
    void *message = arena_alloc(arena, type->sizeof_message);

    protobuf_c_message_init(type, message);
    return message;
}

void wire_encode(const ProtobufCMessage *message, struct strbuf *buf)
{
    size_t byte_count = protobuf_c_message_get_packed_size(message);
    uint8_t *to = byte_count ? strbuf_reserve(buf, byte_count) : NULL;

    if (to) {
        size_t written = protobuf_c_message_pack(message, to);
        ASSERT(written == byte_count);
    }
}

struct str wire_encode_arena(const ProtobufCMessage *message,
                             struct arena *arena)
{
    size_t byte_count = protobuf_c_message_get_packed_size(message);
    uint8_t *to = arena_alloc(arena, byte_count);
    size_t written = protobuf_c_message_pack(message, to);

    ASSERT(written == byte_count);
    return str_make(to, byte_count);
}

static void *allocator_alloc(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void allocator_free(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

ProtobufCAllocator wire_allocator(struct arena *arena)
{
    return (ProtobufCAllocator){allocator_alloc, allocator_free, arena};
}
