#include "main/common/stopper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int stopper_open(struct stopper *stopper, struct err *err)
{
    stopper->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return stopper->fd < 0
               ? err_set(err, -ERR_IO, "eventfd: %s", strerror(errno))
               : 0;
}

void stopper_close(struct stopper *stopper)
{
    if (stopper->fd >= 0) {
        (void)close(stopper->fd);
    }
    stopper->fd = -1;
}

bool stopper_is_signalled(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 ||
                                         sigismember(&pending, SIGINT) == 1);
}

void stopper_stop(struct stopper *stopper)
{
    uint64_t one = 1;

    ssize_t written = write(stopper->fd, &one, sizeof(one));
    (void)written;
}

bool stopper_is_stopped(const struct stopper *stopper)
{
    return stopper_wait(stopper, 0);
}

bool stopper_wait(const struct stopper *stopper, int timeout_ms)
{
    struct pollfd wait = {.fd = stopper->fd, .events = POLLIN};

    return poll(&wait, 1, timeout_ms) > 0;
}
