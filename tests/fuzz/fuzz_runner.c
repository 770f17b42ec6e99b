/* A request to the process that runs commands for notes, which has no filter
 * against programs: one that is believed names a command of the configuration,
 * and has its id in it. */
#include "fuzz.h"
#include "notify/note.h"
#include "notify/runner.h"
#include "notify/runner_process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t byte_count)
{
    static struct str word = {"/bin/true", 9};
    static const struct notify_target items[] = {
        {.command = &word, .command_count = 1}, {.command_count = 0}};
    const struct runner_targets targets = {items, ARRAY_COUNT(items)};
    struct runner_request request;
    struct str message = str_make((const char *)data, byte_count);

    if (runner_request_read(&targets, message, &request)) {
        ASSERT(request.target == 0 && request.number < RUNNER_FLYING_MAX);
        ASSERT(request.id_bytes < NOTE_ID_BYTES_MAX);
        ASSERT(request.id_bytes <= byte_count - sizeof(request));
    }
    return 0;
}
