/* The lock of a database, by which one process at a time has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "elog/sq.h"

/* "in use by process 123", as far as the lock file says. */
static int fail_locked(int fd, const char *path, struct err *err)
{
    char pid[16] = "";

    ssize_t got = pread(fd, pid, sizeof(pid) - 1, 0);
    long number = got > 0 ? strtol(pid, NULL, 10) : 0;
    if (number > 0) {
        return err_set(err, -ERR_CONFLICT, "%s is in use by process %ld", path,
                       number);
    }
    return err_set(err, -ERR_CONFLICT, "%s is in use by another process", path);
}

int sq_lock(const char *path, struct err *err)
{
    size_t byte_count = strlen(path) + sizeof("-lock");
    auto_mem char *name = mem_alloc(byte_count);

    snprintf(name, byte_count, "%s-lock", path);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", name, strerrordesc_np(errno));
    }
    if (lock_exclusive(fd) < 0) {
        int rc = fail_locked(fd, path, err);
        close(fd);
        return rc;
    }
    /* The pid is for people only; that it cannot be written harms nobody. */
    char pid[16];
    int pid_byte_count = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 ||
        pwrite(fd, pid, (size_t)pid_byte_count, 0) < 0) {
        return fd;
    }
    return fd;
}
