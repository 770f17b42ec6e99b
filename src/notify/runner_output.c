#include "notify/runner_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

int runner_output_open(struct runner_output *output)
{
    int pair[2];

    output->fd = -1;
    output->byte_count = 0;
    output->is_cut = false;
    if (pipe2(pair, O_CLOEXEC) < 0) {
        return -1;
    }
    /* Only our end waits for nothing: a command's writes work as ever. */
    (void)fcntl(pair[0], F_SETFL, O_NONBLOCK);
    output->fd = pair[0];
    return pair[1];
}

void runner_output_close(struct runner_output *output)
{
    if (output->fd >= 0) {
        close(output->fd);
        output->fd = -1;
    }
}

/* Read once: whether something came. */
static bool take(struct runner_output *output)
{
    char piece[RUNNER_OUTPUT_BYTES_MAX];
    size_t room = sizeof(output->bytes) - output->byte_count;
    ssize_t count = output->fd < 0 ? 0 : read(output->fd, piece, sizeof(piece));

    if (count > 0) {
        size_t kept = (size_t)count < room ? (size_t)count : room;
        memcpy(output->bytes + output->byte_count, piece, kept);
        output->byte_count += kept;
        output->is_cut |= kept < (size_t)count;
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        runner_output_close(output);
    }
    return count > 0;
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

bool runner_output_await(struct runner_output *output, pid_t pid,
                         int timeout_ms)
{
    struct pollfd waits[] = {
        {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
        {.events = POLLIN}};
    int64_t until_ms = now_ms() + timeout_ms;
    bool has_ended = false, is_failing = waits[0].fd < 0;

    for (int64_t left_ms = timeout_ms; !has_ended && !is_failing && left_ms > 0;
         left_ms = until_ms - now_ms()) {
        waits[1].fd = output->fd;
        int count = poll(waits, ARRAY_COUNT(waits), (int)left_ms);
        is_failing = count < 0 && errno != EINTR;
        has_ended = count > 0 && waits[0].revents;
        if (count > 0 && waits[1].revents) {
            (void)take(output);
        }
    }
    if (waits[0].fd >= 0) {
        close(waits[0].fd);
    }
    return has_ended;
}

void runner_output_finish(struct runner_output *output)
{
    /* Somebody outside the command's group may write on and on. */
    while (!output->is_cut && take(output)) {
    }
}
