#include "executor/shim/shim_session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/exec_io.h"
#include "executor/shim/shim_private.h"
#include "executor/shim/shim_tty.h"

enum {
    ENDING_MS_MAX = 10000,
    READS_MAX = 8, /* in one step, so that others get their turn */
    EXIT_SIGNAL_BASE = 128,
};

static const char end_of_input[] = "\x04"; /* that of a terminal */

static int64_t now_ms(void)
{
    return shim_clock_ms(CLOCK_MONOTONIC);
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void close_program(struct shim_session *session)
{
    close_fd(&session->tty_fd);
    close_fd(&session->input_fd);
    close_fd(&session->output_fds[0]);
    close_fd(&session->output_fds[1]);
}

void shim_session_open(struct shim_session *session, int fd)
{
    *session = (struct shim_session){
        .phase = SESSION_HELLO,
        .fd = fd,
        .tty_fd = -1,
        .input_fd = -1,
        .output_fds = {-1, -1},
        .until_ms = now_ms() + EXEC_BEGIN_MS_MAX,
        .in = strbuf_make(EXEC_IO_BYTES_MAX),
    };
}

void shim_session_close(struct shim_session *session)
{
    if (session->phase == SESSION_NONE) {
        return;
    }
    close_program(session);
    close_fd(&session->fd);
    strbuf_fini(&session->in);
    strbuf_fini(&session->out);
    session->phase = SESSION_NONE;
    session->pid = 0;
}

/* Its end. */

/* Kill all that is left of its session; what has made one of its own stays, for
 * it is the container's. */
static void kill_group(const struct shim_session *session)
{
    if (session->pid > 0) {
        (void)kill(session->pid, SIGKILL);
    }
    if (session->group > 0) {
        (void)shim_tree_kill(session->group);
    }
}

void shim_session_kill(struct shim_session *session, enum exec_ending ending)
{
    session->ending = ending;
    kill_group(session);
}

/* The user is gone: hang up, and soon kill. */
static void desert(struct shim_session *session)
{
    close_fd(&session->fd);
    if (session->pid == 0) {
        shim_session_close(session);
        return;
    }
    (void)kill(-session->pid, SIGHUP);
    close_program(session);
    session->phase = SESSION_DESERTED;
    session->until_ms = now_ms() + EXEC_HANGUP_MS;
}

static void say_end(struct shim_session *session, enum exec_ending ending,
                    int code, const char *reason)
{
    exec_end_put(&session->out,
                 &(struct exec_end){ending, code, str_of(reason)});
    close_program(session);
    session->phase = SESSION_ENDING;
    session->until_ms = now_ms() + ENDING_MS_MAX;
}

static void say_how_it_ended(struct shim_session *session)
{
    char text[EXEC_REASON_BYTES_MAX] = "";

    if (session->ending == EXEC_TIMED_OUT) {
        snprintf(text, sizeof(text), "its time, %.3f s, is over",
                 (double)session->time_ms_max / 1000);
    } else if (session->ending == EXEC_IDLE) {
        snprintf(text, sizeof(text), "nothing was typed or written for %d h",
                 EXEC_IDLE_MS_MAX / 3600000);
    } else if (session->ending == EXEC_JOB_ENDED) {
        snprintf(text, sizeof(text), "the job has ended");
    }
    say_end(session, session->ending, session->exit_code, text);
}

void shim_session_reaped(struct shim_session *session, int status)
{
    session->pid = 0;
    session->exit_code = WIFSIGNALED(status)
                             ? EXIT_SIGNAL_BASE + WTERMSIG(status)
                             : WEXITSTATUS(status);
    /* What it leaves behind in its session goes with it. */
    kill_group(session);
    if (session->phase == SESSION_DESERTED) {
        shim_session_close(session);
    }
}

/* Its beginning. */

static const struct shim_container *find_container(const struct shim *shim,
                                                   const char *name)
{
    for (size_t i = 0; i < shim->container_count; i++) {
        const struct shim_container *container = &shim->containers[i];
        if (*name ? strcmp(container->spec->name, name) == 0
                  : container->spec->kind == RUN_MAIN) {
            return container;
        }
    }
    return NULL;
}

/* The container's environment, with TERM as the user has it; the caller frees
 * the array. */
static char **make_envs(const struct shim_container *container, char *term)
{
    size_t count = container->spec->envs.count, n = 0;
    char **envs = mem_alloc_array(count + 2, sizeof(*envs));

    for (size_t i = 0; i < count && container->spec->envs.items[i]; i++) {
        char *env = container->spec->envs.items[i];
        if (!term || strncmp(env, "TERM=", 5) != 0) {
            envs[n++] = env;
        }
    }
    envs[n++] = term;
    envs[n] = NULL;
    return envs;
}

/* The program's ends of three pipes, and ours, which never wait. */
static bool make_pipes(struct shim_session *session, bool has_input,
                       int theirs[3])
{
    int ends[2];

    for (int i = 0; i < 3; i++) {
        theirs[i] = -1;
        if (i == 0 && !has_input) {
            continue;
        }
        if (pipe2(ends, O_CLOEXEC) < 0) {
            return false;
        }
        theirs[i] = ends[i == 0 ? 0 : 1];
        int ours = ends[i == 0 ? 1 : 0];
        (void)fcntl(ours, F_SETFL, O_NONBLOCK);
        *(i == 0 ? &session->input_fd : &session->output_fds[i - 1]) = ours;
    }
    return true;
}

static int start_program(struct shim *shim, struct shim_session *session,
                         const struct exec_start *wanted, int *ret_code,
                         struct err *err)
{
    const struct shim_container *container = session->container;
    char term[EXEC_TEXT_BYTES_MAX + 8];
    int theirs[3] = {-1, -1, -1};
    int rc = 0;

    if (!wanted->is_tty && !make_pipes(session, wanted->has_input, theirs)) {
        rc = err_set(err, -ERR_IO, "make a pipe: %s", strerror(errno));
    }
    snprintf(term, sizeof(term), "TERM=%s", wanted->term);
    bool has_term = wanted->is_tty && *wanted->term;
    char **envs = make_envs(container, has_term ? term : NULL);
    struct shim_start start = {
        .container = container->spec,
        .spec = &shim->spec,
        .box = &shim->box,
        .cgroups = container->cgroups,
        .cgroup_name = container->cgroup_name,
        .space_dir = shim->spec.space_dir,
        .dir_fd = shim->space_fd,
        .input_fd = theirs[0],
        .output_fds = {theirs[1], theirs[2]},
        .args = wanted->args.items,
        .envs = envs,
        .tty = wanted->is_tty ? &wanted->size : NULL,
        .ret_tty_fd = &session->tty_fd,
    };
    rc = rc < 0 ? rc : shim_start(&start, &session->pid, ret_code, err);
    session->group = rc == 0 ? session->pid : 0;
    mem_free(envs);
    for (int i = 0; i < 3; i++) {
        close_fd(&theirs[i]);
    }
    return rc;
}

static void begin(struct shim *shim, struct shim_session *session,
                  const struct exec_start *wanted)
{
    struct err err = {""};
    int code = EXIT_SIGNAL_BASE;

    session->container = find_container(shim, wanted->container);
    session->phase = SESSION_RUNNING;
    session->heard_ms = now_ms();
    session->time_ms_max = wanted->time_ms_max;
    session->end_ms = session->heard_ms + wanted->time_ms_max;
    int rc = 0;
    if (!session->container) {
        rc = err_set(&err, -ERR_NOT_FOUND, "the job has no container \"%s\"",
                     wanted->container);
    } else if (session->container->pid == 0) {
        rc = err_set(&err, -ERR_NOT_FOUND, "container %s does not run %s",
                     session->container->spec->name,
                     session->container->is_ended ? "any more" : "yet");
    } else if (shim->stop_cause != RUN_CAUSE_NONE) {
        rc = err_set(&err, -ERR_NOT_FOUND, "the job is being stopped");
    } else if (wanted->args.count == 0) {
        rc = err_set(&err, -ERR_INVALID, "there is no command");
    } else {
        rc = start_program(shim, session, wanted, &code, &err);
    }
    if (rc < 0) {
        say_end(session, EXEC_REFUSED, code, err.text);
    } else {
        exec_frame_put(&session->out, EXEC_STARTED, STR(""));
    }
}

/* What the user sends. */

/* Bytes for the program: true once they are written, or nobody wants them. */
static bool write_input(struct shim_session *session, struct str bytes)
{
    int fd = session->tty_fd >= 0 ? session->tty_fd : session->input_fd;

    while (fd >= 0 && session->input_at < bytes.byte_count) {
        ssize_t n = write(fd, bytes.p + session->input_at,
                          bytes.byte_count - session->input_at);
        if (n < 0 && errno == EAGAIN) {
            return false;
        }
        if (n < 0 && errno != EINTR) {
            close_fd(&session->input_fd); /* it reads no more */
            break;
        }
        session->input_at += n > 0 ? (size_t)n : 0;
    }
    session->input_at = 0;
    return true;
}

static bool end_input(struct shim_session *session)
{
    close_fd(&session->input_fd);
    return session->tty_fd < 0 || write_input(session, str_of(end_of_input));
}

/* Whether the frame makes sense now; `ret_is_done`: and is dealt with. */
static bool take_frame(struct shim *shim, struct shim_session *session,
                       const struct exec_frame *frame, bool *ret_is_done)
{
    struct exec_start wanted;
    struct exec_size size;

    *ret_is_done = true;
    if (session->phase == SESSION_HELLO) {
        session->phase = SESSION_START;
        return frame->kind == EXEC_HELLO &&
               str_equal(frame->payload, str_of(shim->spec.exec_token));
    }
    if (session->phase == SESSION_START) {
        if (frame->kind != EXEC_START ||
            exec_start_take(frame->payload, &wanted) < 0) {
            return false;
        }
        begin(shim, session, &wanted);
        exec_start_fini(&wanted);
        return true;
    }
    if (frame->kind == EXEC_INPUT) {
        *ret_is_done = write_input(session, frame->payload);
    } else if (frame->kind == EXEC_INPUT_END) {
        *ret_is_done = end_input(session);
    } else if (frame->kind != EXEC_SIZE ||
               exec_size_take(frame->payload, &size) < 0) {
        return false;
    } else if (session->tty_fd >= 0) {
        shim_tty_resize(session->tty_fd, size);
    }
    return true;
}

/* Frames that are there; true: the first one has to wait for its program. */
static bool take_frames(struct shim *shim, struct shim_session *session,
                        bool *ret_is_bad)
{
    struct exec_frame frame;
    size_t byte_count;
    bool is_done = true;
    int rc = 0;

    while (is_done && session->phase <= SESSION_RUNNING &&
           (rc = exec_frame_take(strbuf_str(&session->in), true, &frame,
                                 &byte_count)) == 1) {
        if (!take_frame(shim, session, &frame, &is_done)) {
            rc = -ERR_CORRUPT;
            break;
        }
        exec_io_drop(&session->in, is_done ? byte_count : 0);
    }
    *ret_is_bad = rc < 0;
    return !is_done;
}

/* Whether the other end has closed, of which nothing is read now. */
static bool is_gone(int fd)
{
    struct pollfd wait = {fd, 0, 0};

    return poll(&wait, 1, 0) > 0 && wait.revents & (POLLHUP | POLLERR);
}

static void take_input(struct shim *shim, struct shim_session *session)
{
    bool is_bad = false;

    for (int i = 0; i < READS_MAX && session->phase <= SESSION_RUNNING; i++) {
        bool is_full = take_frames(shim, session, &is_bad);
        if (is_bad || (is_full && is_gone(session->fd))) {
            desert(session);
            return;
        }
        if (is_full || session->phase > SESSION_RUNNING) {
            return;
        }
        enum exec_io came = exec_io_receive(&session->in, session->fd, false);
        if (came == EXEC_IO_GONE) {
            desert(session);
        }
        if (came != EXEC_IO_SOME) {
            return;
        }
        session->heard_ms = now_ms();
    }
}

/* What the user gets. */

/* Send what waits; false: some of it still does. */
static bool flush_out(struct shim_session *session)
{
    while (session->fd >= 0 && session->out_at < session->out.byte_count) {
        ssize_t n = send(session->fd, session->out.bytes + session->out_at,
                         session->out.byte_count - session->out_at,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return false;
        }
        if (n < 0) {
            desert(session);
            return false;
        }
        session->out_at += (size_t)n;
        session->heard_ms = now_ms();
    }
    strbuf_clear(&session->out);
    session->out_at = 0;
    return true;
}

/* Take what a program wrote; false: there is nothing now.  A terminal that
 * nobody has open any more fails to be read. */
static bool take_output(struct shim_session *session, int *fd,
                        enum exec_kind kind)
{
    char bytes[EXEC_DATA_BYTES_MAX];
    ssize_t n = *fd >= 0 ? read(*fd, bytes, sizeof(bytes)) : -1;

    if (*fd < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) {
        return false;
    }
    if (n <= 0) {
        close_fd(fd);
        return false;
    }
    exec_frame_put(&session->out, kind, str_make(bytes, (size_t)n));
    return true;
}

static bool take_outputs(struct shim_session *session)
{
    bool has_some = take_output(session, &session->tty_fd, EXEC_OUTPUT);

    has_some |= take_output(session, &session->output_fds[0], EXEC_OUTPUT);
    has_some |=
        take_output(session, &session->output_fds[1], EXEC_ERROR_OUTPUT);
    return has_some;
}

static void give_output(struct shim_session *session)
{
    for (int i = 0; i < READS_MAX && session->phase == SESSION_RUNNING; i++) {
        if (!flush_out(session)) {
            return;
        }
        if (!take_outputs(session)) {
            if (session->pid == 0) {
                say_how_it_ended(session);
            }
            return;
        }
    }
}

/* What is due. */

static int64_t idle_at_ms(const struct shim_session *session)
{
    return session->heard_ms + EXEC_IDLE_MS_MAX;
}

static void keep_time(struct shim_session *session)
{
    int64_t now = now_ms();

    if (session->phase == SESSION_RUNNING) {
        enum exec_ending ending = now >= session->end_ms       ? EXEC_TIMED_OUT
                                  : now >= idle_at_ms(session) ? EXEC_IDLE
                                                               : EXEC_EXITED;
        if (ending != EXEC_EXITED && session->pid > 0) {
            shim_session_kill(session, ending);
        } else if (ending != EXEC_EXITED) {
            shim_session_close(session); /* its user does not read the rest */
        }
    } else if (now >= session->until_ms) {
        if (session->phase == SESSION_DESERTED) {
            kill_group(session); /* it is closed once it was reaped */
            session->until_ms = now + EXEC_HANGUP_MS;
        } else {
            shim_session_close(session);
        }
    }
}

void shim_session_step(struct shim *shim, struct shim_session *session)
{
    take_input(shim, session);
    give_output(session);
    if (session->phase == SESSION_ENDING && flush_out(session)) {
        shim_session_close(session);
    }
    if (session->phase != SESSION_NONE) {
        keep_time(session);
    }
}

/* Waiting. */

static size_t add_wait(struct pollfd *waits, size_t count, int fd, short events)
{
    if (fd >= 0) {
        waits[count++] = (struct pollfd){fd, events, 0};
    }
    return count;
}

/* Whether the first frame waits for its program to read. */
static bool is_input_full(const struct shim_session *session)
{
    struct exec_frame frame;
    size_t byte_count;

    return exec_frame_take(strbuf_str(&session->in), true, &frame,
                           &byte_count) == 1;
}

size_t shim_session_waits(const struct shim_session *session,
                          struct pollfd *waits)
{
    bool has_out = session->out_at < session->out.byte_count;
    size_t count = 0;

    if (session->phase == SESSION_NONE) {
        return 0;
    }
    bool is_full = session->phase <= SESSION_RUNNING && is_input_full(session);
    bool takes = session->phase <= SESSION_RUNNING && !is_full;
    short output = has_out ? 0 : POLLIN;
    count = add_wait(waits, count, session->fd,
                     (short)((takes ? POLLIN : 0) | (has_out ? POLLOUT : 0)));
    if (is_full) {
        count = add_wait(waits, count, session->input_fd, POLLOUT);
    }
    if (session->tty_fd >= 0 && (is_full || output)) {
        count = add_wait(waits, count, session->tty_fd,
                         (short)(output | (is_full ? POLLOUT : 0)));
    }
    for (int i = 0; i < 2 && output; i++) {
        count = add_wait(waits, count, session->output_fds[i], output);
    }
    return count;
}

int64_t shim_session_wake_ms(const struct shim_session *session)
{
    int64_t idle_ms = idle_at_ms(session);

    if (session->phase == SESSION_NONE) {
        return INT64_MAX;
    }
    if (session->phase != SESSION_RUNNING) {
        return session->until_ms;
    }
    /* Who has ended may have more to be read, by a limit of one step. */
    return session->pid == 0 && session->out.byte_count == 0 ? 0
           : session->end_ms < idle_ms                       ? session->end_ms
                                                             : idle_ms;
}
