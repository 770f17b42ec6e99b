/*
 * lock: one holder at a time; one that lets go soon is waited for.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "unit.h"

static int open_again(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    int again = dup(fileno(file));
    fclose(file);
    return again;
}

static void *lock_in_thread(void *ctx)
{
    int *fd = ctx;

    *fd = lock_exclusive(*fd, LOCK_WAIT_MS);
    return NULL;
}

static void a_holder_that_lets_go_is_waited_for(void **state)
{
    char name[] = "/tmp/berth-lock-XXXXXX";
    int first = mkstemp(name);
    int second = open_again(first);
    int result = second;
    pthread_t thread;
    (void)state;

    assert_int_equal(lock_exclusive(first, LOCK_WAIT_MS), 0);
    pthread_create(&thread, NULL, lock_in_thread, &result);
    close(first);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
    close(second);
    unlink(name);
}

static void a_holder_that_stays_keeps_it(void **state)
{
    char name[] = "/tmp/berth-lock-XXXXXX";
    int first = mkstemp(name);
    int second = open_again(first);
    (void)state;

    assert_int_equal(lock_exclusive(first, LOCK_WAIT_MS), 0);
    assert_int_equal(lock_exclusive(second, LOCK_WAIT_MS), -ERR_CONFLICT);
    assert_int_equal(lock_exclusive(-1, LOCK_WAIT_MS), -ERR_IO);
    close(first);
    close(second);
    unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_holder_that_lets_go_is_waited_for),
        TEST(a_holder_that_stays_keeps_it),
    };
    return RUN_TESTS(tests);
}
