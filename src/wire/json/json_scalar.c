/* Reads JSON's numbers, strings and booleans as fields of messages. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/json/json_reader.h"
#include "wire/text/base64.h"

static void path_write(const struct json_path *path, struct strbuf *buf)
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

int json_refuse(struct json_reader *reader, const struct json_path *path,
                const char *what)
{
    auto_strbuf buf = strbuf_make(64 << 10);

    path_write(path, &buf);
    return err_set(reader->err, -ERR_INVALID, "%s%s%s", strbuf_text(&buf),
                   path ? ": " : "", what);
}

bool json_is_empty(const json_t *json)
{
    return !json || json_is_null(json);
}

bool json_whole_number(const json_t *json, int64_t *ret_value)
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

/* Add what was given instead: ", not ...", unless it is a list or an object. */
static void put_given(const json_t *json, char *text, size_t text_bytes)
{
    text[0] = '\0';
    if (json_is_integer(json)) {
        snprintf(text, text_bytes, ", not %" JSON_INTEGER_FORMAT,
                 json_integer_value(json));
    } else if (json_is_real(json)) {
        snprintf(text, text_bytes, ", not %.6g", json_real_value(json));
    } else if (json_is_string(json)) {
        snprintf(text, text_bytes, ", not \"%.40s\"", json_string_value(json));
    } else if (json_is_boolean(json)) {
        snprintf(text, text_bytes, ", not %s",
                 json_is_true(json) ? "true" : "false");
    }
}

int json_read_whole(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, int64_t min, int64_t max,
                    int64_t *ret_value)
{
    char what[192];

    if (json_whole_number(json, ret_value) && *ret_value >= min &&
        *ret_value <= max) {
        return 0;
    }
    int length = snprintf(what, sizeof(what),
                          "must be a whole number from %" PRId64 " to %" PRId64,
                          min, max);
    put_given(json, what + length, sizeof(what) - (size_t)length);
    return json_refuse(reader, path, what);
}

int json_read_u64(struct json_reader *reader, const struct json_path *path,
                  const json_t *json, uint64_t *ret_value)
{
    int64_t value;
    char *end;

    if (json_is_string(json) && json_string_value(json)[0] != '-') {
        errno = 0;
        *ret_value = strtoull(json_string_value(json), &end, 10);
        return errno == 0 && *end == '\0' && json_string_length(json)
                   ? 0
                   : json_refuse(reader, path, "must be a whole number");
    }
    int rc = json_read_whole(reader, path, json, 0, INT64_MAX, &value);
    if (rc == 0) {
        *ret_value = (uint64_t)value;
    }
    return rc;
}

int json_read_double(struct json_reader *reader, const struct json_path *path,
                     const json_t *json, double *ret_value)
{
    if (json_is_number(json)) {
        *ret_value = json_number_value(json);
        return 0;
    }
    char what[80] = "must be a number";
    size_t length = strlen(what);
    put_given(json, what + length, sizeof(what) - length);
    return json_refuse(reader, path, what);
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

int json_read_enum(struct json_reader *reader, const struct json_path *path,
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
        return json_refuse(reader, path, "is not one of the known names");
    }
    int rc = json_read_whole(reader, path, json, INT32_MIN, INT32_MAX, &number);
    if (rc == 0) {
        *ret_value = (int32_t)number;
    }
    return rc;
}

int json_read_text(struct json_reader *reader, const struct json_path *path,
                   const json_t *json, char **ret_text)
{
    if (!json_is_string(json)) {
        return json_refuse(reader, path,
                           json_is_number(json) || json_is_boolean(json)
                               ? "must be a text: write it in quotes"
                               : "must be a text");
    }
    size_t byte_count = json_string_length(json);
    if (strlen(json_string_value(json)) != byte_count) {
        return json_refuse(reader, path, "has a NUL");
    }
    *ret_text = arena_strdup(reader->arena,
                             str_make(json_string_value(json), byte_count));
    return 0;
}

int json_read_bytes(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, ProtobufCBinaryData *ret_data)
{
    auto_strbuf buf = {0};

    if (!json_is_string(json) ||
        wire_base64_decode(
            str_make(json_string_value(json), json_string_length(json)), &buf) <
            0) {
        return json_refuse(reader, path, "must be base64");
    }
    ret_data->len = buf.byte_count;
    ret_data->data = (uint8_t *)arena_strdup(reader->arena, strbuf_str(&buf));
    return 0;
}

int json_read_number(struct json_reader *reader, const struct json_path *path,
                     const json_t *json, ProtobufCType type, void *to)
{
    int64_t min =
        type == PROTOBUF_C_TYPE_UINT32 || type == PROTOBUF_C_TYPE_FIXED32
            ? 0
            : INT32_MIN;
    int64_t max = min == 0 ? UINT32_MAX : INT32_MAX;
    int64_t value = 0;

    if (json_value_bytes(type) == 8) {
        return json_read_whole(reader, path, json, INT64_MIN, INT64_MAX,
                               (int64_t *)to);
    }
    int rc = json_read_whole(reader, path, json, min, max, &value);
    if (rc == 0) {
        *(uint32_t *)to = (uint32_t)value;
    }
    return rc;
}

int json_read_bool(struct json_reader *reader, const struct json_path *path,
                   const json_t *json, protobuf_c_boolean *ret_value)
{
    if (!json_is_boolean(json)) {
        return json_refuse(reader, path, "must be true or false");
    }
    *ret_value = json_is_true(json);
    return 0;
}

int json_read_float(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, float *ret_value)
{
    double value = 0;
    int rc = json_read_double(reader, path, json, &value);

    if (rc == 0) {
        *ret_value = (float)value;
    }
    return rc;
}

void json_mark_present(ProtobufCMessage *message,
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
