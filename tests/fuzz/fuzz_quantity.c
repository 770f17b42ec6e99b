/* Amounts. */
#include "fuzz.h"
#include "model/quantity.h"

static void check(int64_t milli, bool is_binary)
{
    char text[QUANTITY_TEXT_BYTES_MAX];
    int64_t again;

    int rc =
        quantity_parse(str_of(quantity_format(milli, is_binary, text)), &again);
    ASSERT(rc == 0);
    ASSERT(again == milli);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    int64_t milli;

    if (quantity_parse(str_make(bytes, byte_count), &milli) == 0) {
        check(milli, false);
        check(milli, true);
    }
    return 0;
}
