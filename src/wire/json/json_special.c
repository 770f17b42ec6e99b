/* Messages whose JSON is not an object of their fields: amounts, times and the
 * like. */
#include <stdio.h>
#include <stdlib.h>

#include "google/protobuf/timestamp.pb-c.h"
#include "google/protobuf/wrappers.pb-c.h"
#include "k8s/intstr.pb-c.h"
#include "k8s/meta.pb-c.h"
#include "k8s/resource.pb-c.h"
#include "model/quantity.h"
#include "wire/json/json_reader.h"
#include "wire/text/rfc3339.h"

static int
read_quantity(struct json_reader *reader, const struct json_path *path,
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
        return json_refuse(reader, path, "must be an amount");
    }
    if (quantity_parse(strbuf_str(&buf), &milli) == -ERR_INVALID) {
        char what[128];
        snprintf(what, sizeof(what),
                 "must be an amount of at most 19 digits, such as 500m or 1Gi, "
                 "not \"%.40s\"",
                 strbuf_text(&buf));
        return json_refuse(reader, path, what);
    }
    quantity->string = arena_strdup(reader->arena, strbuf_str(&buf));
    return 0;
}

static int
read_int_or_string(struct json_reader *reader, const struct json_path *path,
                   const json_t *json,
                   K8s__Io__Apimachinery__Pkg__Util__Intstr__IntOrString *value)
{
    int64_t number;

    value->has_type = true;
    value->type = json_is_string(json);
    if (json_is_string(json)) {
        return json_read_text(reader, path, json, &value->strval);
    }
    int rc = json_read_whole(reader, path, json, INT32_MIN, INT32_MAX, &number);
    if (rc == 0) {
        value->has_intval = true;
        value->intval = (int32_t)number;
    }
    return rc;
}

/* A moment as text, or in parts. */
static int read_moment(struct json_reader *reader, const struct json_path *path,
                       const json_t *json, int64_t *ret_seconds,
                       int32_t *ret_nanos)
{
    int64_t nanos = 0;

    if (json_is_string(json)) {
        int rc = wire_rfc3339_parse(
            str_make(json_string_value(json), json_string_length(json)),
            ret_seconds, ret_nanos);
        return rc < 0 ? json_refuse(reader, path, "is not a time (RFC 3339)")
                      : 0;
    }
    if (!json_is_object(json)) {
        return json_refuse(reader, path, "must be a time");
    }
    const json_t *seconds_json = json_object_get(json, "seconds");
    const json_t *nanos_json = json_object_get(json, "nanos");
    *ret_seconds = 0;
    if ((!json_is_empty(seconds_json) &&
         !json_whole_number(seconds_json, ret_seconds)) ||
        (!json_is_empty(nanos_json) &&
         !json_whole_number(nanos_json, &nanos)) ||
        nanos < 0 || nanos > 999999999) {
        return json_refuse(reader, path, "is not a time");
    }
    *ret_nanos = (int32_t)nanos;
    return 0;
}

static int read_time(struct json_reader *reader, const struct json_path *path,
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
read_micro_time(struct json_reader *reader, const struct json_path *path,
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
static int read_raw(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, ProtobufCMessage *message)
{
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[0];
    ProtobufCBinaryData *data = json_member(message, field);
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

    if (!text) {
        return json_refuse(reader, path, "does not print");
    }
    data->len = strlen(text);
    data->data = (uint8_t *)arena_strdup(reader->arena, str_of(text));
    free(text);
    json_mark_present(message, field);
    return 0;
}

int json_read_special(struct json_reader *reader, const struct json_path *path,
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
        return json_read_double(
            reader, path, json,
            &((Google__Protobuf__DoubleValue *)message)->value);
    case JSON_UINT32:
        rc = json_read_whole(reader, path, json, 0, UINT32_MAX, &whole);
        ((Google__Protobuf__UInt32Value *)message)->value = (uint32_t)whole;
        return rc;
    case JSON_PLAIN:
        break;
    }
    ASSERT(!"a plain message is not special");
    return -ERR_INVALID;
}
