/* Preloaded: the wall clock is CLOCK_SHIFT_S seconds ahead. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    const char *shift = getenv("CLOCK_SHIFT_S");
    int rc = (int)syscall(SYS_clock_gettime, clock, ret_time);

    if (rc == 0 && clock == CLOCK_REALTIME && shift) {
        ret_time->tv_sec += strtoll(shift, NULL, 10);
    }
    return rc;
}
