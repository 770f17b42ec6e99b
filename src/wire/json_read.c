#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "google/protobuf/timestamp.pb-c.h"
#include "google/protobuf/wrappers.pb-c.h"
#include "k8s/intstr.pb-c.h"
#include "k8s/meta.pb-c.h"
#include "k8s/resource.pb-c.h"
#include "k8s/runtime.pb-c.h"
#include "model/quantity.h"
#include "wire/base64.h"
#include "wire/json.h"
#include "wire/json_rules.h"
#include "wire/message.h"
#include "wire/rfc3339.h"

/* Where the walk stands, from the innermost step outwards. */
struct path {
    const struct path *up;
    const char *key; /* NULL: an index */
    size_t index;
};

struct reader {
    struct arena *arena;
    unsigned flags;
    struct err *err;
};

static int read_message(struct reader *reader, const struct path *path,
                        const json_t *json, ProtobufCMessage *message);
static int read_special(struct reader *reader, const struct path *path,
                        const json_t *json, enum json_special special,
                        ProtobufCMessage *message);

static void path_write(const struct path *path, struct strbuf *buf)
{
    if (!path) {
        return;
    }
    path_write(path->up, buf);
    if (!path->key) {
        strbuf_addf(buf, "[%zu]", path->index);
    } else {
        strbuf_addf(buf, "%s%.200s", path->up ? "." : "", path->key);
    }
}

static int refuse(struct reader *reader, const struct path *path,
                  const char *what)
{
    auto_strbuf buf = strbuf_make(64 << 10);

    path_write(path, &buf);
    return err_set(reader->err, -ERR_INVALID, "%s%s%s", strbuf_text(&buf),
                   path ? ": " : "", what);
}

static bool is_empty(const json_t *json)
{
    return !json || json_is_null(json);
}

/* -- Scalars ------------------------------------------------------------ */

/* A whole number, given as one, as a real without a fraction, or as text. */
static bool whole_number(const json_t *json, int64_t *ret_value)
{
    if (json_is_integer(json)) {
        *ret_value = json_integer_value(json);
        return true;
    }
    if (json_is_real(json)) {
        double value = json_real_value(json);
        if (value != floor(value) || !(fabs(value) < 9.2e18)) {
            return false;
        }
        *ret_value = (int64_t)value;
        return true;
    }
    if (!json_is_string(json) || json_string_length(json) == 0) {
        return false;
    }
    char *end;
    errno = 0;
    *ret_value = strtoll(json_string_value(json), &end, 10);
    return errno == 0 && *end == '\0';
}

static int read_whole(struct reader *reader, const struct path *path,
                      const json_t *json, int64_t min, int64_t max,
                      int64_t *ret_value)
{
    if (!whole_number(json, ret_value)) {
        return refuse(reader, path, "must be a whole number");
    }
    if (*ret_value < min || *ret_value > max) {
        return refuse(reader, path, "is out of range");
    }
    return 0;
}

static int read_u64(struct reader *reader, const struct path *path,
                    const json_t *json, uint64_t *ret_value)
{
    int64_t value;
    char *end;

    if (json_is_string(json) && json_string_value(json)[0] != '-') {
        errno = 0;
        *ret_value = strtoull(json_string_value(json), &end, 10);
        return errno == 0 && *end == '\0' && json_string_length(json)
                   ? 0
                   : refuse(reader, path, "must be a whole number");
    }
    int rc = read_whole(reader, path, json, 0, INT64_MAX, &value);
    if (rc == 0) {
        *ret_value = (uint64_t)value;
    }
    return rc;
}

static int read_double(struct reader *reader, const struct path *path,
                       const json_t *json, double *ret_value)
{
    if (json_is_number(json)) {
        *ret_value = json_number_value(json);
        return 0;
    }
    return refuse(reader, path, "must be a number");
}

