/* Attacks on other processes, and processes that do not want to end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attacker.h"

enum {
    FORKS_MAX = 800,
    CHAIN_SECONDS = 20,
    CHAINS = 8,
    STOPPED = 50,
    ZOMBIES = 300,
    PATH_BYTES = 128,
};

static const int deaf_to[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1};

static void be_deaf(void)
{
    for (size_t i = 0; i < sizeof(deaf_to) / sizeof(deaf_to[0]); i++) {
        (void)signal(deaf_to[i], SIG_IGN);
    }
}

/* Call for each process outside; the first answer that is not NULL. */
static const char *each_outside(const char *(*act)(pid_t))
{
    char *pids = strdup(attack_text("ATTACK_PIDS"));
    const char *got = NULL;
    char *rest = pids;

    for (char *word; !got && (word = strsep(&rest, " "));) {
        got = *word ? act((pid_t)atoi(word)) : NULL;
    }
    free(pids);
    return got;
}

static const char *check_signal(pid_t pid)
{
    /* Of another namespace the number is nobody's, or one of ours. */
    return pid != getpid() && kill(pid, 0) == 0 ? "to signal a process outside"
                                                : NULL;
}

static const char *signals(void)
{
    const char *got = each_outside(check_signal);

    if (!got && getppid() > 0 && kill(getppid(), 0) == 0) {
        got = "to signal the shim";
    }
    return got;
}

static const char *signal_all(void)
{
    be_deaf();
    (void)kill(-1, SIGKILL);
    return NULL;
}

static const char *check_trace(pid_t pid)
{
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 ? "to trace" : NULL;
}

static const char *traces(void)
{
    const char *got = each_outside(check_trace);

    got = got ? got : check_trace(1);
    return got ? got : check_trace(getppid());
}

static const char *check_memory(pid_t pid)
{
    char path[PATH_BYTES], byte;
    struct iovec here = {&byte, 1}, there = {&byte, 1};

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    return pid != getpid() && attack_opens(path, O_RDWR) ? "to open memory"
           : pid != getpid() &&
                   process_vm_readv(pid, &here, 1, &there, 1, 0) > 0
               ? "to read memory"
               : NULL;
}

static const char *memory(void)
{
    const char *got = each_outside(check_memory);

    got = got ? got : check_memory(1);
    return got ? got : check_memory(getppid());
}

static const char *check_files(pid_t pid)
{
    char path[PATH_BYTES];
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

    snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)pid);
    return pid != getpid() && attack_opens(path, O_RDONLY) ? "to open files of"
           : pidfd >= 0 && syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0
               ? "to take files of"
               : NULL;
}

static const char *files_of_others(void)
{
    const char *got = each_outside(check_files);

    return got ? got : check_files(1);
}

static const char *open_files(void)
{
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            return "a file of the shim";
        }
    }
    return NULL;
}

/* What does not want to end. */

static const char *bomb(void)
{
    be_deaf();
    for (int i = 0; i < FORKS_MAX; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)setsid();
            for (;;) {
                pause();
            }
        }
        if (pid < 0) {
            break;
        }
    }
    attack_stay();
}

/* A child takes over from its parent, again and again: whoever looks for it
 * finds it gone. */
static const char *chain(void)
{
    time_t end = time(NULL) + CHAIN_SECONDS;

    be_deaf();
    for (int i = 0; i < CHAINS; i++) {
        if (fork() == 0) {
            while (time(NULL) < end) {
                (void)setsid();
                (void)attack_opens("beat", O_WRONLY | O_CREAT | O_TRUNC);
                if (fork() != 0) {
                    _exit(0);
                }
            }
            _exit(0);
        }
    }
    attack_stay();
}

static const char *deaf(void)
{
    be_deaf();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    attack_stay();
}

static void be_a_daemon(void)
{
    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0) {
            be_deaf();
            (void)prctl(PR_SET_NAME, "kworker/0:0");
            (void)!freopen("/dev/null", "w", stdout);
            for (;;) {
                pause();
            }
        }
        _exit(0);
    }
    (void)wait(NULL);
}

static const char *daemon_left(void)
{
    be_a_daemon();
    return NULL;
}

/* One that has thrown its environment away, by which it could be found. */
static const char *daemon_unknown(void)
{
    static char *const none[] = {NULL};

    if (fork() == 0) {
        (void)setsid();
        if (fork() == 0) {
            be_deaf();
            execle("/bin/sleep", "sleep", attack_text("ATTACK_MARK"), NULL,
                   none);
        }
        _exit(0);
    }
    (void)wait(NULL);
    return NULL;
}

static const char *stopped(void)
{
    for (int i = 0; i < STOPPED; i++) {
        if (fork() == 0) {
            (void)setsid();
            (void)raise(SIGSTOP);
        }
    }
    printf("up\n");
    (void)fflush(stdout);
    (void)raise(SIGSTOP);
    return NULL;
}

static const char *zombies(void)
{
    for (int i = 0; i < ZOMBIES; i++) {
        if (fork() == 0) {
            if (fork() == 0) {
                _exit(0);
            }
            _exit(0);
        }
    }
    return NULL;
}

static const char *shared_memory(void)
{
    (void)shmget((key_t)strtol(attack_text("ATTACK_MARK"), NULL, 10), 4096,
                 IPC_CREAT | 0600);
    return NULL;
}

/* More memory than its limit. */
static const char *hog(void)
{
    size_t step = 16 << 20;

    for (size_t have = 0; have < (size_t)1 << 30; have += step) {
        void *more = mmap(NULL, step, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) {
            return NULL;
        }
        memset(more, 1, step);
    }
    return "a gigabyte of memory";
}

const struct attack attacks_on_processes[] = {
    {"signals", signals},
    {"signal-all", signal_all},
    {"traces", traces},
    {"memory", memory},
    {"files-of-others", files_of_others},
    {"open-files", open_files},
    {"bomb", bomb},
    {"chain", chain},
    {"deaf", deaf},
    {"daemon-left", daemon_left},
    {"daemon-unknown", daemon_unknown},
    {"stopped", stopped},
    {"zombies", zombies},
    {"shared-memory", shared_memory},
    {"hog", hog},
    {NULL, NULL},
};
