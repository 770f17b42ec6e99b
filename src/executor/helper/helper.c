#include "executor/helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/fd_pass.h"
#include "executor/helper/helper_private.h"
#include "wire/text/inner_path.h"

static int make_pairs(int pairs[3][2])
{
    for (int i = 0; i < 3; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) < 0) {
            return -ERR_IO;
        }
    }
    /* Nobody waits for a wake-up to be read. */
    return fcntl(pairs[2][0], F_SETFL, O_NONBLOCK) == 0 &&
                   fcntl(pairs[2][1], F_SETFL, O_NONBLOCK) == 0
               ? 0
               : -ERR_IO;
}

static void close_side(int pairs[3][2], int side)
{
    for (int i = 0; i < 3; i++) {
        if (pairs[i][side] >= 0) {
            close(pairs[i][side]);
        }
    }
}

/* The helper ends with its parent, also with one that was killed; it is no
 * terminal's to interrupt, and whoever reads what the parent prints does not
 * wait for it. */
static _Noreturn void be_helper(const struct helper_options *options,
                                int pairs[3][2], pid_t parent)
{
    const struct helper_fds fds = {pairs[0][1], pairs[1][1], pairs[2][1]};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)prctl(PR_SET_NAME, "berth-helper");
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    close_side(pairs, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
        null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
        dup2(null_fd, STDOUT_FILENO) < 0) {
        _exit(EXIT_FAILURE);
    }
    if (options->begin) {
        options->begin(options->open_ctx);
    }
    _exit(helper_serve(options, &fds));
}

static void init_channel(struct helper_channel *channel, int fd)
{
    channel->fd = fd;
    channel->answer = strbuf_make(HELPER_ANSWER_BYTES_MAX);
    (void)pthread_mutex_init(&channel->lock, NULL);
}

struct helper *helper_start(const struct helper_options *options,
                            struct err *err)
{
    int pairs[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    pid_t parent = getpid();

    pid_t pid = make_pairs(pairs) < 0 ? -1 : fork();
    if (pid < 0) {
        (void)err_set(err, -ERR_IO, "start the helper: %s", strerror(errno));
        close_side(pairs, 0);
        close_side(pairs, 1);
        return NULL;
    }
    if (pid == 0) {
        be_helper(options, pairs, parent);
    }
    close_side(pairs, 1);
    struct helper *helper = mem_alloc(sizeof(*helper));
    helper->options = *options;
    helper->pid = pid;
    helper->wake_fd = pairs[2][0];
    init_channel(&helper->calls, pairs[0][0]);
    init_channel(&helper->logs, pairs[1][0]);
    return helper;
}

pid_t helper_pid(const struct helper *helper)
{
    return helper->pid;
}

int helper_ask(struct helper_channel *channel,
               const struct helper_request *request, struct str payload,
               struct err *err)
{
    struct helper_request sent = *request;
    struct helper_answer answer = {0};

    (void)pthread_mutex_lock(&channel->lock);
    strbuf_clear(&channel->answer);
    sent.byte_count = (uint32_t)payload.byte_count;
    int rc = channel->is_gone
                 ? -ERR_IO
                 : helper_send(channel->fd, &sent, sizeof(sent), payload);
    if (helper_is_answered(request->kind)) {
        rc = rc < 0 ? rc : helper_receive(channel->fd, &answer, sizeof(answer));
        rc = rc < 0 ? rc
                    : helper_receive_into(channel->fd, &channel->answer,
                                          answer.byte_count);
    }
    if (rc < 0) {
        channel->is_gone = true;
        (void)shutdown(channel->fd, SHUT_RDWR);
        strbuf_clear(&channel->answer);
        return err_set(err, -ERR_UNAVAILABLE,
                       "the helper process has ended, or does not answer");
    }
    return answer.rc;
}

void helper_break_off(struct helper_channel *channel)
{
    (void)pthread_mutex_lock(&channel->lock);
    channel->is_gone = true;
    (void)shutdown(channel->fd, SHUT_RDWR);
    (void)pthread_mutex_unlock(&channel->lock);
}

void helper_release(struct helper_channel *channel)
{
    (void)pthread_mutex_unlock(&channel->lock);
}

/* Ask on the connection of the logs, for bytes, or a descriptor. */
static int ask_for_bytes(struct helper *helper,
                         const struct helper_request *request,
                         struct str payload, struct strbuf *buf, int *ret_fd,
                         struct err *err)
{
    if (key128_is_none(request->job.v)) {
        return err_set(err, -ERR_NOT_FOUND, "there is no job of this id");
    }
    int rc = helper_ask(&helper->logs, request, payload, err);
    if (rc >= 0 && ret_fd) {
        *ret_fd = fd_pass_receive(helper->logs.fd);
        rc = *ret_fd >= 0 ? 0
                          : err_set(err, -ERR_UNAVAILABLE,
                                    "the helper process gave no connection");
    } else if (rc >= 0) {
        strbuf_add_str(buf, strbuf_str(&helper->logs.answer));
    } else if (!helper->logs.is_gone) {
        (void)err_set(err, rc, "%s",
                      helper->logs.answer.byte_count > 0
                          ? strbuf_text(&helper->logs.answer)
                          : "the helper's answer is too large");
    }
    if (helper->logs.is_gone) {
        /* The thread of the calls sees that, and tells. */
        (void)shutdown(helper->calls.fd, SHUT_RDWR);
        (void)shutdown(helper->wake_fd, SHUT_RDWR);
    }
    helper_release(&helper->logs);
    return rc;
}

int helper_logs(struct helper *helper, const struct runtime_log_query *query,
                struct strbuf *buf, struct err *err)
{
    auto_strbuf payload = strbuf_make(HELPER_LOGS_BYTES_MAX);
    struct helper_request request = {
        .kind = HELPER_LOGS,
        .job = query->job,
        .number = query->line_count_max < 0 ? -1 : query->line_count_max,
        .limit = query->byte_count_max,
    };

