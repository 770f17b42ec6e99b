#include <math.h>
#include <stdio.h>

#include "google/protobuf/timestamp.pb-c.h"
#include "google/protobuf/wrappers.pb-c.h"
#include "k8s/intstr.pb-c.h"
#include "k8s/meta.pb-c.h"
#include "k8s/resource.pb-c.h"
#include "wire/json/json.h"
#include "wire/json/json_rules.h"
#include "wire/text/base64.h"
#include "wire/text/rfc3339.h"

static void write_fields(const ProtobufCMessage *message, unsigned flags,
                         json_t *object);
static json_t *write_message(const ProtobufCMessage *message, unsigned flags);

/* jansson says NULL only when memory or UTF-8 runs out; neither may stop a
 * listing. */
static json_t *or_null(json_t *json)
{
    return json ? json : json_null();
}

static json_t *text_of(const char *text)
{
    return or_null(json_string(text ? text : ""));
}

static json_t *time_text(int64_t seconds, int32_t nanos, int digit_count)
{
    char text[WIRE_RFC3339_TEXT_BYTES_MAX];

    return text_of(wire_rfc3339_format(seconds, nanos, digit_count, text));
}

/* Scalars. */

json_t *json_enum_text(const ProtobufCEnumDescriptor *type,
                       const ProtobufCEnumValue *value)
{
    size_t prefix_bytes = json_enum_prefix_bytes(type);
    auto_strbuf buf = {0};

    if (!prefix_bytes) {
        return text_of(value->name);
    }
    /* RETRY_ACTION_FAIL is written Fail. */
    strbuf_add_text(&buf, value->name + prefix_bytes);
    for (size_t i = 1; i < buf.byte_count; i++) {
        char *c = &buf.bytes[i];
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    }
    return text_of(strbuf_text(&buf));
}

static json_t *write_enum(int32_t value, const ProtobufCEnumDescriptor *type,
                          unsigned flags)
{
    const ProtobufCEnumValue *known =
        protobuf_c_enum_descriptor_get_value(type, value);

    if (!known ||
        (flags & WIRE_JSON_ENUM_NUMBERS && !json_enum_prefix_bytes(type))) {
        return or_null(json_integer(value));
    }
    return json_enum_text(type, known);
}

static json_t *write_bytes(const ProtobufCBinaryData *data)
{
    auto_strbuf buf = {0};

    wire_base64_encode(str_make(data->data, data->len), &buf);
    return text_of(strbuf_text(&buf));
}

static json_t *write_double(double value)
{
    /* JSON has no infinity; and 1 reads better than 1.0. */
    if (isfinite(value) && value == floor(value) && fabs(value) < 1e15) {
        return or_null(json_integer((json_int_t)value));
    }
    return or_null(json_real(value));
}

static json_t *write_u64(uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX) {
        return or_null(json_integer((json_int_t)value));
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    return text_of(text);
}

static json_t *write_value(const ProtobufCFieldDescriptor *field,
                           const void *from, unsigned flags)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return write_message(*(const ProtobufCMessage *const *)from, flags);
    case PROTOBUF_C_TYPE_STRING:
        return text_of(*(const char *const *)from);
    case PROTOBUF_C_TYPE_BYTES:
        return write_bytes(from);
    case PROTOBUF_C_TYPE_ENUM:
        return write_enum(*(const int32_t *)from, field->descriptor, flags);
    case PROTOBUF_C_TYPE_BOOL:
        return json_boolean(*(const protobuf_c_boolean *)from);
    case PROTOBUF_C_TYPE_DOUBLE:
        return write_double(*(const double *)from);
    case PROTOBUF_C_TYPE_FLOAT:
        return write_double((double)*(const float *)from);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return write_u64(*(const uint64_t *)from);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return or_null(json_integer(*(const uint32_t *)from));
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return or_null(json_integer(*(const int64_t *)from));
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return or_null(json_integer(*(const int32_t *)from));
    }
    return json_null();
}

/* Fields. */

static json_t *write_list(const ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field, unsigned flags)
{
    size_t count = *(size_t *)json_quantifier(message, field);
    const char *items = *(const char **)json_member(message, field);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(
            list, write_value(field, items + i * json_value_bytes(field->type),
                              flags));
    }
    return list;
}

static void write_map_key(const ProtobufCMessage *entry, struct strbuf *buf)
{
    const ProtobufCFieldDescriptor *field = &entry->descriptor->fields[0];
    const void *member = json_member(entry, field);

    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *key = *(const char *const *)member;
        strbuf_add_text(buf, key ? key : "");
    } else if (json_value_bytes(field->type) == 8) {
        strbuf_addf(buf, "%lld", (long long)*(const int64_t *)member);
    } else {
        strbuf_addf(buf, "%d", *(const int32_t *)member);
    }
}

static json_t *write_map(const ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, unsigned flags)
{
    size_t count = *(size_t *)json_quantifier(message, field);
    ProtobufCMessage **entries =
        *(ProtobufCMessage ***)json_member(message, field);
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++) {
        const ProtobufCFieldDescriptor *value =
            &entries[i]->descriptor->fields[1];
        auto_strbuf key = {0};

        write_map_key(entries[i], &key);
        json_object_set_new(
            object, strbuf_text(&key),
            write_value(value, json_member(entries[i], value), flags));
    }
    return object;
}