static char lower_of(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same_word(const char *a, const char *b)
{
    while (*a && lower_of(*a) == lower_of(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

static int read_enum(struct reader *reader, const struct path *path,
                     const json_t *json, const ProtobufCEnumDescriptor *type,
                     int32_t *ret_value)
{
    size_t prefix_bytes = json_enum_prefix_bytes(type);
    int64_t number;

    if (json_is_string(json)) {
        const char *text = json_string_value(json);
        for (unsigned i = 0; i < type->n_values; i++) {
            if (is_same_word(text, type->values[i].name) ||
                is_same_word(text, type->values[i].name + prefix_bytes)) {
                *ret_value = type->values[i].value;
                return 0;
            }
        }
        return refuse(reader, path, "is not one of the known names");
    }
    int rc = read_whole(reader, path, json, INT32_MIN, INT32_MAX, &number);
    if (rc == 0) {
        *ret_value = (int32_t)number;
    }
    return rc;
}

static int read_text(struct reader *reader, const struct path *path,
                     const json_t *json, char **ret_text)
{
    if (!json_is_string(json)) {
        return refuse(reader, path, "must be a text");
    }
    size_t byte_count = json_string_length(json);
    if (strlen(json_string_value(json)) != byte_count) {
        return refuse(reader, path, "has a NUL");
    }
    *ret_text = arena_strdup(reader->arena,
                             str_make(json_string_value(json), byte_count));
    return 0;
}

static int read_bytes(struct reader *reader, const struct path *path,
                      const json_t *json, ProtobufCBinaryData *ret_data)
{
    auto_strbuf buf = {0};

    if (!json_is_string(json) ||
        wire_base64_decode(
            str_make(json_string_value(json), json_string_length(json)), &buf) <
            0) {
        return refuse(reader, path, "must be base64");
    }
    ret_data->len = buf.byte_count;
    ret_data->data = (uint8_t *)arena_strdup(reader->arena, strbuf_str(&buf));
    return 0;
}

static int read_number(struct reader *reader, const struct path *path,
                       const json_t *json, ProtobufCType type, void *to)
{
    int64_t min =
        type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_FIXED32
            ? 0
            : INT32_MIN;
    int64_t max = min == 0 ? UINT32_MAX : INT32_MAX;
    int64_t value = 0;

    if (json_value_bytes(type) == 8) {
        return read_whole(reader, path, json, INT64_MIN, INT64_MAX,
                          (int64_t *)to);
    }
    int rc = read_whole(reader, path, json, min, max, &value);
    if (rc == 0) {
        *(uint32_t *)to = (uint32_t)value;
    }
    return rc;
}

static int read_bool(struct reader *reader, const struct path *path,
                     const json_t *json, protobuf_c_boolean *ret_value)
{
    if (!json_is_boolean(json)) {
        return refuse(reader, path, "must be true or false");
    }
    *ret_value = json_is_true(json);
    return 0;
}

static int read_float(struct reader *reader, const struct path *path,
                      const json_t *json, float *ret_value)
{
    double value = 0;
    int rc = read_double(reader, path, json, &value);

    if (rc == 0) {
        *ret_value = (float)value;
    }
    return rc;
}

static int read_child(struct reader *reader, const struct path *path,
                      const json_t *json,
                      const ProtobufCMessageDescriptor *type,
                      ProtobufCMessage **ret_message)
{
    enum json_special special = json_special_of(type);
    ProtobufCMessage *message = wire_new(type, reader->arena);
    int rc = special == JSON_PLAIN
                 ? read_message(reader, path, json, message)
                 : read_special(reader, path, json, special, message);

    if (rc == 0) {
        *ret_message = message;
    }
    return rc;
}

/* One value of a field, into the place that it has in the message. */
static int read_value(struct reader *reader, const struct path *path,
                      const json_t *json, const ProtobufCFieldDescriptor *field,
                      void *to)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_child(reader, path, json, field->descriptor, to);
    case PROTOBUF_C_TYPE_STRING:
        return read_text(reader, path, json, to);
    case PROTOBUF_C_TYPE_BYTES:
        return read_bytes(reader, path, json, to);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(reader, path, json, field->descriptor, to);
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(reader, path, json, to);
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_double(reader, path, json, to);
    case PROTOBUF_C_TYPE_FLOAT:
        return read_float(reader, path, json, to);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_u64(reader, path, json, to);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return read_number(reader, path, json, field->type, to);
    }
    return refuse(reader, path, "has an unknown type");
}

/* -- Fields ------------------------------------------------------------- */

static int read_list(struct reader *reader, const struct path *path,
                     const json_t *json, const ProtobufCFieldDescriptor *field,
                     ProtobufCMessage *message)
{
    size_t count = json_array_size(json);
    size_t stride = json_value_bytes(field->type);

    if (!json_is_array(json)) {
        return refuse(reader, path, "must be a list");
    }
    char *items = arena_alloc_array(reader->arena, count, stride);
    for (size_t i = 0; i < count; i++) {
        struct path step = {path, NULL, i};
        int rc = read_value(reader, &step, json_array_get(json, i), field,
                            items + i * stride);
        if (rc < 0) {
            return rc;
        }
    }
    *(void **)json_member(message, field) = items;
    *(size_t *)json_quantifier(message, field) = count;
    return 0;
}

static void mark_present(ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field)
{
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        *(uint32_t *)json_quantifier(message, field) = field->id;
    } else if (field->label == PROTOBUF_C_LABEL_OPTIONAL &&
               field->type != PROTOBUF_C_TYPE_MESSAGE &&
               field->type != PROTOBUF_C_TYPE_STRING) {
        *(protobuf_c_boolean *)json_quantifier(message, field) = true;
    }
}

static int read_map_entry(struct reader *reader, const struct path *path,
                          const char *key, const json_t *value,
                          ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *fields = entry->descriptor->fields;
    json_t *key_json = json_string(key);
    int rc = key_json ? read_value(reader, path, key_json, &fields[0],
                                   json_member(entry, &fields[0]))
                      : refuse(reader, path, "has a bad key");

    json_decref(key_json);
    if (rc == 0) {
        rc = read_value(reader, path, value, &fields[1],
                        json_member(entry, &fields[1]));
    }
    if (rc == 0) {
        mark_present(entry, &fields[0]);
        mark_present(entry, &fields[1]);
    }
    return rc;
}

static int read_map(struct reader *reader, const struct path *path,
                    const json_t *json, const ProtobufCFieldDescriptor *field,
                    ProtobufCMessage *message)
{
    ProtobufCMessage **entries = arena_alloc_array(
        reader->arena, json_object_size(json), sizeof(*entries));
    size_t count = 0;
    const char *key;
    json_t *value;

    if (!json_is_object(json)) {
        return refuse(reader, path, "must be a map");
    }
    /* jansson's own iteration wants a json_t that is not const. */
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        struct path step = {path, key, 0};
        if (json_is_null(value)) {
            continue;
        }
        entries[count] = wire_new(field->descriptor, reader->arena);
        int rc = read_map_entry(reader, &step, key, value, entries[count++]);
        if (rc < 0) {
            return rc;
        }
    }
    *(void **)json_member(message, field) = entries;
    *(size_t *)json_quantifier(message, field) = count;
    return 0;
}

