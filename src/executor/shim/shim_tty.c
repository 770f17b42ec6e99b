#include "executor/shim/shim_tty.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "executor/files/fd_pass.h"

int shim_tty_make(struct exec_size size, int fd)
{
    const struct winsize sides = {.ws_col = size.columns, .ws_row = size.rows};
    int main_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (main_fd < 0 || unlockpt(main_fd) < 0) {
        return -ERR_IO;
    }
    /* Not by its path. */
    int job_fd = ioctl(main_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (job_fd < 0 || ioctl(job_fd, TIOCSWINSZ, &sides) < 0 ||
        ioctl(job_fd, TIOCSCTTY, 0) < 0 || fd_pass_send(fd, main_fd) < 0 ||
        dup2(job_fd, STDIN_FILENO) < 0 || dup2(job_fd, STDOUT_FILENO) < 0 ||
        dup2(job_fd, STDERR_FILENO) < 0) {
        return -ERR_IO;
    }
    return 0; /* both are closed at exec */
}

int shim_tty_receive(int fd)
{
    unsigned int number;
    int tty_fd = fd_pass_receive(fd);

    if (tty_fd >= 0 && (ioctl(tty_fd, TIOCGPTN, &number) < 0 ||
                        fcntl(tty_fd, F_SETFL, O_NONBLOCK) < 0)) {
        close(tty_fd);
        return -1;
    }
    return tty_fd;
}

void shim_tty_resize(int tty_fd, struct exec_size size)
{
    const struct winsize sides = {.ws_col = size.columns, .ws_row = size.rows};

    (void)ioctl(tty_fd, TIOCSWINSZ, &sides);
}
