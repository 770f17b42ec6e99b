#include "cli/shared/session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "cli/shared/check.h"
#include "cli/shared/terminal.h"
#include "wire/text/printable.h"

enum {
    INPUT_BYTES_MAX = 16 << 10,
    MESSAGE_BYTES_MAX = 128 << 10,
    EXIT_SIGNAL_BASE = 128,
    EXIT_REFUSED_MIN = 126, /* as a shell has it, to 128 */
    CHARACTER_BYTES_MAX = 4,
};

/* One of the user's outputs. */
struct output {
    FILE *file;
    bool is_shown;      /* what a terminal would obey is shown */
    struct strbuf rest; /* of a character that is not whole yet */
};

struct session {
    struct cli *cli;
    const struct session_wish *wish;
    struct rpc_stream *stream;
    struct terminal terminal;
    struct output outputs[2];
    int in_fd, signal_fd, stop_fd;
    bool has_input;    /* of the thread: there is more */
    atomic_int signal; /* that ends it; 0: none has */
    bool is_ended;     /* the end has come */
    Berth__Api__ExecEnd end;
};

/* What goes there. */

static bool send_message(struct session *session,
                         const Berth__Api__ExecInput *message)
{
    auto_strbuf bytes = {0};

    wire_encode(&message->base, &bytes);
    return rpc_stream_send(session->stream, strbuf_str(&bytes), -1) ==
           RPC_WAIT_READY;
}

static bool send_start(struct session *session)
{
    const struct session_wish *wish = session->wish;
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecStart start = BERTH__API__EXEC_START__INIT;
    Berth__Api__ExecSize size = BERTH__API__EXEC_SIZE__INIT;
    const char *term = session->cli->ports->term;

    terminal_size(session->in_fd, &size.columns, &size.rows);
    start.job_id = wish->job_id;
    start.container = wish->container;
    start.command = wish->words;
    start.n_command = wish->word_count;
    start.input = wish->has_input;
    start.tty = wish->has_tty;
    start.size = &size;
    start.term = cli_format(session->cli, "%.200s", term ? term : "");
    start.time_ms_max = wish->time_ms_max;
    message.start = &start;
    return send_message(session, &message);
}

static bool send_size(struct session *session)
{
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecSize size = BERTH__API__EXEC_SIZE__INIT;

    terminal_size(session->in_fd, &size.columns, &size.rows);
    message.size = &size;
    return send_message(session, &message);
}

static bool send_input(struct session *session, const char *bytes, size_t count)
{
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;

    message.input.data = (uint8_t *)(uintptr_t)bytes;
    message.input.len = count;
    message.input_end = count == 0;
    return send_message(session, &message);
}

static bool take_typed(struct session *session)
{
    char typed[INPUT_BYTES_MAX];
    ssize_t n = read(session->in_fd, typed, sizeof(typed));

    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (n <= 0) {
        session->has_input = false;
        return send_input(session, "", 0);
    }
    return send_input(session, typed, (size_t)n);
}

static bool take_signal(struct session *session)
{
    struct signalfd_siginfo info;

    if (read(session->signal_fd, &info, sizeof(info)) !=
        (ssize_t)sizeof(info)) {
        return true;
    }
    if (info.ssi_signo == SIGWINCH) {
        return send_size(session);
    }
    atomic_store(&session->signal, (int)info.ssi_signo);
    return false;
}

/* The thread that reads what is typed, until the session ends or is ended. */
static void *run_input(void *ctx)
{
    struct session *session = ctx;
    bool goes_on = true;

    while (goes_on) {
        struct pollfd waits[] = {
            {session->stop_fd, POLLIN, 0},
            {session->signal_fd, POLLIN, 0},
            {session->has_input ? session->in_fd : -1, POLLIN, 0},
        };
        if (poll(waits, ARRAY_COUNT(waits), -1) < 0) {
            continue;
        }
        if (waits[0].revents) {
            return NULL;
        }
        if (waits[1].revents) {
            goes_on = take_signal(session);
        } else if (waits[2].revents) {
            goes_on = take_typed(session);
        }
    }
    rpc_stream_cancel(session->stream);
    return NULL;
}

/* What comes here. */

/* How many bytes at the end of a text may be the beginning of a character. */
static size_t unfinished(struct str text)
{
    for (size_t n = 1; n < CHARACTER_BYTES_MAX && n <= text.byte_count; n++) {
        unsigned char c = (unsigned char)text.p[text.byte_count - n];
        if (c >= 0xc0) {
            size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
            return n < whole ? n : 0;
        }
        if (c < 0x80) {
            return 0;
        }
    }
    return 0;
}

static void write_output(struct output *output, struct str bytes)
{
    auto_strbuf shown = {0};

    if (bytes.byte_count == 0) {
        return;
    }
    if (!output->is_shown) {
        (void)fwrite(bytes.p, 1, bytes.byte_count, output->file);
    } else {
        strbuf_add_str(&output->rest, bytes);
        struct str all = strbuf_str(&output->rest);
        size_t left = unfinished(all);
        wire_printable(str_make(all.p, all.byte_count - left), PRINTABLE_TEXT,
                       &shown);
        (void)fwrite(strbuf_text(&shown), 1, shown.byte_count, output->file);
        memmove(output->rest.bytes, all.p + all.byte_count - left, left);
        output->rest.byte_count = left;
    }
    (void)fflush(output->file);
}

static void end_output(struct output *output)
{
    auto_strbuf shown = {0};

    if (output->rest.byte_count > 0) {
        wire_printable(strbuf_str(&output->rest), PRINTABLE_TEXT, &shown);
        fputs(strbuf_text(&shown), output->file);
    }
    strbuf_fini(&output->rest);
    (void)fflush(output->file);
}

