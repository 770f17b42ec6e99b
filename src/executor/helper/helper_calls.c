#include "executor/helper/helper_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>

/* What each request may hold; 0 to 0 for what it does not use. */
static const struct {
    int64_t number_min, number_max, limit_min, limit_max;
    uint32_t byte_count_max;
    bool has_run, has_job;
} bounds[HELPER_KINDS] = {
    [HELPER_CREATE] = {.byte_count_max = HELPER_CREATE_BYTES_MAX,
                       .has_run = true,
                       .has_job = true},
    [HELPER_STOP] = {.number_min = -1,
                     .number_max = HELPER_GRACE_MS_MAX,
                     .has_run = true},
    [HELPER_ACK] = {.number_min = RECONCILE_PENDING,
                    .number_max = RECONCILE_LOST,
                    .has_run = true},
    [HELPER_FORGET] = {.has_run = true},
    [HELPER_STATUS] = {.has_run = true},
    [HELPER_LOGS] = {.number_min = -1,
                     .number_max = INT64_MAX,
                     .limit_min = 1,
                     .limit_max = RUNTIME_LOG_BYTES_MAX,
                     .byte_count_max = HELPER_LOGS_BYTES_MAX,
                     .has_job = true},
    [HELPER_FILES] = {.number_max = INT64_MAX,
                      .limit_max = RUNTIME_FILE_BYTES_MAX,
                      .byte_count_max = HELPER_FILES_BYTES_MAX,
                      .has_job = true},
    [HELPER_EXEC] = {.has_job = true},
};

int helper_request_check(const struct helper_request *request, bool is_for_logs,
                         struct err *err)
{
    uint32_t kind = request->kind;

    if (kind >= HELPER_KINDS || helper_is_for_logs(kind) != is_for_logs) {
        return err_set(err, -ERR_INVALID, "there is no request %" PRIu32, kind);
    }
    bool is_good = request->byte_count <= bounds[kind].byte_count_max &&
                   request->number >= bounds[kind].number_min &&
                   request->number <= bounds[kind].number_max &&
                   request->limit >= bounds[kind].limit_min &&
                   request->limit <= bounds[kind].limit_max &&
                   key128_is_none(request->run.v) == !bounds[kind].has_run &&
                   key128_is_none(request->job.v) == !bounds[kind].has_job;
    return is_good ? 0
                   : err_set(err, -ERR_INVALID,
                             "request %" PRIu32 " is out of its bounds", kind);
}

static int send_all(int fd, const char *bytes, size_t byte_count)
{
    while (byte_count > 0) {
        ssize_t sent = send(fd, bytes, byte_count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return -ERR_IO;
        }
        bytes += sent;
        byte_count -= (size_t)sent;
    }
    return 0;
}

int helper_send(int fd, const void *head, size_t head_bytes, struct str payload)
{
    int rc = send_all(fd, head, head_bytes);

    return rc < 0 ? rc : send_all(fd, payload.p, payload.byte_count);
}

int helper_receive(int fd, void *bytes, size_t byte_count)
{
    char *p = bytes;

    while (byte_count > 0) {
        ssize_t got = recv(fd, p, byte_count, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return -ERR_IO;
        }
        p += got;
        byte_count -= (size_t)got;
    }
    return 0;
}

int helper_receive_into(int fd, struct strbuf *buf, size_t byte_count)
{
    char *room = strbuf_reserve(buf, byte_count);

    return room ? helper_receive(fd, room, byte_count) : -ERR_IO;
}
