#include "notify/runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "notify/runner_process.h"

struct runner {
    int fd; /* owned; -1: the process is gone */
    runner_end_fn *on_end;
    void *ctx;
    struct outbox_item *flying[RUNNER_FLYING_MAX]; /* NULL: free */
    uint32_t flying_count;
};

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
        mem_free(runner);
    }
}

void runner_set_end(struct runner *runner, runner_end_fn *on_end, void *ctx)
{
    runner->on_end = on_end;
    runner->ctx = ctx;
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
    runner->on_end(runner->ctx, item, how, why);
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

static void take_answer(struct runner *runner,
                        const struct runner_answer *answer)
{
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
    end(runner, answer->number, *why ? OUTBOX_LATER : OUTBOX_SENT, why);
}

void runner_drive(struct runner *runner)
{
    struct runner_answer answer;
    ssize_t count;

    while (runner->fd >= 0 && (count = recv(runner->fd, &answer, sizeof(answer),
                                            MSG_DONTWAIT)) >= 0) {
        if (count == sizeof(answer)) {
            take_answer(runner, &answer);
        } else if (count == 0) {
            close(runner->fd);
            runner->fd = -1;
        }
    }
    for (uint32_t i = 0; runner->fd < 0 && i < RUNNER_FLYING_MAX; i++) {
        if (runner->flying[i]) {
            end(runner, i, OUTBOX_LATER,
                "the process that runs commands has ended");
        }
    }
}
