#include "api/submit/go_size.h"

#include "base/base.h"
#include "k8s/core.pb-c.h"
#include "wire/message/field.h"

enum { ALWAYS_FIELDS_MAX = 12 };

/* Fields that Go writes always, by number. */
struct always {
    const ProtobufCMessageDescriptor *message;
    uint32_t fields[ALWAYS_FIELDS_MAX]; /* ends in 0 if shorter */
};

static const struct always always[] = {
    {&k8s__io__api__core__v1__pod_spec__descriptor,
     {3, 6, 8, 9, 10, 11, 12, 13, 16, 17, 19, 24}},
    {&k8s__io__api__core__v1__container__descriptor,
     {1, 2, 5, 8, 13, 14, 16, 17, 18, 20}},
    {&k8s__io__api__core__v1__container_port__descriptor, {1, 2, 3, 4, 5}},
    {&k8s__io__api__core__v1__env_var__descriptor, {1, 2}},
    {&k8s__io__api__core__v1__volume__descriptor, {1, 2}},
    {&k8s__io__api__core__v1__volume_mount__descriptor, {1, 2, 3, 4, 6}},
    {&k8s__io__api__core__v1__toleration__descriptor, {1, 2, 3, 4}},
    {&k8s__io__api__core__v1__node_selector_requirement__descriptor, {1, 2}},
    {&k8s__io__api__core__v1__local_object_reference__descriptor, {1}},
};

static const struct always *always_of(const ProtobufCMessageDescriptor *type)
{
    for (size_t i = 0; i < ARRAY_COUNT(always); i++) {
        if (always[i].message == type) {
            return &always[i];
        }
    }
    return NULL;
}

static const void *member(const ProtobufCMessage *message, unsigned offset)
{
    return (const char *)message + offset;
}

/* Whether we write the optional field at all. */
static bool is_present(const ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field)
{
    if (field->type == PROTOBUF_C_TYPE_STRING ||
        field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return *(const void *const *)member(message, field->offset) != NULL;
    }
    return *(const protobuf_c_boolean *)member(message,
                                               field->quantifier_offset);
}

/* What Go writes for fields that we leave out: a tag and one byte. */
static size_t absent_bytes(const ProtobufCMessage *message)
{
    const struct always *row = always_of(message->descriptor);
    size_t byte_count = 0;

    for (size_t i = 0; row && i < ALWAYS_FIELDS_MAX && row->fields[i]; i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(message->descriptor,
                                                    row->fields[i]);
        if (field && !is_present(message, field)) {
            byte_count += field_varint_bytes(row->fields[i] << 3) + 1;
        }
    }
    return byte_count;
}

static size_t message_growth(const ProtobufCMessage *message)
{
    if (!message) {
        return 0;
    }
    size_t ours = protobuf_c_message_get_packed_size(message);
    size_t theirs = go_size(message);
    return theirs - ours + field_varint_bytes(theirs) -
           field_varint_bytes(ours);
}

/* What the messages in one field gain. */
static size_t field_growth(const ProtobufCMessage *message,
                           const ProtobufCFieldDescriptor *field)
{
    const void *at = member(message, field->offset);
    size_t growth = 0;

    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return 0;
    }
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        return message_growth(*(const ProtobufCMessage *const *)at);
    }
    size_t count = *(const size_t *)member(message, field->quantifier_offset);
    const ProtobufCMessage *const *items =
        *(const ProtobufCMessage *const *const *)at;
    for (size_t i = 0; i < count; i++) {
        growth += message_growth(items[i]);
    }
    return growth;
}

size_t go_size(const ProtobufCMessage *message)
{
    size_t byte_count =
        protobuf_c_message_get_packed_size(message) + absent_bytes(message);

    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        byte_count += field_growth(message, &message->descriptor->fields[i]);
    }
    return byte_count;
}
