/* Requests: the first byte picks the message, the rest is its encoding. */
#include "armada/binoculars.pb-c.h"
#include "armada/event.pb-c.h"
#include "armada/executorapi.pb-c.h"
#include "armada/job.pb-c.h"
#include "armada/queue.pb-c.h"
#include "armada/retry.pb-c.h"
#include "armada/submit.pb-c.h"
#include "berth/log.pb-c.h"
#include "fuzz.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

static const ProtobufCMessageDescriptor *const types[] = {
    &api__job_submit_request__descriptor,
    &api__queue_list__descriptor,
    &api__retry_policy__descriptor,
    &api__job_set_request__descriptor,
    &api__job_details_response__descriptor,
    &api__event_message__descriptor,
    &executorapi__lease_request__descriptor,
    &executorapi__event_list__descriptor,
    &binoculars__log_request__descriptor,
    &berth__log__event_sequence__descriptor,
    &k8s__io__api__core__v1__pod__descriptor,
};

static void check_json(const ProtobufCMessage *message, struct arena *arena)
{
    auto_json_t *json = wire_json_write(message, 0);
    ProtobufCMessage *again;

    /* What a stranger encodes need not be good JSON (a quantity may be any
     * text), so the way back may refuse, but not break. */
    (void)!wire_json_read(message->descriptor, json, 0, arena, &again, NULL);
}

static void check(const ProtobufCMessageDescriptor *type, struct str bytes,
                  bool mends_text)
{
    auto_arena arena = {0};
    struct wire_limits limits = wire_request_limits;
    ProtobufCMessage *message, *again;

    limits.memory_bytes_max = 16 << 20;
    limits.mends_text = mends_text;
    if (wire_decode(type, bytes, &limits, &arena, &message, NULL) < 0) {
        return;
    }
    ASSERT(arena.byte_count <= limits.memory_bytes_max + bytes.byte_count + 1);
    struct str first = wire_encode_arena(message, &arena);
    limits.byte_count_max = SIZE_MAX;
    limits.memory_bytes_max = SIZE_MAX;
    limits.mends_text = false;
    int rc = wire_decode(type, first, &limits, &arena, &again, NULL);
    ASSERT(rc == 0);
    struct str second = wire_encode_arena(again, &arena);
    ASSERT(str_equal(first, second));
    check_json(message, &arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    if (byte_count > 0) {
        check(types[(bytes[0] & 0x7f) % ARRAY_COUNT(types)],
              str_make(bytes + 1, byte_count - 1), bytes[0] & 0x80);
    }
    return 0;
}
