#include "notify/runner_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "notify/note.h"
#include "notify/runner.h"
#include "notify/runner_output.h"

enum {
    MESSAGE_BYTES_MAX = RUNNER_BYTES_MAX + 1024,
    EXIT_NOT_RUN = 127,
    LOOK_MS = 100, /* how often watchers are looked after */
};

/* In the process of one command. */

static _Noreturn void execute(const struct notify_target *target,
                              const char *id, int body_fd, int output_fd)
{
    char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                  "/usr/bin:/sbin:/bin";
    char id_variable[256], name_variable[256];
    char *words[NOTIFY_WORDS_MAX + 1] = {NULL};
    char *variables[] = {path, id_variable, name_variable, NULL};
    sigset_t none;

    for (uint32_t i = 0; i < target->command_count && i < NOTIFY_WORDS_MAX;
         i++) {
        words[i] = (char *)(uintptr_t)target->command[i].p;
    }
    (void)snprintf(id_variable, sizeof(id_variable), "BERTH_NOTIFICATION_ID=%s",
                   id);
    (void)snprintf(name_variable, sizeof(name_variable),
                   "BERTH_NOTIFICATION_TARGET=%.*s", STR_ARG(target->name));
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would bound its time */
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(body_fd, STDIN_FILENO) < 0 || dup2(output_fd, STDOUT_FILENO) < 0 ||
        dup2(output_fd, STDERR_FILENO) < 0) {
        _exit(EXIT_NOT_RUN);
    }
    (void)execve(words[0], words, variables);
    fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
    _exit(EXIT_NOT_RUN);
}

