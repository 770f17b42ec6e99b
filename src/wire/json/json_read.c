#include "wire/json/json.h"
#include "wire/json/json_reader.h"
#include "wire/message/message.h"

static int read_message(struct json_reader *reader,
                        const struct json_path *path, const json_t *json,
                        ProtobufCMessage *message);

static int read_child(struct json_reader *reader, const struct json_path *path,
                      const json_t *json,
                      const ProtobufCMessageDescriptor *type,
                      ProtobufCMessage **ret_message)
{
    enum json_special special = json_special_of(type);
    ProtobufCMessage *message = wire_new(type, reader->arena);
    int rc = special == JSON_PLAIN
                 ? read_message(reader, path, json, message)
                 : json_read_special(reader, path, json, special, message);

    if (rc == 0) {
        *ret_message = message;
    }
    return rc;
}

/* One value of a field, into the place that it has in the message. */
static int read_value(struct json_reader *reader, const struct json_path *path,
                      const json_t *json, const ProtobufCFieldDescriptor *field,
                      void *to)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_child(reader, path, json, field->descriptor, to);
    case PROTOBUF_C_TYPE_STRING:
        return json_read_text(reader, path, json, to);
    case PROTOBUF_C_TYPE_BYTES:
        return json_read_bytes(reader, path, json, to);
    case PROTOBUF_C_TYPE_ENUM:
        return json_read_enum(reader, path, json, field->descriptor, to);
    case PROTOBUF_C_TYPE_BOOL:
        return json_read_bool(reader, path, json, to);
    case PROTOBUF_C_TYPE_DOUBLE:
        return json_read_double(reader, path, json, to);
    case PROTOBUF_C_TYPE_FLOAT:
        return json_read_float(reader, path, json, to);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return json_read_u64(reader, path, json, to);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return json_read_number(reader, path, json, field->type, to);
    }
    return json_refuse(reader, path, "has an unknown type");
}

/* Fields. */

static int read_list(struct json_reader *reader, const struct json_path *path,
                     const json_t *json, const ProtobufCFieldDescriptor *field,
                     ProtobufCMessage *message)
{
    size_t count = json_array_size(json);
    size_t stride = json_value_bytes(field->type);

    if (!json_is_array(json)) {
        return json_refuse(reader, path, "must be a list");
    }
    char *items = arena_alloc_array(reader->arena, count, stride);
    for (size_t i = 0; i < count; i++) {
        struct json_path step = {path, NULL, i};
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

static int read_map_entry(struct json_reader *reader,
                          const struct json_path *path, const char *key,
                          const json_t *value, ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *fields = entry->descriptor->fields;
    json_t *key_json = json_string(key);
    int rc = key_json ? read_value(reader, path, key_json, &fields[0],
                                   json_member(entry, &fields[0]))
                      : json_refuse(reader, path, "has a bad key");

    json_decref(key_json);
    if (rc == 0) {
        rc = read_value(reader, path, value, &fields[1],
                        json_member(entry, &fields[1]));
    }
    if (rc == 0) {
        json_mark_present(entry, &fields[0]);
        json_mark_present(entry, &fields[1]);
    }
    return rc;
}

static int read_map(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, const ProtobufCFieldDescriptor *field,
                    ProtobufCMessage *message)
{
    ProtobufCMessage **entries = arena_alloc_array(
        reader->arena, json_object_size(json), sizeof(*entries));
    size_t count = 0;
    const char *key;
    json_t *value;

    if (!json_is_object(json)) {
        return json_refuse(reader, path, "must be a map");
    }
    /* jansson's own iteration wants a json_t that is not const. */
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        struct json_path step = {path, key, 0};
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

static int read_field(struct json_reader *reader, const struct json_path *path,
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
        return json_refuse(reader, path, "only one of these can be given");
    }
    int rc = read_value(reader, path, json, field, json_member(message, field));
    if (rc == 0) {
        json_mark_present(message, field);
    }
    return rc;
}

/* The message that has a field called `key`: `message` itself, or one inlined
 * in it, which is made when it is needed.  NULL when nobody knows the key. */
static ProtobufCMessage *find_field(struct json_reader *reader,
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

static int read_message(struct json_reader *reader,
                        const struct json_path *path, const json_t *json,
                        ProtobufCMessage *message)
{
    const char *key;
    json_t *value;

    if (!json_is_object(json)) {
        return json_refuse(reader, path, "must be an object");
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        const ProtobufCFieldDescriptor *field = NULL;
        struct json_path step = {path, key, 0};

        if (json_is_empty(value)) {
            continue;
        }
        ProtobufCMessage *owner = find_field(reader, message, key, &field);
        if (!owner) {
            if (reader->flags & WIRE_JSON_STRICT) {
                return json_refuse(reader, &step, "unknown key");
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

int wire_json_read(const ProtobufCMessageDescriptor *type, const json_t *json,
                   unsigned flags, struct arena *arena,
                   ProtobufCMessage **ret_message, struct err *err)
{
    struct json_reader reader = {arena, flags, err};

    return read_child(&reader, NULL, json, type, ret_message);
}
