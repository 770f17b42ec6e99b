/* What the front end and the helper, which runs as root, tell each other: a
 * byte that picks what, then its bytes.  What was read is written so that it
 * reads as the same; a request that is believed is within its bounds. */
#include "executor/helper/helper_calls.h"
#include "executor/helper/helper_codec.h"
#include "fuzz.h"
#include "wire/text/inner_path.h"

typedef bool recode_fn(struct str bytes, struct strbuf *buf);

static bool recode_run(struct str bytes, struct strbuf *buf)
{
    auto_arena arena = {0};
    struct runtime_run run = {.run.v = {0, 1}};
    struct err err;

    int rc = helper_take_run(bytes, &arena, &run, &err);
    ASSERT(rc == 0 || rc == -ERR_INVALID);
    if (rc == 0) {
        ASSERT(strlen(run.user.p) == run.user.byte_count);
        ASSERT(strlen(run.node_name.p) == run.node_name.byte_count);
        helper_put_run(buf, &run);
    }
    return rc == 0;
}

static bool recode_query(struct str bytes, struct strbuf *buf)
{
    struct runtime_log_query query = {.line_count_max = -1};
    struct err err;

    int rc = helper_take_query(bytes, &query, &err);
    ASSERT(rc == 0 || rc == -ERR_INVALID);
    if (rc == 0) {
        helper_put_query(buf, &query);
    }
    return rc == 0;
}

static bool recode_files_query(struct str bytes, struct strbuf *buf)
{
    struct runtime_files_query query = {.byte_count_max = 1};
    struct err err;

    int rc = helper_take_files_query(bytes, &query, &err);
    ASSERT(rc == 0 || rc == -ERR_INVALID);
    if (rc == 0) {
        /* What is asked of the kernel stays below its folder. */
        ASSERT(!inner_path_is_good(query.path) ||
               (query.path.p[0] != '/' && query.path.byte_count < 4096));
        helper_put_files_query(buf, &query);
    }
    return rc == 0;
}

static bool recode_change(struct str bytes, struct strbuf *buf)
{
    struct helper_reader reader = {.rest = bytes};
    struct runtime_pod pod;
    struct runtime_change change;

    helper_take_change(&reader, &pod, &change);
    helper_put_change(buf, &change);
    return helper_is_whole(&reader);
}

static bool recode_status(struct str bytes, struct strbuf *buf)
{
    auto_arena arena = {0};
    struct helper_reader reader = {.rest = bytes};
    struct runtime_status status;

    helper_take_status(&reader, &arena, &status);
    ASSERT(status.ended_count <= RUNTIME_CONTAINERS_MAX);
    helper_put_status(buf, &status);
    return helper_is_whole(&reader);
}

static bool recode_nodes(struct str bytes, struct strbuf *buf)
{
    auto_ptr(node_set) nodes = node_set_create();
    auto_ptr(node_set) fresh = node_set_create();
    struct helper_reader reader = {.rest = bytes};
    uint32_t count;

    helper_take_nodes(&reader, nodes);
    bool is_whole = helper_is_whole(&reader);
    const struct node_record *all = node_set_all(nodes, &count);
    for (uint32_t i = 0; i < count; i++) {
        node_set_put(fresh, &all[i]);
    }
    helper_put_nodes(buf, fresh, 0);
    return is_whole;
}

static void check_request(struct str bytes)
{
    struct helper_request request;
    struct err err;

    if (bytes.byte_count != sizeof(request)) {
        return;
    }
    memcpy(&request, bytes.p, sizeof(request));
    for (int i = 0; i < 2; i++) {
        if (helper_request_check(&request, i == 1, &err) == 0) {
            ASSERT(helper_is_for_logs(request.kind) == (i == 1));
            ASSERT(request.kind < HELPER_KINDS);
            ASSERT(request.byte_count <= HELPER_CREATE_BYTES_MAX);
            ASSERT(request.number >= -1);
            ASSERT(request.limit >= 0 &&
                   request.limit <= RUNTIME_LOG_BYTES_MAX);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    static recode_fn *const recodes[] = {recode_run,    recode_query,
                                         recode_change, recode_status,
                                         recode_nodes,  recode_files_query};
    auto_strbuf once = strbuf_make(64 << 20), twice = strbuf_make(64 << 20);

    if (byte_count == 0) {
        return 0;
    }
    struct str rest = str_make((const char *)bytes + 1, byte_count - 1);
    if (bytes[0] >= ARRAY_COUNT(recodes)) {
        check_request(rest);
    } else if (recodes[bytes[0]](rest, &once)) {
        ASSERT(recodes[bytes[0]](strbuf_str(&once), &twice));
        ASSERT(str_equal(strbuf_str(&once), strbuf_str(&twice)));
    }
    return 0;
}
