/* Pod specs, encoded. */
#include "fuzz.h"
#include "wire/kube/pod.h"
#include "wire/message/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_arena arena = {0};
    auto_strbuf first = {0}, second = {0};
    struct wire_limits limits = wire_request_limits;
    struct requirement requirement, again;
    ProtobufCMessage *message;
    struct err err = {{0}};

    limits.memory_bytes_max = 16 << 20;
    if (wire_decode(&k8s__io__api__core__v1__pod_spec__descriptor,
                    str_make(bytes, byte_count), &limits, &arena, &message,
                    NULL) < 0) {
        return 0;
    }
    if (pod_requirement((K8s__Io__Api__Core__V1__PodSpec *)message, &arena,
                        &requirement, &err) < 0) {
        ASSERT(err.text[0]);
        return 0;
    }
    requirement_pack(&first, &requirement);
    int rc = requirement_unpack(strbuf_str(&first), &arena, &again);
    ASSERT(rc == 0);
    requirement_pack(&second, &again);
    ASSERT(str_equal(strbuf_str(&first), strbuf_str(&second)));
    return 0;
}
