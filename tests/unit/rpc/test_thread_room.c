/*
 * Whether gRPC's threads can be started (src/rpc/thread_room.h).
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/thread_room.h"
#include "unit.h"

static void there_is_room_here(void **state)
{
    struct err err;
    (void)state;

    assert_int_equal(thread_room_check(&err), 0);
}

/* In a process of its own, which has no memory for a stack; those that the C
 * library keeps of threads that have ended are too small. */
static int check_without_memory(void)
{
    enum { STACK_BYTES = 64 << 20 };
    struct rlimit none = {0, 0};
    struct err err = {0};
    pthread_attr_t attributes;

    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstacksize(&attributes, STACK_BYTES) != 0 ||
        pthread_setattr_default_np(&attributes) != 0 ||
        setrlimit(RLIMIT_DATA, &none) < 0) {
        return 1;
    }
    return thread_room_check(&err) == -ERR_IO &&
                   strstr(err.text, "only 0 can be started")
               ? 0
               : 2;
}

static void what_cannot_start_is_told(void **state)
{
    int status = -1;
    (void)state;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need memory themselves for each thread */
#endif
    pid_t child = fork();
    if (child == 0) {
        _exit(check_without_memory());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_room_here),
        cmocka_unit_test(what_cannot_start_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
