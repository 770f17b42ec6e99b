/*
 * peer_process: what runs outside of jobs is told from what the shim marked.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "loopback.h"
#include "rpc/guard/peer_process.h"

enum { MARK = 1 << 20 };

/* A process that holds the socket until it is ended, as a job or not. */
static pid_t hold(int fd, bool is_job)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {MARK, MARK}, more = {MARK + 1, MARK + 1};
        bool is_well = !is_job || setrlimit(RLIMIT_LOCKS, &limit) == 0;
        /* It cannot take the mark off, unless it is root. */
        is_well = is_well && (!is_job || geteuid() == 0 ||
                              setrlimit(RLIMIT_LOCKS, &more) < 0);
        close(ready[0]);
        (void)!write(ready[1], is_well ? "+" : "-", 1);
        pause();
        _exit(fd);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, '+');
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void check_held(bool is_job, bool is_outside)
{
    struct pair pair = connect_over("127.0.0.1");
    uint32_t inode = inode_of(pair.client);
    pid_t pid = hold(pair.client, is_job);

    close(pair.client);
    assert_int_equal(peer_process_is_outside_jobs(geteuid(), inode),
                     is_outside);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(peer_process_is_outside_jobs(geteuid(), inode));
    close(pair.server);
}

static void a_process_is_told_from_a_job(void **state)
{
    (void)state;
    check_held(false, true);
    check_held(true, false);
}

static void what_nobody_of_the_user_holds_is_not_outside(void **state)
{
    struct pair pair = connect_over("127.0.0.1");
    uint32_t inode = inode_of(pair.client);

    (void)state;
    assert_true(peer_process_is_outside_jobs(geteuid(), inode));
    assert_false(peer_process_is_outside_jobs(geteuid() + 1, inode));
    close(pair.client);
    assert_false(peer_process_is_outside_jobs(geteuid(), inode));
    close(pair.server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_process_is_told_from_a_job),
        TEST(what_nobody_of_the_user_holds_is_not_outside),
    };

    return RUN_TESTS(tests);
}
