#include "executor/shim/shim_view.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "executor/files/file.h"

enum { PATH_BYTES = 1024, OPTIONS_BYTES = 64 };

/* Directories in which anybody may write, and what a pod has instead: one in
 * its space, or (NULL) memory that goes with it. */
static const struct place {
    const char *path, *name, *options;
} places[] = {
    {"/tmp", RUN_TMP_NAME, NULL},
    {"/var/tmp", RUN_VAR_TMP_NAME, NULL},
    {"/dev/shm", NULL, "mode=1777"},
    {"/run/lock", NULL, "mode=1777,size=1m"},
};

static int fail(struct err *err, const char *step, const char *path)
{
    return err_set(err, -ERR_IO, "%s %.300s: %s", step, path, strerror(errno));
}

int shim_view_forbid(const char *target, unsigned long flags)
{
    static const struct {
        unsigned long have, flag;
    } all[] = {
        {ST_RDONLY, MS_RDONLY},
        {ST_NOSUID, MS_NOSUID},
        {ST_NODEV, MS_NODEV},
        {ST_NOEXEC, MS_NOEXEC},
    };
    struct statvfs st;

    if (statvfs(target, &st) < 0) {
        return -ERR_IO;
    }
    /* In a user namespace a mount must keep what its origin has. */
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        flags |= st.f_flag & all[i].have ? all[i].flag : 0;
    }
    return mount(NULL, target, NULL, MS_BIND | MS_REMOUNT | flags, NULL) < 0
               ? -ERR_IO
               : 0;
}

int shim_view_bind(int fd, const char *target, unsigned long flags)
{
    char source[64];

    snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
    if (mount(source, target, NULL, MS_BIND, NULL) < 0) {
        return -ERR_IO;
    }
    return flags ? shim_view_forbid(target, flags) : 0;
}

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int cover_with_memory(const struct run_spec *spec,
                             const struct place *place, struct err *err)
{
    char options[OPTIONS_BYTES];

    if (spec->shm_bytes > 0 && !strstr(place->options, "size=")) {
        snprintf(options, sizeof(options), "%s,size=%lld", place->options,
                 (long long)spec->shm_bytes);
    } else {
        snprintf(options, sizeof(options), "%s", place->options);
    }
    return mount("tmpfs", place->path, "tmpfs", MS_NOSUID | MS_NODEV, options) <
                   0
               ? fail(err, "mount memory at", place->path)
               : 0;
}

/* Show a directory of the pod's own at `place`. */
static int cover(const struct run_spec *spec, const struct place *place,
                 int space_fd, struct err *err)
{
    if (!place->name) {
        return cover_with_memory(spec, place, err);
    }
    int fd = file_open_below(space_fd, place->name, O_PATH | O_DIRECTORY);
    if (fd < 0) {
        return fail(err, "open what is shown at", place->path);
    }
    int rc = shim_view_bind(fd, place->path, MS_NOSUID | MS_NODEV);
    rc = rc < 0 ? fail(err, "cover", place->path) : 0;
    close(fd);
    return rc;
}

const char *shim_view_own(const char *path)
{
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        size_t n = strlen(places[i].path);
        if (strncmp(path, places[i].path, n) == 0 && path[n] == '/') {
            return places[i].path;
        }
    }
    return NULL;
}

/* Make the directories on the way to `path`, and itself. */
static int make_path(const char *path, struct err *err)
{
    char part[PATH_BYTES];

    for (size_t at = 1; at <= strlen(path); at++) {
        if (path[at] == '/' || path[at] == '\0') {
            snprintf(part, sizeof(part), "%.*s", (int)at, path);
            if (mkdir(part, 0755) < 0 && errno != EEXIST) {
                return fail(err, "make", part);
            }
        }
    }
    return 0;
}

/* Show one directory of the data directory where it always was. */
static int show(int fd, const char *path, struct err *err)
{
    if (!*path) {
        return 0;
    }
    int rc = make_path(path, err);
    return rc == 0 && shim_view_bind(fd, path, MS_NOSUID | MS_NODEV) < 0
               ? fail(err, "show", path)
               : rc;
}

static int hide_data(const struct run_spec *spec, int space_fd, int gang_fd,
                     struct err *err)
{
    const char *hidden = spec->hidden_dir;

    int rc = shim_view_own(hidden) ? make_path(hidden, err) : 0;
    if (rc == 0 && mount("tmpfs", hidden, "tmpfs", MS_NOSUID | MS_NODEV,
                         "mode=0755,size=64k") < 0) {
        return fail(err, "hide", hidden);
    }
    rc = rc < 0 ? rc : show(space_fd, spec->space_dir, err);
    rc = rc < 0 ? rc : show(gang_fd, spec->gang_dir, err);
    return rc == 0 && shim_view_forbid(hidden, MS_RDONLY) < 0
               ? fail(err, "close", hidden)
               : rc;
}

/* Who is not root may be allowed to write control groups, and so are its jobs:
 * they would leave theirs. */
static int close_cgroups(struct err *err)
{
    static const char path[] = "/sys/fs/cgroup";
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

    if (!is_dir(path)) {
        return 0;
    }
    return mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
                   mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &read_only,
                                 sizeof(read_only)) < 0
               ? fail(err, "close", path)
               : 0;
}

/* Terminals of its own: those of the machine, and of other pods of its user,
 * are not to be opened.  Where that cannot be had it sees the machine's, of
 * which the kernel lets it open its user's. */
static void cover_terminals(void)
{
    if (is_dir("/dev/pts")) {
        (void)!mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
                     "newinstance,ptmxmode=0666,mode=0620");
    }
}

static int mount_kernel(const struct run_spec *spec, struct err *err)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

    if ((spec->layers & RUN_LAYER_PID) &&
        mount("proc", "/proc", "proc", flags, NULL) < 0) {
        return fail(err, "mount", "/proc");
    }
    if ((spec->layers & RUN_LAYER_IPC) && is_dir("/dev/mqueue") &&
        mount("mqueue", "/dev/mqueue", "mqueue", flags, NULL) < 0 &&
        errno != ENODEV) {
        return fail(err, "mount", "/dev/mqueue");
    }
    cover_terminals();
    return spec->layers & RUN_LAYER_USER ? close_cgroups(err) : 0;
}

static int cover_all(const struct run_spec *spec, int space_fd, struct err *err)
{
    int rc = mount_kernel(spec, err);

    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(places); i++) {
        rc =
            is_dir(places[i].path) ? cover(spec, &places[i], space_fd, err) : 0;
    }
    return rc;
}

int shim_view_make(const struct run_spec *spec, struct err *err)
{
    /* What the machine mounts later shall be seen, ours not by the machine. */
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
        return fail(err, "make", "a mount namespace");
    }
    int space_fd =
        open(spec->space_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int gang_fd = *spec->gang_dir
                      ? open(spec->gang_dir,
                             O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                      : -1;
    int rc = space_fd < 0 || (*spec->gang_dir && gang_fd < 0)
                 ? fail(err, "open", spec->space_dir)
                 : cover_all(spec, space_fd, err);
    rc = rc < 0 ? rc : hide_data(spec, space_fd, gang_fd, err);
    if (gang_fd >= 0) {
        close(gang_fd);
    }
    if (space_fd >= 0) {
        close(space_fd);
    }
    return rc;
}