static int read_field(struct reader *reader, const struct path *path,
                      const json_t *json, const ProtobufCFieldDescriptor *field,
                      ProtobufCMessage *message)
{
    if (json_is_map(message->descriptor, field)) {
        return read_map(reader, path, json, field, message);
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return read_list(reader, path, json, field, message);
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF &&
        *(uint32_t *)json_quantifier(message, field)) {
        return refuse(reader, path, "only one of these can be given");
    }
    int rc = read_value(reader, path, json, field, json_member(message, field));
    if (rc == 0) {
        mark_present(message, field);
    }
    return rc;
}

/* The message that has a field called `key`: `message` itself, or one inlined
 * in it, which is made when it is needed.  NULL when nobody knows the key. */
static ProtobufCMessage *find_field(struct reader *reader,
                                    ProtobufCMessage *message, const char *key,
                                    const ProtobufCFieldDescriptor **ret_field)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    char text[JSON_KEY_BYTES_MAX];

    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (!json_is_inlined(type, field) &&
            (strcmp(json_key_of(type, field, text), key) == 0 ||
             strcmp(field->name, key) == 0)) {
            *ret_field = field;
            return message;
        }
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (!json_is_inlined(type, &type->fields[i])) {
            continue;
        }
        ProtobufCMessage **slot = json_member(message, &type->fields[i]);
        ProtobufCMessage *inner =
            *slot ? *slot : wire_new(type->fields[i].descriptor, reader->arena);
        ProtobufCMessage *owner = find_field(reader, inner, key, ret_field);
        if (owner) {
            *slot = inner;
            return owner;
        }
    }
    return NULL;
}