/* False: it is the last, or makes no sense. */
static bool take_message(struct session *session, struct str bytes)
{
    auto_arena arena = {0};
    ProtobufCMessage *decoded;
    struct err err;

    if (bytes.byte_count > MESSAGE_BYTES_MAX ||
        wire_decode(&berth__api__exec_output__descriptor, bytes,
                    &wire_request_limits, &arena, &decoded, &err) < 0) {
        return false;
    }
    const Berth__Api__ExecOutput *message = (const void *)decoded;
    write_output(&session->outputs[0],
                 str_make(message->output.data, message->output.len));
    write_output(&session->outputs[1], str_make(message->error_output.data,
                                                message->error_output.len));
    if (message->end) {
        session->is_ended = true;
        session->end = *message->end;
        session->end.reason =
            cli_format(session->cli, "%s", session->end.reason);
    }
    return !message->end;
}

static void take_output(struct session *session)
{
    auto_strbuf message = {0};

    while (rpc_stream_next(session->stream, -1, &message) == RPC_WAIT_READY &&
           take_message(session, strbuf_str(&message))) {
    }
}

/* The end. */

static enum cli_exit tell_end(const struct session *session)
{
    const Berth__Api__ExecEnd *end = &session->end;
    const struct cli *cli = session->cli;
    int code = end->code & 0xff;

    switch ((int)end->ending) {
    case BERTH__API__EXEC_END__ENDING__EXITED:
        return (enum cli_exit)code;
    case BERTH__API__EXEC_END__ENDING__REFUSED:
        return cli_fail(cli,
                        code >= EXIT_REFUSED_MIN && code <= EXIT_SIGNAL_BASE
                            ? (enum cli_exit)code
                            : CLI_FAILED,
                        "%s", end->reason);
    case BERTH__API__EXEC_END__ENDING__TIMED_OUT:
    case BERTH__API__EXEC_END__ENDING__IDLE:
        return cli_fail(cli, CLI_TIMEOUT, "the session was ended: %s",
                        end->reason);
    case BERTH__API__EXEC_END__ENDING__JOB_ENDED:
        return cli_fail(cli, CLI_FAILED, "the session was ended: %s",
                        end->reason);
    default:
        return cli_fail(cli, CLI_UNAVAILABLE, "the session was lost: %s",
                        end->reason);
    }
}

static enum cli_exit tell_status(struct session *session)
{
    auto_strbuf rest = {0};

    while (rpc_stream_next(session->stream, -1, &rest) != RPC_WAIT_ENDED) {
    }
    const struct rpc_status *status = rpc_stream_status(session->stream);
    enum cli_exit rc = status->code == RPC_NOT_FOUND
                           ? check_one_job(session->cli, session->wish->job_id)
                           : CLI_OK;
    if (rc != CLI_OK) {
        return rc;
    }
    return status->code == RPC_OK
               ? cli_fail(session->cli, CLI_UNAVAILABLE,
                          "the server ended the session without its end")
               : cli_fail_call(session->cli, status);
}

static enum cli_exit tell(struct session *session)
{
    int signal_number = atomic_load(&session->signal);

    if (session->is_ended) {
        return tell_end(session);
    }
    return signal_number > 0 ? (enum cli_exit)(EXIT_SIGNAL_BASE + signal_number)
                             : tell_status(session);
}

/* The whole. */

/* Signals that the thread is told of: with a terminal also those that end us,
 * for it is to be set back. */
static int open_signals(bool has_tty, sigset_t *ret_before)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    if (has_tty) {
        sigaddset(&set, SIGHUP);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGQUIT);
        sigaddset(&set, SIGTERM);
    }
    (void)pthread_sigmask(SIG_BLOCK, &set, ret_before);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void copy(struct session *session)
{
    pthread_t input;

    if (!send_start(session)) {
        return;
    }
    if (pthread_create(&input, NULL, run_input, session) != 0) {
        rpc_stream_cancel(session->stream);
        return;
    }
    if (session->wish->has_tty) {
        terminal_begin(&session->terminal, session->in_fd);
    }
    take_output(session);
    (void)eventfd_write(session->stop_fd, 1);
    if (session->is_ended) {
        rpc_stream_cancel(session->stream); /* it may be sending */
    }
    (void)pthread_join(input, NULL);
    terminal_end(&session->terminal);
}

enum cli_exit session_run(struct cli *cli, const struct session_wish *wish)
{
    struct rpc_call_options options = cli_call_options(cli);
    struct session session = {
        .cli = cli,
        .wish = wish,
        .outputs = {{.file = cli->ports->out,
                     .is_shown = !wish->has_tty && cli->ports->is_terminal},
                    {.file = cli->ports->err,
                     .is_shown =
                         !wish->has_tty && isatty(fileno(cli->ports->err))}},
        .in_fd = fileno(cli->ports->in),
        .has_input = wish->has_input,
    };
    sigset_t before;

    options.is_gzip = false; /* each key is a message */
    enum cli_exit rc = cli_connect(cli);
    if (rc != CLI_OK) {
        return rc;
    }
    session.signal_fd = open_signals(wish->has_tty, &before);
    session.stop_fd = eventfd(0, EFD_CLOEXEC);
    session.stream =
        rpc_stream_open(cli->channel, "/berth.api.Berth/Exec", &options);
    copy(&session);
    end_output(&session.outputs[0]);
    end_output(&session.outputs[1]);
    rc = tell(&session);
    rpc_stream_close(session.stream);
    close(session.stop_fd);
    close(session.signal_fd);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
