#include "wire/json/json.h"
#include "wire/json/json_rules.h"

static json_t *schema_of(const ProtobufCMessageDescriptor *type, json_t *defs);

static json_t *of_type(const char *name)
{
    return json_pack("{s:s}", "type", name);
}

static json_t *of_format(const char *format)
{
    return json_pack("{s:s, s:s}", "type", "string", "format", format);
}

static json_t *of_unsigned(void)
{
    return json_pack("{s:s, s:i}", "type", "integer", "minimum", 0);
}

/* The names as the writer has them; a value that a newer server may add comes
 * as its number. */
static json_t *of_enum(const ProtobufCEnumDescriptor *type)
{
    json_t *names = json_array();

    for (unsigned i = 0; i < type->n_values; i++) {
        const ProtobufCEnumValue *value = &type->values[i];
        json_array_append_new(names, json_enum_text(type, value));
    }
    return json_pack("{s:[{s:o}, {s:s}]}", "anyOf", "enum", names, "type",
                     "integer");
}

static json_t *of_value(const ProtobufCFieldDescriptor *field, json_t *defs)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return schema_of(field->descriptor, defs);
    case PROTOBUF_C_TYPE_STRING:
        return of_type("string");
    case PROTOBUF_C_TYPE_BYTES:
        return json_pack("{s:s, s:s}", "type", "string", "contentEncoding",
                         "base64");
    case PROTOBUF_C_TYPE_ENUM:
        return of_enum(field->descriptor);
    case PROTOBUF_C_TYPE_BOOL:
        return of_type("boolean");
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FLOAT:
        /* Infinity is null. */
        return json_pack("{s:[s, s]}", "type", "number", "null");
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        /* Above 2^63 - 1 they are written as texts. */
        return json_pack(
            "{s:[o, o]}", "anyOf", of_unsigned(),
            json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-9]+$"));
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return of_unsigned();
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return of_type("integer");
    }
    return json_true();
}

/* What a message is that is not an object of its fields; NULL: it is one. */
static json_t *of_special(const ProtobufCMessageDescriptor *type)
{
    switch (json_special_of(type)) {
    case JSON_QUANTITY:
        return of_type("string");
    case JSON_INT_OR_STRING:
        return json_pack("{s:[s, s]}", "type", "integer", "string");
    case JSON_TIME:
    case JSON_MICRO_TIME:
    case JSON_TIMESTAMP:
        return of_format("date-time");
    case JSON_RAW:
        return json_true();
    case JSON_DOUBLE:
        return json_pack("{s:[s, s]}", "type", "number", "null");
    case JSON_UINT32:
        return of_unsigned();
    case JSON_PLAIN:
        break;
    }
    return NULL;
}

static json_t *of_field(const ProtobufCMessageDescriptor *type,
                        const ProtobufCFieldDescriptor *field, json_t *defs)
{
    if (json_is_map(type, field)) {
        const ProtobufCMessageDescriptor *entry = field->descriptor;
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
                         of_value(&entry->fields[1], defs));
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return json_pack("{s:s, s:o}", "type", "array", "items",
                         of_value(field, defs));
    }
    return of_value(field, defs);
}

static void add_fields(const ProtobufCMessageDescriptor *type,
                       json_t *properties, json_t *defs)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        char text[JSON_KEY_BYTES_MAX];

        if (json_is_inlined(type, field)) {
            add_fields(field->descriptor, properties, defs);
        } else {
            json_object_set_new(properties, json_key_of(type, field, text),
                                of_field(type, field, defs));
        }
    }
}

/* A reference to the definition of a message, which is made if it is new:
 * before its fields, for a message may hold itself. */
static json_t *schema_of(const ProtobufCMessageDescriptor *type, json_t *defs)
{
    json_t *special = of_special(type);
    json_t *properties;

    if (special) {
        return special;
    }
    if (!json_object_get(defs, type->name)) {
        properties = json_object();
        json_object_set_new(defs, type->name,
                            json_pack("{s:s, s:O}", "type", "object",
                                      "properties", properties));
        add_fields(type, properties, defs);
        json_decref(properties);
    }
    return json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", type->name));
}

json_t *wire_json_schema(const ProtobufCMessageDescriptor *type, json_t *defs)
{
    return schema_of(type, defs);
}