static int read_message(struct reader *reader, const struct path *path,
                        const json_t *json, ProtobufCMessage *message)
{
    const char *key;
    json_t *value;

    if (!json_is_object(json)) {
        return refuse(reader, path, "must be an object");
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        const ProtobufCFieldDescriptor *field = NULL;
        struct path step = {path, key, 0};

        if (is_empty(value)) {
            continue;
        }
        ProtobufCMessage *owner = find_field(reader, message, key, &field);
        if (!owner) {
            if (reader->flags & WIRE_JSON_STRICT) {
                return refuse(reader, &step, "unknown key");
            }
            continue;
        }
        int rc = read_field(reader, &step, value, field, owner);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* -- Special messages --------------------------------------------------- */

static int
read_quantity(struct reader *reader, const struct path *path,
              const json_t *json,
              K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity *quantity)
{
    auto_strbuf buf = {0};
    int64_t milli;

    if (json_is_string(json)) {
        strbuf_add(&buf, json_string_value(json), json_string_length(json));
    } else if (json_is_integer(json)) {
        strbuf_addf(&buf, "%lld", (long long)json_integer_value(json));
    } else if (json_is_real(json)) {
        strbuf_addf(&buf, "%.15g", json_real_value(json));
    } else {
        return refuse(reader, path, "must be an amount");
    }
    if (quantity_parse(strbuf_str(&buf), &milli) == -ERR_INVALID) {
        return refuse(reader, path, "is not an amount");
    }
    quantity->string = arena_strdup(reader->arena, strbuf_str(&buf));
    return 0;
}

static int
read_int_or_string(struct reader *reader, const struct path *path,
                   const json_t *json,
                   K8s__Io__Apimachinery__Pkg__Util__Intstr__IntOrString *value)
{
    int64_t number;

    value->has_type = true;
    value->type = json_is_string(json);
    if (json_is_string(json)) {
        return read_text(reader, path, json, &value->strval);
    }
    int rc = read_whole(reader, path, json, INT32_MIN, INT32_MAX, &number);
    if (rc == 0) {
        value->has_intval = true;
        value->intval = (int32_t)number;
    }
    return rc;
}

/* A moment as text, or in parts. */
static int read_moment(struct reader *reader, const struct path *path,
                       const json_t *json, int64_t *ret_seconds,
                       int32_t *ret_nanos)
{
    int64_t nanos = 0;

    if (json_is_string(json)) {
        int rc = wire_rfc3339_parse(
            str_make(json_string_value(json), json_string_length(json)),
            ret_seconds, ret_nanos);
        return rc < 0 ? refuse(reader, path, "is not a time (RFC 3339)") : 0;
    }
    if (!json_is_object(json)) {
        return refuse(reader, path, "must be a time");
    }
    const json_t *seconds_json = json_object_get(json, "seconds");
    const json_t *nanos_json = json_object_get(json, "nanos");
    *ret_seconds = 0;
    if ((!is_empty(seconds_json) && !whole_number(seconds_json, ret_seconds)) ||
        (!is_empty(nanos_json) && !whole_number(nanos_json, &nanos)) ||
        nanos < 0 || nanos > 999999999) {
        return refuse(reader, path, "is not a time");
    }
    *ret_nanos = (int32_t)nanos;
    return 0;
}

static int read_time(struct reader *reader, const struct path *path,
                     const json_t *json,
                     K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time)
{
    int rc = read_moment(reader, path, json, &time->seconds, &time->nanos);

    time->nanos = 0; /* Kubernetes' times are whole seconds */
    time->has_seconds = true;
    time->has_nanos = true;
    return rc;
}

static int
read_micro_time(struct reader *reader, const struct path *path,
                const json_t *json,
                K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__MicroTime *time)
{
    int rc = read_moment(reader, path, json, &time->seconds, &time->nanos);

    time->nanos -= time->nanos % 1000;
    time->has_seconds = true;
    time->has_nanos = true;
    return rc;
}

/* Both messages with raw JSON have it alone, in field 1. */
static int read_raw(struct reader *reader, const struct path *path,
                    const json_t *json, ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[0];
    ProtobufCBinaryData *data = json_member(message, field);
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!text) {
        return refuse(reader, path, "does not print");
    }
    data->len = strlen(text);
    data->data = (uint8_t *)arena_strdup(reader->arena, str_of(text));
    free(text);
    mark_present(message, field);
    return 0;
}

static int read_special(struct reader *reader, const struct path *path,
                        const json_t *json, enum json_special special,
                        ProtobufCMessage *message)
{
    Google__Protobuf__Timestamp *timestamp;
    int64_t whole = 0;
    int rc;

    switch (special) {
    case JSON_QUANTITY:
        return read_quantity(reader, path, json, (void *)message);
    case JSON_INT_OR_STRING:
        return read_int_or_string(reader, path, json, (void *)message);
    case JSON_TIME:
        return read_time(reader, path, json, (void *)message);
    case JSON_MICRO_TIME:
        return read_micro_time(reader, path, json, (void *)message);
    case JSON_RAW:
        return read_raw(reader, path, json, message);
    case JSON_TIMESTAMP:
        timestamp = (Google__Protobuf__Timestamp *)message;
        return read_moment(reader, path, json, &timestamp->seconds,
                           &timestamp->nanos);
    case JSON_DOUBLE:
        return read_double(reader, path, json,
                           &((Google__Protobuf__DoubleValue *)message)->value);
    case JSON_UINT32:
        rc = read_whole(reader, path, json, 0, UINT32_MAX, &whole);
        ((Google__Protobuf__UInt32Value *)message)->value = (uint32_t)whole;
        return rc;
    case JSON_PLAIN:
        break;
    }
    ASSERT(!"a plain message is not special");
    return -ERR_INVALID;
}

int wire_json_read(const ProtobufCMessageDescriptor *type, const json_t *json,
                   unsigned flags, struct arena *arena,
                   ProtobufCMessage **ret_message, struct err *err)
{
    struct reader reader = {arena, flags, err};

    return read_child(&reader, NULL, json, type, ret_message);
}
