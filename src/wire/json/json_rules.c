#include "wire/json/json_rules.h"

#include "armada/retry.pb-c.h"
#include "google/protobuf/timestamp.pb-c.h"
#include "google/protobuf/wrappers.pb-c.h"
#include "k8s/intstr.pb-c.h"
#include "k8s/meta.pb-c.h"
#include "k8s/resource.pb-c.h"
#include "k8s/runtime.pb-c.h"

enum json_special json_special_of(const ProtobufCMessageDescriptor *type)
{
    static const struct {
        const ProtobufCMessageDescriptor *type;
        enum json_special special;
    } specials[] = {
        {&k8s__io__apimachinery__pkg__api__resource__quantity__descriptor,
         JSON_QUANTITY},
        {&k8s__io__apimachinery__pkg__util__intstr__int_or_string__descriptor,
         JSON_INT_OR_STRING},
        {&k8s__io__apimachinery__pkg__apis__meta__v1__time__descriptor,
         JSON_TIME},
        {&k8s__io__apimachinery__pkg__apis__meta__v1__micro_time__descriptor,
         JSON_MICRO_TIME},
        {&k8s__io__apimachinery__pkg__apis__meta__v1__fields_v1__descriptor,
         JSON_RAW},
        {&k8s__io__apimachinery__pkg__runtime__raw_extension__descriptor,
         JSON_RAW},
        {&google__protobuf__timestamp__descriptor, JSON_TIMESTAMP},
        {&google__protobuf__double_value__descriptor, JSON_DOUBLE},
        {&google__protobuf__uint32_value__descriptor, JSON_UINT32},
    };

    for (size_t i = 0; i < ARRAY_COUNT(specials); i++) {
        if (type == specials[i].type) {
            return specials[i].special;
        }
    }
    return JSON_PLAIN;
}

bool json_is_kubernetes(const ProtobufCMessageDescriptor *type)
{
    return str_starts_with(str_of(type->name), STR("k8s.io."));
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool json_is_inlined(const ProtobufCMessageDescriptor *parent,
                     const ProtobufCFieldDescriptor *field)
{
    static const char *const names[] = {
        "ephemeralContainerCommon", "handler",
        "ingressRuleValue",         "localObjectReference",
        "persistentVolumeSource",   "volumeSource",
    };

    return field->type == PROTOBUF_C_TYPE_MESSAGE &&
           json_is_kubernetes(parent) &&
           is_one_of(field->name, names, ARRAY_COUNT(names));
}

bool json_is_map(const ProtobufCMessageDescriptor *parent,
                 const ProtobufCFieldDescriptor *field)
{
    if (field->label != PROTOBUF_C_LABEL_REPEATED ||
        field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return false;
    }
    /* protobuf-c keeps no mark of a map; protoc makes its entry a message
     * inside the parent, and nothing else is called that. */
    const ProtobufCMessageDescriptor *entry = field->descriptor;
    size_t parent_bytes = strlen(parent->name);
    return entry->n_fields == 2 && strcmp(entry->fields[0].name, "key") == 0 &&
           strcmp(entry->fields[1].name, "value") == 0 &&
           str_starts_with(str_of(entry->name), str_of(parent->name)) &&
           entry->name[parent_bytes] == '.';
}

bool json_is_zero_absent(const char *field_name)
{
    /* Plain scalars in Kubernetes' own types, which its clients always
     * send. */
    static const char *const names[] = {
        "failureThreshold",
        "generation",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "hostPort",
        "initialDelaySeconds",
        "nodePort",
        "periodSeconds",
        "publishNotReadyAddresses",
        "readOnly",
        "stdin",
        "stdinOnce",
        "successThreshold",
        "timeoutSeconds",
        "tty",
        "unschedulable",
    };

    return is_one_of(field_name, names, ARRAY_COUNT(names));
}

static char upper_of(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

const char *json_key_of(const ProtobufCMessageDescriptor *parent,
                        const ProtobufCFieldDescriptor *field,
                        char text[JSON_KEY_BYTES_MAX])
{
    size_t at = 0;
    bool is_next_upper = false;

    if (json_is_kubernetes(parent)) {
        return field->name;
    }
    for (const char *p = field->name; *p; p++) {
        if (*p == '_') {
            is_next_upper = true;
            continue;
        }
        ASSERT(at + 1 < JSON_KEY_BYTES_MAX);
        text[at++] = is_next_upper ? upper_of(*p) : *p;
        is_next_upper = false;
    }
    text[at] = '\0';
    return text;
}

size_t json_enum_prefix_bytes(const ProtobufCEnumDescriptor *type)
{
    return type == &api__retry_action__descriptor ? sizeof("RETRY_ACTION_") - 1
                                                  : 0;
}

size_t json_value_bytes(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM:
        return 4;
    }
    ASSERT(!"protobuf has no other type");
    return 0;
}
