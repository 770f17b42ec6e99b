/* JSON files: the first byte picks the message, the rest is JSON. */
#include "armada/event.pb-c.h"
#include "armada/executorapi.pb-c.h"
#include "armada/queue.pb-c.h"
#include "armada/retry.pb-c.h"
#include "armada/submit.pb-c.h"
#include "fuzz.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

static const ProtobufCMessageDescriptor *const types[] = {
    &api__job_submit_request_item__descriptor,
    &api__queue__descriptor,
    &api__retry_policy__descriptor,
    &api__event_message__descriptor,
    &executorapi__lease_request__descriptor,
    &k8s__io__api__core__v1__pod__descriptor,
    &k8s__io__api__core__v1__pod_spec__descriptor,
    &k8s__io__api__core__v1__service__descriptor,
};

static void check(const ProtobufCMessageDescriptor *type, const json_t *json)
{
    auto_arena arena = {0};
    struct wire_limits limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, WIRE_DEPTH_MAX,
                                 false};
    ProtobufCMessage *message, *copy;
    struct err err = {{0}};

    if (wire_json_read(type, json, 0, &arena, &message, &err) < 0) {
        ASSERT(err.text[0]);
        return;
    }
    struct str bytes = wire_encode_arena(message, &arena);
    int rc = wire_decode(type, bytes, &limits, &arena, &copy, NULL);
    ASSERT(rc == 0);
    auto_json_t *first = wire_json_write(copy, 0);
    rc = wire_json_read(type, first, WIRE_JSON_STRICT, &arena, &copy, NULL);
    ASSERT(rc == 0);
    auto_json_t *second = wire_json_write(copy, 0);
    ASSERT(json_equal(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    if (byte_count > 0) {
        auto_json_t *json = json_loadb((const char *)bytes + 1, byte_count - 1,
                                       JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        if (json) {
            check(types[bytes[0] % ARRAY_COUNT(types)], json);
        }
    }
    return 0;
}
