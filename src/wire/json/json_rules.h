/*
 * json_rules - what reader and writer of json.h must agree on: which message
 * is special, which field is inlined or a map, and how a field is called.
 *
 * Internal to json.  Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "base/str.h"

/* Messages whose JSON is not an object of their fields. */
enum json_special {
    JSON_PLAIN = 0,
    JSON_QUANTITY,      /* text */
    JSON_INT_OR_STRING, /* a number or a text */
    JSON_TIME,          /* RFC 3339, whole seconds */
    JSON_MICRO_TIME,    /* RFC 3339, microseconds */
    JSON_RAW,           /* any JSON, kept as its text */
    JSON_TIMESTAMP,     /* google.protobuf's */
    JSON_DOUBLE,        /* google.protobuf's: a number, or not there */
    JSON_UINT32,        /* likewise, a whole one */
};

/* What kind of message this is. */
enum json_special json_special_of(const ProtobufCMessageDescriptor *type);

/* Whether Kubernetes' rules apply to the message. */
bool json_is_kubernetes(const ProtobufCMessageDescriptor *type);

/* Whether the field's own fields stand in its parent's JSON object. */
bool json_is_inlined(const ProtobufCMessageDescriptor *parent,
                     const ProtobufCFieldDescriptor *field);

/* Whether the field is a map. */
bool json_is_map(const ProtobufCMessageDescriptor *parent,
                 const ProtobufCFieldDescriptor *field);

/* Whether Kubernetes' clients cannot tell zero from absent in this field. */
bool json_is_zero_absent(const char *field_name);

enum { JSON_KEY_BYTES_MAX = 128 };

/* The key of a field in JSON; written to `text`, which is returned. */
const char *json_key_of(const ProtobufCMessageDescriptor *parent,
                        const ProtobufCFieldDescriptor *field,
                        char text[JSON_KEY_BYTES_MAX]);

/* What all values of an enum begin with ("RETRY_ACTION_"), in bytes, when
 * JSON leaves that out ("Retry"); else 0. */
size_t json_enum_prefix_bytes(const ProtobufCEnumDescriptor *type);

/* The text of an enum's value in JSON; the caller json_decref()s it. */
json_t *json_enum_text(const ProtobufCEnumDescriptor *type,
                       const ProtobufCEnumValue *value);

/* The member of `message` that holds the field. */
static inline void *json_member(const ProtobufCMessage *message,
                                const ProtobufCFieldDescriptor *field)
{
    return (char *)(uintptr_t)message + field->offset;
}

/* The field's has_ flag, count or oneof case. */
static inline void *json_quantifier(const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field)
{
    return (char *)(uintptr_t)message + field->quantifier_offset;
}

/* What one value of the type takes in an array. */
size_t json_value_bytes(ProtobufCType type);