static bool is_zero(const ProtobufCFieldDescriptor *field, const void *member)
{
    static const char zeros[8];

    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(const char *const *)member;
        return !text || !*text;
    }
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        return ((const ProtobufCBinaryData *)member)->len == 0;
    }
    return memcmp(member, zeros, json_value_bytes(field->type)) == 0;
}

/* Kubernetes' time of no moment is an empty message. */
static bool is_no_time(const ProtobufCMessage *message)
{
    enum json_special special = json_special_of(message->descriptor);
    const ProtobufCFieldDescriptor *seconds = &message->descriptor->fields[0];

    return (special == JSON_TIME || special == JSON_MICRO_TIME) &&
           !*(protobuf_c_boolean *)json_quantifier(message, seconds);
}

static bool is_set(const ProtobufCMessage *message,
                   const ProtobufCFieldDescriptor *field)
{
    const void *member = json_member(message, field);

    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(size_t *)json_quantifier(message, field) > 0;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        return *(uint32_t *)json_quantifier(message, field) == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        const ProtobufCMessage *child = *(ProtobufCMessage *const *)member;
        return child && !is_no_time(child);
    }
    if (field->type == PROTOBUF_C_TYPE_STRING ||
        field->label == PROTOBUF_C_LABEL_NONE) {
        return !is_zero(field, member);
    }
    return *(protobuf_c_boolean *)json_quantifier(message, field) &&
           !(json_is_zero_absent(field->name) && is_zero(field, member));
}

static void write_field(const ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, unsigned flags,
                        json_t *object)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const void *member = json_member(message, field);
    char text[JSON_KEY_BYTES_MAX];
    json_t *value;

    if (json_is_inlined(type, field)) {
        write_fields(*(ProtobufCMessage *const *)member, flags, object);
        return;
    }
    if (json_is_map(type, field)) {
        value = write_map(message, field, flags);
    } else if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        value = write_list(message, field, flags);
    } else {
        value = write_value(field, member, flags);
    }
    if (json_is_null(value)) { /* raw JSON that is none */
        json_decref(value);
        return;
    }
    json_object_set_new(object, json_key_of(type, field, text), value);
}

static void write_fields(const ProtobufCMessage *message, unsigned flags,
                         json_t *object)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;

    for (unsigned i = 0; i < type->n_fields; i++) {
        if (is_set(message, &type->fields[i])) {
            write_field(message, &type->fields[i], flags, object);
        }
    }
}

/* Special messages. */

static json_t *write_int_or_string(const ProtobufCMessage *message)
{
    const K8s__Io__Apimachinery__Pkg__Util__Intstr__IntOrString *value =
        (const void *)message;

    return value->type == 1 ? text_of(value->strval)
                            : or_null(json_integer(value->intval));
}

static json_t *write_raw(const ProtobufCMessage *message)
{
    const ProtobufCBinaryData *data =
        json_member(message, &message->descriptor->fields[0]);

    return or_null(
        json_loadb((const char *)data->data, data->len, JSON_DECODE_ANY, NULL));
}

static json_t *write_timestamp(const Google__Protobuf__Timestamp *timestamp,
                               unsigned flags)
{
    int32_t nanos = timestamp->nanos;

    if (flags & WIRE_JSON_TIME_PARTS) {
        json_t *parts = json_object();
        if (timestamp->seconds) {
            json_object_set_new(parts, "seconds",
                                json_integer(timestamp->seconds));
        }
        if (nanos) {
            json_object_set_new(parts, "nanos", json_integer(nanos));
        }
        return parts;
    }
    return time_text(timestamp->seconds, nanos,
                     nanos == 0             ? 0
                     : nanos % 1000000 == 0 ? 3
                     : nanos % 1000 == 0    ? 6
                                            : 9);
}

static json_t *write_message(const ProtobufCMessage *message, unsigned flags)
{
    const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__MicroTime *time;
    json_t *object;

    if (!message) {
        return json_null(); /* a map's value that was left out */
    }
    switch (json_special_of(message->descriptor)) {
    case JSON_QUANTITY:
        return text_of(
            ((const K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity
                  *)(const void *)message)
                ->string);
    case JSON_INT_OR_STRING:
        return write_int_or_string(message);
    case JSON_TIME: /* laid out as MicroTime is */
    case JSON_MICRO_TIME:
        time = (const void *)message;
        return time_text(time->seconds, time->nanos,
                         json_special_of(message->descriptor) == JSON_TIME ? 0
                                                                           : 6);
    case JSON_RAW:
        return write_raw(message);
    case JSON_TIMESTAMP:
        return write_timestamp((const void *)message, flags);
    case JSON_DOUBLE:
        return write_double(
            ((const Google__Protobuf__DoubleValue *)(const void *)message)
                ->value);
    case JSON_UINT32:
        return json_integer(
            ((const Google__Protobuf__UInt32Value *)(const void *)message)
                ->value);
    case JSON_PLAIN:
        break;
    }
    object = json_object();
    write_fields(message, flags, object);
    return object;
}

json_t *wire_json_write(const ProtobufCMessage *message, unsigned flags)
{
    return write_message(message, flags);
}

static int add_text(const char *text, size_t byte_count, void *buf)
{
    strbuf_add(buf, text, byte_count);
    return 0;
}

void wire_json_text(const json_t *json, struct strbuf *buf)
{
    (void)json_dump_callback(json, add_text, buf,
                             JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}
