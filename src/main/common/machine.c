#include "main/common/machine.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t mono_ns(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int64_t wall_ms(const struct clock *clock)
{
    struct timespec now;

    (void)clock;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    char *p = bytes;

    (void)rng;
    while (byte_count > 0) {
        ssize_t got = getrandom(p, byte_count, 0);
        if (got < 0) {
            ASSERT(errno == EINTR);
            continue;
        }
        p += got;
        byte_count -= (size_t)got;
    }
}

const struct clock machine_clock = {mono_ns, wall_ms};
const struct rng machine_rng = {fill};

void machine_raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    rlim_t wanted =
        limit.rlim_max < MACHINE_FILES_MAX ? limit.rlim_max : MACHINE_FILES_MAX;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}
