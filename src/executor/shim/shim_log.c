#include "executor/shim/shim_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

char *shim_log_time(int64_t wall_ns, char text[40])
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    size_t n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, 40 - n, ".%09ldZ", (long)(wall_ns % NS_PER_S));
    return text;
}

int shim_log_open(struct shim_log *log, int dir_fd, const char *name,
                  int64_t byte_count_max, struct err *err)
{
    int fd =
        openat(dir_fd, name,
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", name, strerror(errno));
    }
    *log = (struct shim_log){.fd = fd, .byte_count_max = byte_count_max};
    return 0;
}

static void put_line(struct shim_log *log, struct str line)
{
    struct timespec now;
    char time[40];

    clock_gettime(CLOCK_REALTIME, &now);
    shim_log_time((int64_t)now.tv_sec * NS_PER_S + now.tv_nsec, time);
    struct iovec parts[] = {
        {time, strlen(time)},
        {(char[]){' '}, 1},
        {(void *)(uintptr_t)line.p, line.byte_count},
        {(char[]){'\n'}, 1},
    };
    ssize_t written;
    do {
        written = writev(log->fd, parts, (int)ARRAY_COUNT(parts));
    } while (written < 0 && errno == EINTR);
    if (written > 0) {
        log->byte_count += written;
    }
}

static void take_line(struct shim_log *log, struct str line)
{
    if (log->is_full || log->fd < 0) {
        return;
    }
    if (log->byte_count + (int64_t)line.byte_count > log->byte_count_max) {
        char text[96];
        int n = snprintf(text, sizeof(text),
                         "berth: the log is full (%lld bytes); the rest is "
                         "dropped",
                         (long long)log->byte_count_max);
        log->is_full = true;
        put_line(log, str_make(text, (size_t)n));
        return;
    }
    put_line(log, line);
}

static void keep_tail(struct shim_log *log, struct str bytes)
{
    if (bytes.byte_count >= SHIM_LOG_TAIL_BYTES_MAX) {
        memcpy(log->tail, bytes.p + bytes.byte_count - SHIM_LOG_TAIL_BYTES_MAX,
               SHIM_LOG_TAIL_BYTES_MAX);
        log->tail_byte_count = SHIM_LOG_TAIL_BYTES_MAX;
        return;
    }
    size_t room = SHIM_LOG_TAIL_BYTES_MAX - bytes.byte_count;
    if (log->tail_byte_count > room) {
        memmove(log->tail, log->tail + log->tail_byte_count - room, room);
        log->tail_byte_count = room;
    }
    memcpy(log->tail + log->tail_byte_count, bytes.p, bytes.byte_count);
    log->tail_byte_count += bytes.byte_count;
}

void shim_log_take(struct shim_log *log, int stream, struct str bytes)
{
    ASSERT(stream >= 0 && stream < SHIM_LOG_STREAMS);

    if (stream == 1 && bytes.byte_count > 0) {
        keep_tail(log, bytes);
    }
    while (bytes.byte_count > 0) {
        char *line = log->streams[stream].line;
        size_t *have = &log->streams[stream].byte_count;
        const char *end = memchr(bytes.p, '\n', bytes.byte_count);
        size_t n = end ? (size_t)(end - bytes.p) : bytes.byte_count;
        if (n > SHIM_LOG_LINE_BYTES_MAX - *have) {
            n = SHIM_LOG_LINE_BYTES_MAX - *have;
            end = NULL;
        }
        memcpy(line + *have, bytes.p, n);
        *have += n;
        if (end || *have == SHIM_LOG_LINE_BYTES_MAX) {
            take_line(log, str_make(line, *have));
            *have = 0;
        }
        n += end ? 1 : 0;
        bytes = str_make(bytes.p + n, bytes.byte_count - n);
    }
}

void shim_log_close(struct shim_log *log)
{
    for (int s = 0; s < SHIM_LOG_STREAMS; s++) {
        if (log->streams[s].byte_count > 0) {
            take_line(log, str_make(log->streams[s].line,
                                    log->streams[s].byte_count));
            log->streams[s].byte_count = 0;
        }
    }
    if (log->fd >= 0) {
        close(log->fd);
        log->fd = -1;
    }
}
