/* The lock of a database, by which one process at a time has it. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/strbuf.h"
#include "elog/sq.h"

enum { NAME_BYTES_MAX = 4096 }; /* of an account, with all that goes with it */

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

/* "ada (user 1000)". */
static const char *name_of(uid_t uid, struct strbuf *buf)
{
    char bytes[NAME_BYTES_MAX];
    struct passwd row, *found = NULL;

    if (getpwuid_r(uid, &row, bytes, sizeof(bytes), &found) == 0 && found) {
        strbuf_addf(buf, "%s (user %u)", row.pw_name, (unsigned)uid);
    } else {
        strbuf_addf(buf, "user %u", (unsigned)uid);
    }
    return strbuf_text(buf);
}

/* Whose the file is, or else its folder, and what to do about it. */
static int fail_denied(const char *name, const char *path, struct err *err)
{
    auto_strbuf folder = {0}, owner = {0}, own = {0};
    const char *slash = strrchr(path, '/');
    struct stat stat_;

    strbuf_addf(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                slash ? path : ".");
    bool is_known =
        stat(name, &stat_) == 0 || stat(strbuf_text(&folder), &stat_) == 0;
    if (!is_known || stat_.st_uid == geteuid()) {
        return err_set(err, -ERR_IO,
                       "%s: Permission denied, and it belongs to %s, as whom "
                       "this program runs: allow the owner to read and write "
                       "it and its folder (chmod)",
                       name, name_of(geteuid(), &own));
    }
    return err_set(err, -ERR_IO,
                   "%s: Permission denied: it belongs to %s, and this program "
                   "runs as %s; run it as that user, or hand the folder over "
                   "(chown -R)",
                   name, name_of(stat_.st_uid, &owner),
                   name_of(geteuid(), &own));
}

int sq_lock(const char *path, struct err *err)
{
    size_t byte_count = strlen(path) + sizeof("-lock");
    auto_mem char *name = mem_alloc(byte_count);

    snprintf(name, byte_count, "%s-lock", path);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EACCES) {
        return fail_denied(name, path, err);
    }
    if (fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", name, strerrordesc_np(errno));
    }
    if (lock_exclusive(fd, LOCK_WAIT_MS) < 0) {
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
