#include "base/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>

enum { RETRY_MS = 10 };

int lock_exclusive(int fd, int wait_ms)
{
    const struct timespec pause = {0, RETRY_MS * 1000000};

    for (int waited_ms = 0;; waited_ms += RETRY_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return 0;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return -ERR_IO;
        }
        if (waited_ms >= wait_ms) {
            return -ERR_CONFLICT;
        }
        nanosleep(&pause, NULL);
    }
}
