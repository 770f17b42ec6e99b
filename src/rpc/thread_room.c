#include "rpc/thread_room.h"

#include <pthread.h>
#include <unistd.h>

enum {
    /* gRPC starts one for each processor, at least 2 and at most 32, and some
     * for names, timers and the channel's own queue. */
    PER_PROCESSOR_MIN = 2,
    PER_PROCESSOR_MAX = 32,
    OTHERS = 7,
    THREADS_MAX = PER_PROCESSOR_MAX + OTHERS,
};

static uint32_t needed_count(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return OTHERS +
           (uint32_t)(processors < PER_PROCESSOR_MIN   ? PER_PROCESSOR_MIN
                      : processors > PER_PROCESSOR_MAX ? PER_PROCESSOR_MAX
                                                       : processors);
}

/* All of them live until the gate opens. */
static void *pass_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int thread_room_check(struct err *err)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[THREADS_MAX];
    uint32_t needed = needed_count();
    uint32_t count = 0;

    pthread_mutex_lock(&gate);
    while (count < needed &&
           pthread_create(&threads[count], NULL, pass_gate, &gate) == 0) {
        count++;
    }
    pthread_mutex_unlock(&gate);
    for (uint32_t i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return count == needed
               ? 0
               : err_set(err, -ERR_IO,
                         "%u threads are needed and only %u can be started; "
                         "raise the limits of memory (ulimit -d, -v) or of "
                         "processes (ulimit -u)",
                         needed, count);
}
