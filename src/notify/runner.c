#include "notify/runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "notify/runner_process.h"

struct runner {
    int fd; /* owned; -1: the process is gone */
    struct runner_events events;
    struct strbuf last_words;
    struct outbox_item *flying[RUNNER_FLYING_MAX]; /* NULL: free */
    uint32_t flying_count;
};

/* A message from the process. */
struct message {
    struct runner_answer head;
    struct str text;
    char bytes[sizeof(struct runner_answer) + RUNNER_OUTPUT_BYTES_MAX];
};

/* Take a message if one is there: 1, 0: none is; -1: the process is gone. */
static int receive(int fd, struct message *message)
{
    ssize_t count =
        recv(fd, message->bytes, sizeof(message->bytes), MSG_DONTWAIT);

    if (count < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    if (count < (ssize_t)sizeof(message->head)) {
        return -1;
    }
    memcpy(&message->head, message->bytes, sizeof(message->head));
    message->text = str_make(message->bytes + sizeof(message->head),
                             (size_t)count - sizeof(message->head));
    return 1;
}

/* Wait until the process can run commands. */
static int await_ready(int fd, struct err *err)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    struct message message;
    int rc;

    do {
        rc = poll(&wait, 1, RUNNER_START_MS_MAX);
    } while (rc < 0 && errno == EINTR);
    if (rc <= 0) {
        return err_set(err, -ERR_IO,
                       "the process for commands has not begun within %d s",
                       RUNNER_START_MS_MAX / 1000);
    }
    rc = receive(fd, &message);
    if (rc > 0 && message.head.how == RUNNER_READY) {
        return 0;
    }
    return err_set(
        err, -ERR_IO, "the process for commands: %.*s",
        STR_ARG(rc > 0 ? message.text : STR("it has ended at its start")));
}

struct runner *runner_start(const struct notify_target *targets,
                            uint32_t target_count,
                            int (*begin)(void *ctx, struct err *err), void *ctx,
                            struct err *err)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        (void)err_set(err, -ERR_IO, "socketpair: %s", strerror(errno));
        return NULL;
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        runner_process(pair[1], parent,
                       &(struct runner_targets){targets, target_count}, begin,
                       ctx);
    }
    close(pair[1]);
    if (pid < 0) {
        (void)err_set(err, -ERR_IO, "start a process for commands: %s",
                      strerror(errno));
        close(pair[0]);
        return NULL;
    }
    if (await_ready(pair[0], err) < 0) {
        close(pair[0]);
        return NULL;
    }
    struct runner *runner = mem_alloc(sizeof(*runner));
    *runner = (struct runner){.fd = pair[0]};
    return runner;
}

void runner_stop(struct runner *runner)
{
    if (runner) {
        if (runner->fd >= 0) {
            close(runner->fd);
        }
        strbuf_fini(&runner->last_words);
        mem_free(runner);
    }
}

void runner_set_events(struct runner *runner,
                       const struct runner_events *events)
{
    runner->events = *events;
}

uint32_t runner_flying_count(const struct runner *runner)
{
    return runner->flying_count;
}

static void end(struct runner *runner, uint32_t number, enum outbox_end how,
                const char *why)
{
    struct outbox_item *item = runner->flying[number];

    runner->flying[number] = NULL;
    runner->flying_count--;
    runner->events.on_end(runner->events.ctx, item, how, why);
}

static uint32_t take_number(struct runner *runner, struct outbox_item *item)
{
    uint32_t number = 0;

    while (runner->flying[number]) {
        number++;
        ASSERT(number < RUNNER_FLYING_MAX); /* no more are ever open */
    }
    runner->flying[number] = item;
    runner->flying_count++;
    return number;
}

void runner_send(struct runner *runner, struct outbox_item *item)
{
    uint32_t number = take_number(runner, item);
    auto_strbuf message = {0};
    struct runner_request head = {number, item->target,
                                  (uint32_t)item->id.byte_count};

    if (item->body.byte_count > RUNNER_BYTES_MAX) {
        end(runner, number, OUTBOX_REFUSED, "the note is too long");
        return;
    }
    strbuf_add(&message, &head, sizeof(head));
    strbuf_add_str(&message, item->id);
    strbuf_add_str(&message, item->body);
    if (runner->fd < 0 ||
        send(runner->fd, message.bytes, message.byte_count,
             MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)message.byte_count) {
        end(runner, number, OUTBOX_LATER,
            "the process that runs commands does not take it");
    }
}

/* Tell of the lines of a command's output, up to a bound. */
static void tell_lines(const struct runner *runner,
                       const struct outbox_item *item,
                       const struct message *message)
{
    const struct runner_events *events = &runner->events;
    struct str left = message->text;
    bool is_cut = message->head.is_cut;

    for (uint32_t count = 0; left.byte_count > 0;) {
        const char *end = memchr(left.p, '\n', left.byte_count);
        size_t byte_count = end ? (size_t)(end - left.p) : left.byte_count;
        size_t taken = byte_count + (end ? 1 : 0);
        if (byte_count > 0 && count++ == RUNNER_LINES_MAX) {
            is_cut = true;
            break;
        }
        if (byte_count > 0) {
            events->on_line(events->ctx, item, str_make(left.p, byte_count));
        }
        left = str_make(left.p + taken, left.byte_count - taken);
    }
    if (is_cut) {
        events->on_line(events->ctx, item, STR("(more was dropped)"));
    }
}

static void take_answer(struct runner *runner, const struct message *message)
{
    const struct runner_answer *answer = &message->head;
    char why[64] = "";

    if (answer->number >= RUNNER_FLYING_MAX ||
        !runner->flying[answer->number]) {
        return;
    }
    if (answer->how == RUNNER_TIMEOUT) {
        (void)snprintf(why, sizeof(why), "it took too long");
    } else if (answer->how == RUNNER_EXITED && answer->code != 0) {
        (void)snprintf(why, sizeof(why), "exit code %d", answer->code);
    } else if (answer->how != RUNNER_EXITED) {
        (void)snprintf(why, sizeof(why), "it cannot be run, or was killed");
    }
    tell_lines(runner, runner->flying[answer->number], message);
    end(runner, answer->number, *why ? OUTBOX_LATER : OUTBOX_SENT, why);
}

/* The process has ended. */
static void lose(struct runner *runner)
{
    close(runner->fd);
    runner->fd = -1;
    runner->events.on_gone(runner->events.ctx,
                           strbuf_text(&runner->last_words));
    for (uint32_t i = 0; i < RUNNER_FLYING_MAX; i++) {
        if (runner->flying[i]) {
            end(runner, i, OUTBOX_LATER,
                "the process that runs commands has ended");
        }
    }
}

void runner_drive(struct runner *runner)
{
    struct message message;
    int rc = 0;

    while (runner->fd >= 0 && (rc = receive(runner->fd, &message)) > 0) {
        if (message.head.how == RUNNER_ENDING) {
            strbuf_clear(&runner->last_words);
            strbuf_add_str(&runner->last_words, message.text);
        } else {
            take_answer(runner, &message);
        }
    }
    if (runner->fd >= 0 && rc < 0) {
        lose(runner);
    }
}