    helper_put_query(&payload, query);
    if (payload.is_over) {
        return err_set(err, -ERR_INVALID,
                       "container and time are too long (together at most %zu "
                       "bytes)",
                       HELPER_LOGS_BYTES_MAX - 2 * sizeof(int64_t));
    }
    return ask_for_bytes(helper, &request, strbuf_str(&payload), buf, NULL,
                         err);
}

int helper_files(struct helper *helper, const struct runtime_files_query *query,
                 struct strbuf *buf, struct err *err)
{
    auto_strbuf payload = strbuf_make(HELPER_FILES_BYTES_MAX);
    struct helper_request request = {
        .kind = HELPER_FILES,
        .job = query->job,
        .number = query->is_read ? query->offset : 0,
        .limit = query->is_read ? query->byte_count_max : 0,
    };

    helper_put_files_query(&payload, query);
    if (payload.is_over) {
        return err_set(err, -ERR_INVALID, "the path of a file must be %s",
                       INNER_PATH_RULE);
    }
    return ask_for_bytes(helper, &request, strbuf_str(&payload), buf, NULL,
                         err);
}

int helper_exec(struct helper *helper, struct job_id job, int *ret_fd,
                struct err *err)
{
    const struct helper_request request = {.kind = HELPER_EXEC, .job = job};

    return ask_for_bytes(helper, &request, STR(""), NULL, ret_fd, err);
}

static void fini_channel(struct helper_channel *channel)
{
    close(channel->fd);
    strbuf_fini(&channel->answer);
    (void)pthread_mutex_destroy(&channel->lock);
}

static void set_deadline(int fd, int64_t ms)
{
    const struct timeval time = {ms / 1000, ms % 1000 * 1000};

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

void helper_set_deadlines(struct helper *helper)
{
    int64_t ms = helper->options.answer_ms_max ? helper->options.answer_ms_max
                                               : HELPER_ANSWER_MS_MAX;

    set_deadline(helper->calls.fd, ms);
    set_deadline(helper->logs.fd, ms);
}

/* Kill the helper if it does not end in time.  Where the kernel tells no ends
 * of processes, nothing limits the wait. */
static void limit_end(const struct helper *helper)
{
    int64_t ms = helper->options.end_ms_max ? helper->options.end_ms_max
                                            : HELPER_END_MS_MAX;
    struct pollfd wait = {.fd = (int)syscall(SYS_pidfd_open, helper->pid, 0),
                          .events = POLLIN};
    int count;

    if (wait.fd < 0) {
        return;
    }
    while ((count = poll(&wait, 1, (int)ms)) < 0 && errno == EINTR) {
    }
    if (count == 0) {
        (void)kill(helper->pid, SIGKILL);
    }
    close(wait.fd);
}

void helper_end(struct helper *helper)
{
    if (!helper->has_ended) {
        helper->has_ended = true;
        (void)shutdown(helper->calls.fd, SHUT_RDWR);
        limit_end(helper);
        while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

void helper_stop(struct helper *helper)
{
    if (!helper) {
        return;
    }
    helper_end(helper);
    fini_channel(&helper->calls);
    fini_channel(&helper->logs);
    close(helper->wake_fd);
    mem_free(helper);
}
