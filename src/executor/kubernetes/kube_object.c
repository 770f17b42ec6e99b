#include "executor/kubernetes/kube_object.h"

#include "wire/message/message.h"
#include "wire/text/utf8.h"

enum { FIELDS_MAX = 1 << 18, MEMORY_BYTES_MAX = 256 << 20 };

/* The end of the year 9999. */
static const int64_t KUBE_TIME_S_MAX = 253402300799;

int kube_object_decode(const ProtobufCMessageDescriptor *type,
                       struct str object, struct arena *arena,
                       ProtobufCMessage **ret_message, struct err *err)
{
    const struct wire_limits limits = {
        .byte_count_max = KUBE_OBJECT_BYTES_MAX,
        .field_count_max = FIELDS_MAX,
        .memory_bytes_max = MEMORY_BYTES_MAX,
        .depth_max = WIRE_DEPTH_MAX,
        .mends_text = true,
    };

    return wire_decode(type, object, &limits, arena, ret_message, err);
}

int64_t
kube_time_ms(const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Time *time)
{
    return !time || time->seconds < 0 || time->seconds > KUBE_TIME_S_MAX
               ? 0
               : time->seconds * 1000 + time->nanos / 1000000;
}

struct str kube_text(const char *text)
{
    struct str kept = str_of(text);

    if (kept.byte_count > KUBE_TEXT_BYTES_MAX) {
        kept.byte_count = KUBE_TEXT_BYTES_MAX;
        kept.byte_count = utf8_text_bytes(kept);
    }
    return kept;
}
