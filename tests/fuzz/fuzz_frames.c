/* What a client sends over HTTP/2, as the guard takes it. */
#include "fuzz.h"
#include "rpc/guard/frames.h"

static const struct str mark = {"mark", 4};

/* Take the bytes in pieces of `step`; what came of it. */
static enum frames_fault take(struct str bytes, size_t step,
                              struct frames *frames, struct strbuf *out)
{
    enum frames_fault fault = FRAMES_OK;

    for (size_t at = 0; at < bytes.byte_count && fault == FRAMES_OK;
         at += step) {
        size_t left = bytes.byte_count - at;
        fault = frames_take(frames,
                            str_make(bytes.p + at, left < step ? left : step),
                            mark, out);
    }
    return fault;
}

/* However the bytes come, the same goes on, and no header block is longer than
 * it may be. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    struct str all = str_make(bytes, byte_count);
    struct frames whole = {0}, pieces = {0};
    auto_strbuf first = {0}, second = {0};
    enum frames_fault fault = take(all, byte_count, &whole, &first);

    ASSERT(take(all, 1 + byte_count % 7, &pieces, &second) == fault);
    ASSERT(str_equal(strbuf_str(&first), strbuf_str(&second)));
    ASSERT(whole.request_count == pieces.request_count);
    ASSERT(fault != FRAMES_OK || whole.block_bytes <= FRAMES_HEADER_BYTES_MAX);
    return 0;
}
