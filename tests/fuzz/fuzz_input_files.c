/* The files that a job brings. */
#include "fuzz.h"
#include "wire/text/inner_path.h"
#include "wire/text/input_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_arena arena = {0};
    auto_strbuf once = {0};
    struct input_file *files, *again;
    struct err err;

    int count =
        input_files_read(str_make(bytes, byte_count), &arena, &files, &err);
    ASSERT(count >= 0 ? count <= INPUT_FILES_MAX
                      : count == -ERR_INVALID || count == -ERR_LIMIT);
    for (int i = 0; i < count; i++) {
        ASSERT(inner_path_is_good(files[i].path));
        input_files_add(&once, files[i].path, files[i].bytes);
    }
    if (count > 0) {
        int rc = input_files_read(strbuf_str(&once), &arena, &again, &err);
        ASSERT(rc == count);
        for (int i = 0; i < count; i++) {
            ASSERT(str_equal(files[i].bytes, again[i].bytes));
        }
    }
    return 0;
}
