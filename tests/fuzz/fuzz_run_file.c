/* What executor and shim write for each other, and what a crash, or a job that
 * got at it, may have left there. */
#include "executor/files/run_file.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    struct run_spec spec;
    struct run_state state;

    if (run_spec_decode(str_make(bytes, byte_count), &spec) == 0) {
        ASSERT(spec.containers.count > 0);
        ASSERT(spec.containers.items[0].args.items[0] != NULL);
        run_spec_fini(&spec);
    }
    if (run_state_decode(str_make(bytes, byte_count), &state) == 0) {
        ASSERT(state.phase >= RUN_PENDING && state.phase <= RUN_FAILED);
        run_state_fini(&state);
    }
    return 0;
}
