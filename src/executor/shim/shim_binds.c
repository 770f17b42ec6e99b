#include "executor/shim/shim_binds.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/shim/shim_mirror.h"

static int fail(struct shim_binds *binds, size_t index, const char *step)
{
    binds->step = step;
    binds->path = binds->container->binds.items[index].target;
    return -ERR_IO;
}

/* The source of a mount, opened without following any link: an init container
 * may have put one where a sub-path was, and we are root here. */
static int open_source(const char *space_dir, const char *path)
{
    size_t n = strlen(space_dir);
    bool is_ours = n > 0 && strncmp(path, space_dir, n) == 0 && path[n] == '/';
    /* Opened again: the kernel does not bind what was opened in another mount
     * namespace. */
    int below_fd = open(is_ours ? space_dir : "/",
                        O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int fd = file_open_below(below_fd, path + (is_ours ? n + 1 : 1), O_PATH);

    close(below_fd);
    return fd;
}

/* A copy of the mount of a source, with what is forbidden there. */
static int copy_source(const char *space_dir, const struct run_bind *bind)
{
    struct mount_attr attr = {.attr_set =
                                  MOUNT_ATTR_NOSUID |
                                  (bind->is_read_only ? MOUNT_ATTR_RDONLY : 0)};
    int source_fd = open_source(space_dir, bind->source);
    int fd =
        source_fd < 0
            ? -1
            : open_tree(source_fd, "",
                        AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    int error = errno;

    if (source_fd >= 0) {
        close(source_fd);
    }
    errno = error;
    return fd >= 0 &&
                   mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0
               ? -1
               : fd;
}

int shim_binds_take(struct shim_binds *binds,
                    const struct run_container *container,
                    const char *space_dir)
{
    *binds = (struct shim_binds){.container = container};
    for (size_t i = 0; i < container->binds.count; i++) {
        binds->fds[i] = copy_source(space_dir, &container->binds.items[i]);
        if (binds->fds[i] < 0) {
            return fail(binds, i, "open what is mounted at");
        }
    }
    return 0;
}

/* Whether the `index`th mount lies in one that is made before it: nothing is
 * made there, for it is another volume. */
static bool is_in_volume(const struct run_container *container, size_t index)
{
    const char *target = container->binds.items[index].target;

    for (size_t i = 0; i < index; i++) {
        const char *other = container->binds.items[i].target;
        size_t n = strlen(other);
        if (strncmp(target, other, n) == 0 && target[n] == '/') {
            return true;
        }
    }
    return false;
}

/* To look at files as the job's user does, so that nobody learns by it of files
 * that only root sees; `is_job` false: as ourselves again.  What else we may
 * stays. */
static void look_as(const struct run_container *container, bool is_job)
{
    if (container->gid >= 0) {
        (void)setgroups(0, NULL);
        (void)setfsgid(is_job ? (gid_t)container->gid : getegid());
    }
    if (container->uid >= 0) {
        (void)setfsuid(is_job ? (uid_t)container->uid : geteuid());
    }
}

int shim_binds_make_targets(struct shim_binds *binds)
{
    const struct run_container *container = binds->container;
    struct shim_mirrors mirrors = {.count = 0};

    for (size_t i = 0; i < container->binds.count; i++) {
        const char *target = container->binds.items[i].target;
        struct stat st;
        if (is_in_volume(container, i)) {
            continue;
        }
        look_as(container, true);
        size_t found = shim_mirror_existing(target);
        int error = errno;
        look_as(container, false);
        errno = error;
        if (found == SHIM_MIRROR_DENIED || fstat(binds->fds[i], &st) < 0 ||
            shim_mirror_make(&mirrors, target, found, S_ISDIR(st.st_mode)) <
                0) {
            return fail(binds, i, "make the mount path");
        }
    }
    if (shim_mirror_close(&mirrors) < 0) {
        binds->step = "close what shows";
        binds->path = "the mount paths";
        return -ERR_IO;
    }
    return 0;
}

/* A path as the job's user finds it, through links, but none of /proc. */
static int open_target(const struct run_container *container, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_NO_MAGICLINKS};

    look_as(container, true);
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
    int error = errno;
    look_as(container, false);
    errno = error;
    return fd;
}

int shim_binds_mount(struct shim_binds *binds)
{
    const struct run_container *container = binds->container;

    for (size_t i = 0; i < container->binds.count; i++) {
        int fd = open_target(container, container->binds.items[i].target);
        if (fd < 0) {
            return fail(binds, i, "mount");
        }
        if (shim_mirror_is_kernels(fd)) {
            errno = EPERM;
            return fail(binds, i, "mount over the kernel's files at");
        }
        if (move_mount(binds->fds[i], "", fd, "",
                       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) {
            return fail(binds, i, "mount");
        }
        close(fd);
        close(binds->fds[i]);
    }
    return 0;
}