/* A file in memory with the note, at its beginning. */
static int body_file(struct str body)
{
    int fd = memfd_create("note", MFD_CLOEXEC);

    if (fd >= 0 &&
        (write(fd, body.p, body.byte_count) != (ssize_t)body.byte_count ||
         lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Send an answer with its text. */
static void tell(int fd, const struct runner_answer *answer, struct str text)
{
    char message[sizeof(*answer) + RUNNER_OUTPUT_BYTES_MAX];

    if (text.byte_count > RUNNER_OUTPUT_BYTES_MAX) {
        text.byte_count = RUNNER_OUTPUT_BYTES_MAX;
    }
    memcpy(message, answer, sizeof(*answer));
    memcpy(message + sizeof(*answer), text.p, text.byte_count);
    (void)send(fd, message, sizeof(*answer) + text.byte_count, MSG_NOSIGNAL);
}

/* Wait for a command, and end it with its group if it takes too long. */
static void await(pid_t pid, int timeout_ms, struct runner_output *output,
                  struct runner_answer *answer)
{
    bool is_in_time = runner_output_await(output, pid, timeout_ms);
    int status = 0;

    if (!is_in_time) {
        (void)kill(-pid, SIGTERM);
        if (!runner_output_await(output, pid, RUNNER_GRACE_MS)) {
            (void)kill(-pid, SIGKILL);
        }
    }
    siginfo_t info;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0) {
        return;
    }
    /* What it left behind; before it is reaped, so that the number of its group
     * is nobody else's yet. */
    (void)kill(-pid, SIGKILL);
    if (waitpid(pid, &status, 0) != pid) {
        return;
    }
    if (!is_in_time) {
        answer->how = RUNNER_TIMEOUT;
    } else if (WIFEXITED(status)) {
        answer->how = RUNNER_EXITED;
        answer->code = WEXITSTATUS(status);
    }
}

/* In the process that watches one command. */
static _Noreturn void watch(int fd, const struct runner_request *request,
                            const struct notify_target *target, const char *id,
                            struct str body)
{
    struct runner_answer answer = {.number = request->number,
                                   .how = RUNNER_FAILED};
    struct runner_output output;
    int body_fd = body_file(body);
    int output_fd = runner_output_open(&output);

    pid_t pid = body_fd < 0 || output_fd < 0 ? -1 : fork();
    if (pid == 0) {
        execute(target, id, body_fd, output_fd);
    }
    if (output_fd >= 0) {
        close(output_fd);
    }
    if (pid > 0) {
        (void)setpgid(pid, pid);
        await(pid, (int)target->timeout_ms, &output, &answer);
        runner_output_finish(&output);
    }
    answer.is_cut = output.is_cut;
    tell(fd, &answer, str_make(output.bytes, output.byte_count));
    _exit(0);
}

/* In the runner's process. */

static _Noreturn void end_with(int fd, const char *why)
{
    tell(fd, &(struct runner_answer){.how = RUNNER_ENDING}, str_of(why));
    _exit(EXIT_FAILURE);
}

bool runner_request_read(const struct runner_targets *targets,
                         struct str message, struct runner_request *ret_request)
{
    if (message.byte_count < sizeof(*ret_request)) {
        return false;
    }
    memcpy(ret_request, message.p, sizeof(*ret_request));
    return ret_request->number < RUNNER_FLYING_MAX &&
           ret_request->id_bytes < NOTE_ID_BYTES_MAX &&
           ret_request->id_bytes <= message.byte_count - sizeof(*ret_request) &&
           ret_request->target < targets->count &&
           targets->items[ret_request->target].command_count > 0;
}

/* Those that watch commands. */
struct watchers {
    pid_t pids[RUNNER_FLYING_MAX]; /* the last of each number */
    uint32_t count;                /* that are not reaped */
};

/* Answer for a watcher that was killed. */
static void answer_for(int fd, const struct watchers *watchers, pid_t pid)
{
    for (uint32_t i = 0; i < RUNNER_FLYING_MAX; i++) {
        if (watchers->pids[i] == pid) {
            tell(fd, &(struct runner_answer){.number = i, .how = RUNNER_FAILED},
                 STR(""));
        }
    }
}

/* Take the ends of watchers, and wait for one when there are too many. */
static void reap(int fd, struct watchers *watchers)
{
    int status = 0;
    pid_t pid;

    while (watchers->count > 0 &&
           (pid = waitpid(-1, &status,
                          watchers->count < RUNNER_FLYING_MAX ? WNOHANG : 0)) >
               0) {
        watchers->count--;
        if (!WIFEXITED(status)) {
            answer_for(fd, watchers, pid);
        }
    }
}

/* Wait for a request, and look after the watchers meanwhile. */
static void rest(int fd, struct watchers *watchers)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    do {
        reap(fd, watchers);
    } while (poll(&wait, 1, watchers->count > 0 ? LOOK_MS : -1) == 0);
}

static void run_one(int fd, const struct runner_targets *targets, char *bytes,
                    size_t byte_count, struct watchers *watchers)
{
    struct runner_request request;
    struct str message = str_make(bytes, byte_count);

    if (!runner_request_read(targets, message, &request)) {
        /* Whoever sends this is not the server. */
        end_with(fd, "a request is malformed");
    }
    struct str rest =
        str_make(bytes + sizeof(request), byte_count - sizeof(request));
    char id[NOTE_ID_BYTES_MAX];

    (void)snprintf(id, sizeof(id), "%.*s", (int)request.id_bytes, rest.p);
    reap(fd, watchers);
    pid_t pid = fork();
    if (pid > 0) {
        watchers->pids[request.number] = pid;
        watchers->count++;
    }
    if (pid == 0) {
        watch(fd, &request, &targets->items[request.target], id,
              str_make(rest.p + request.id_bytes,
                       rest.byte_count - request.id_bytes));
    }
    if (pid < 0) {
        struct runner_answer answer = {.number = request.number,
                                       .how = RUNNER_FAILED};
        tell(fd, &answer, STR(""));
    }
}

/* It ends with its parent, is no terminal's to interrupt, and holds open
 * nothing that others wait for. */
static void settle(int fd, pid_t parent)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_NAME, "berth-notify");
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
        dup2(null_fd, STDOUT_FILENO) < 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || fd < 0) {
        _exit(EXIT_FAILURE);
    }
}

_Noreturn void runner_process(int fd, pid_t parent,
                              const struct runner_targets *targets,
                              int (*begin)(void *ctx, struct err *err),
                              void *ctx)
{
    char *bytes = mem_alloc(MESSAGE_BYTES_MAX);
    struct watchers watchers = {.count = 0};
    struct err err;

    settle(fd, parent);
    if (begin && begin(ctx, &err) < 0) {
        end_with(fd, err.text);
    }
    /* Another user, another life: it must end with its parent still.  Nobody of
     * that user, and so no server that was taken over, writes to its memory. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0) {
        end_with(fd, "it cannot keep its memory from others");
    }
    tell(fd, &(struct runner_answer){.how = RUNNER_READY}, STR(""));
    for (ssize_t count = 1; count != 0;) {
        rest(fd, &watchers);
        count = recv(fd, bytes, MESSAGE_BYTES_MAX, 0);
        if (count > 0) {
            run_one(fd, targets, bytes, (size_t)count, &watchers);
        } else if (count < 0 && errno != EINTR) {
            break;
        }
    }
    _exit(0);
}
