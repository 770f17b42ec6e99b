/* Policies, as YAML. */
#include "fuzz.h"
#include "wire/policy/policy_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_arena arena = {0};
    auto_strbuf first = {0}, second = {0};
    auto_mem struct policy *policy = mem_alloc(sizeof(*policy));
    struct err err = {{0}};

    if (policy_read(str_make(bytes, byte_count), "fuzz", &arena, policy, &err) <
        0) {
        ASSERT(err.text[0]);
        return 0;
    }
    policy_print(policy, &first);
    int rc = policy_read(strbuf_str(&first), "print", &arena, policy, &err);
    ASSERT(rc == 0);
    policy_print(policy, &second);
    ASSERT(str_equal(strbuf_str(&first), strbuf_str(&second)));
    return 0;
}
