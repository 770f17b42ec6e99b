#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/files/exec_frame.h"
#include "executor/files/run_file.h"
#include "executor/process/process_private.h"

/* A connection to the shim's socket in the run's directory, or -1 with errno.
 * It does not wait for a shim that takes nobody. */
static int connect_shim(int run_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
             run_fd, RUN_EXEC_NAME);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static int refuse(struct job_id job, const struct run_spec *spec,
                  struct err *err)
{
    char id[ID_TEXT_BYTES_MAX];
    int error = errno;

    if (!*spec->exec_token) {
        return err_set(err, -ERR_NOT_FOUND,
                       "job %s was started by a release that lets nobody in",
                       job_id_format(job, id));
    }
    return error == ENOENT || error == ECONNREFUSED
               ? err_set(err, -ERR_NOT_FOUND, "job %s does not run",
                         job_id_format(job, id))
               : err_set(err, -ERR_UNAVAILABLE, "connect to job %s: %s",
                         job_id_format(job, id), strerror(error));
}

/* A shim that takes nobody more has said so and closed, perhaps already: then
 * that is what comes of the connection. */
static int say_hello(int fd, const struct run_spec *spec)
{
    auto_strbuf hello = {0};

    exec_frame_put(&hello, EXEC_HELLO, str_of(spec->exec_token));
    /* A new connection has room for it. */
    ssize_t sent = send(fd, hello.bytes, hello.byte_count, MSG_NOSIGNAL);
    bool is_said = sent == (ssize_t)hello.byte_count ||
                   (sent < 0 && (errno == EPIPE || errno == ECONNRESET));

    return is_said && fcntl(fd, F_SETFL, 0) == 0 ? 0 : -ERR_IO;
}

static int connect_run(int run_fd, struct job_id job, int *ret_fd,
                       struct err *err)
{
    struct run_spec spec;

    int rc = run_spec_read(run_fd, &spec, err);
    if (rc < 0) {
        return rc;
    }
    int fd = *spec.exec_token ? connect_shim(run_fd) : -1;
    if (fd < 0 || say_hello(fd, &spec) < 0) {
        rc = refuse(job, &spec, err);
        if (fd >= 0) {
            close(fd);
        }
    } else {
        *ret_fd = fd;
    }
    run_spec_fini(&spec);
    return rc;
}

int process_exec(const char *data_dir, struct job_id job, int *ret_fd,
                 struct err *err)
{
    int run_fd = process_open_job(data_dir, job, "processes", err);

    if (run_fd < 0) {
        return run_fd;
    }
    int rc = connect_run(run_fd, job, ret_fd, err);
    close(run_fd);
    return rc;
}
