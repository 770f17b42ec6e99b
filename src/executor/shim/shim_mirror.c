#include "executor/shim/shim_mirror.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/vec.h"
#include "executor/files/file.h"
#include "executor/shim/shim_view.h"

/* What a directory has: of links themselves, of all else a copy of the mount
 * that is to be mounted elsewhere, taken before the directory is covered. */
struct entry {
    char name[NAME_MAX + 1];
    int fd;
    mode_t mode;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

/* Where the copy of "/" is put together: any directory does. */
static const char stage_of_root[] = "/tmp";

static int open_entry(int dir_fd, struct entry *entry)
{
    struct stat st;

    if (fstatat(dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return -ERR_IO;
    }
    entry->mode = st.st_mode;
    entry->fd =
        S_ISLNK(st.st_mode)
            ? openat(dir_fd, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
            : open_tree(dir_fd, entry->name,
                        AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE |
                            OPEN_TREE_CLOEXEC);
    return entry->fd < 0 ? -ERR_IO : 0;
}

static int list_entries(int dir_fd, struct entries *entries)
{
    DIR *dir = file_list(dir_fd);
    int rc = dir ? 0 : -ERR_IO;

    for (struct dirent *found; rc == 0 && (found = readdir(dir));) {
        struct entry entry;
        if (strcmp(found->d_name, ".") == 0 ||
            strcmp(found->d_name, "..") == 0) {
            continue;
        }
        if (entries->count == SHIM_MIRROR_ENTRIES_MAX) {
            errno = E2BIG;
            rc = -ERR_LIMIT;
            break;
        }
        snprintf(entry.name, sizeof(entry.name), "%s", found->d_name);
        rc = open_entry(dirfd(dir), &entry);
        if (rc == 0) {
            VEC_PUSH(entries, entry);
        }
    }
    if (dir) {
        int error = errno;
        closedir(dir);
        errno = error;
    }
    return rc;
}

static int make_file(int dir_fd, const char *name)
{
    int fd =
        openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? -ERR_IO : 0;
}

/* Show an entry in the copy. */
static int mirror_entry(int copy_fd, const struct entry *entry)
{
    const char *name = entry->name;
    char link[PATH_MAX];

    if (S_ISLNK(entry->mode)) {
        ssize_t n = readlinkat(entry->fd, "", link, sizeof(link) - 1);
        link[n < 0 ? 0 : n] = '\0';
        return n < 0 || symlinkat(link, copy_fd, name) < 0 ? -ERR_IO : 0;
    }
    if (S_ISDIR(entry->mode) ? mkdirat(copy_fd, name, 0700) < 0
                             : make_file(copy_fd, name) < 0) {
        return -ERR_IO;
    }
    return move_mount(entry->fd, "", copy_fd, name, MOVE_MOUNT_F_EMPTY_PATH) < 0
               ? -ERR_IO
               : 0;
}

/* Make the copy the root. */
static int turn_root(int copy_fd)
{
    return fchdir(copy_fd) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
                   umount2(".", MNT_DETACH) < 0 || chdir("/") < 0
               ? -ERR_IO
               : 0;
}

/* An empty directory in memory, nowhere yet; -1 with errno. */
static int make_memory(mode_t mode)
{
    char octal[16];
    int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), fd = -1;

    snprintf(octal, sizeof(octal), "%o", mode & 0755);
    if (fs >= 0 && fsconfig(fs, FSCONFIG_SET_STRING, "mode", octal, 0) == 0 &&
        fsconfig(fs, FSCONFIG_SET_STRING, "size", "1m", 0) == 0 &&
        fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    }
    if (fs >= 0) {
        int error = errno;
        close(fs);
        errno = error;
    }
    return fd;
}

/* Cover the directory by one in memory that shows the same. */
static int build(int dir_fd, bool is_root, int copy_fd,
                 const struct entries *entries)
{
    int rc =
        is_root ? move_mount(copy_fd, "", AT_FDCWD, stage_of_root,
                             MOVE_MOUNT_F_EMPTY_PATH)
                : move_mount(copy_fd, "", dir_fd, "",
                             MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    if (rc < 0) {
        return -ERR_IO;
    }
    for (size_t i = 0; rc == 0 && i < entries->count; i++) {
        rc = mirror_entry(copy_fd, &entries->items[i]);
    }
    return rc == 0 && is_root ? turn_root(copy_fd) : rc;
}

/* Replace a directory by its copy; that, borrowed, or negative with errno. */
static int mirror(struct shim_mirrors *mirrors, int dir_fd, bool is_root)
{
    struct entries entries = {0};
    struct stat st;

    if (mirrors->count == SHIM_MIRRORS_MAX) {
        errno = E2BIG;
        return -ERR_LIMIT;
    }
    int rc = fstat(dir_fd, &st) < 0 ? -ERR_IO : list_entries(dir_fd, &entries);
    int fd = rc < 0 ? -1 : make_memory(st.st_mode);
    rc = rc < 0 ? rc : fd < 0 ? -ERR_IO : build(dir_fd, is_root, fd, &entries);
    int error = errno;
    for (size_t i = 0; i < entries.count; i++) {
        close(entries.items[i].fd);
    }
    VEC_FREE(&entries);
    errno = error;
    if (rc < 0 || fstat(fd, &st) < 0) {
        return -ERR_IO; /* the process ends with it, and so does `fd` */
    }
    mirrors->items[mirrors->count].device = st.st_dev;
    mirrors->items[mirrors->count++].fd = fd;
    return fd;
}

/* Whether a directory lies in a copy, where something may be made. */
static bool is_copy(const struct shim_mirrors *mirrors, int dir_fd)
{
    struct stat st;
    bool is_found = false;

    for (size_t i = 0; fstat(dir_fd, &st) == 0 && i < mirrors->count; i++) {
        is_found |= mirrors->items[i].device == st.st_dev;
    }
    return is_found;
}

bool shim_mirror_is_kernels(int fd)
{
    static const long types[] = {
        PROC_SUPER_MAGIC,    SYSFS_MAGIC,      CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, DEBUGFS_MAGIC,
        TRACEFS_MAGIC,       BPF_FS_MAGIC,     DEVPTS_SUPER_MAGIC,
    };
    /* Memory as others are; what is mounted in them is another one.  The second
     * is where control groups of version 1 are mounted. */
    static const char *const folders[] = {"/dev", "/sys/fs/cgroup"};
    struct statfs fs;
    struct stat st, folder, root;
    bool is_one = fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0;

    for (size_t i = 0; !is_one && i < ARRAY_COUNT(types); i++) {
        is_one = fs.f_type == types[i];
    }
    for (size_t i = 0; !is_one && i < ARRAY_COUNT(folders); i++) {
        is_one = stat(folders[i], &folder) == 0 && stat("/", &root) == 0 &&
                 folder.st_dev != root.st_dev && st.st_dev == folder.st_dev;
    }
    return is_one;
}

size_t shim_mirror_existing(const char *target)
{
    char part[PATH_MAX];
    size_t found = 0;

    for (size_t at = 1; at <= strlen(target); at++) {
        struct stat st;
        if (target[at] != '/' && target[at] != '\0') {
            continue;
        }
        snprintf(part, sizeof(part), "%.*s", (int)at, target);
        if (stat(part, &st) < 0) {
            return errno == EACCES ? SHIM_MIRROR_DENIED : found;
        }
        found = at;
    }
    return found;
}

/* Make a path below a directory that is the pod's own, through no link that
 * another container puts there. */
static int make_below(int dir_fd, const char *path, bool is_dir)
{
    char name[NAME_MAX + 1];
    int fd = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (const char *p = path + strspn(path, "/"); fd >= 0 && *p;) {
        size_t n = strcspn(p, "/");
        bool is_file = p[n] == '\0' && !is_dir;
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        if (!is_file && mkdirat(fd, name, 0755) < 0 && errno != EEXIST) {
            break;
        }
        int next = is_file
                       ? openat(fd, name,
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444)
                       : openat(fd, name,
                                O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(fd);
        fd = next;
        p += n;
        p += strspn(p, "/");
        if (fd >= 0 && !*p) {
            close(fd);
            return 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return -ERR_IO;
}

static int make_in(const char *own, const char *path, bool is_dir)
{
    int fd = open(own, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -ERR_IO : make_below(fd, path + strlen(own), is_dir);

    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

int shim_mirror_close(const struct shim_mirrors *mirrors)
{
    struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

    for (size_t i = 0; i < mirrors->count; i++) {
        if (mount_setattr(mirrors->items[i].fd, "", AT_EMPTY_PATH, &read_only,
                          sizeof(read_only)) < 0) {
            return -ERR_IO;
        }
        close(mirrors->items[i].fd);
    }
    return 0;
}

/* A job of this pod or another may exchange what lies on the way at any time.
 * So the directory is opened once, and all is done below descriptors: of what
 * is opened a copy is made, whatever it is, and only in copies is written. */
int shim_mirror_make(struct shim_mirrors *mirrors, const char *target,
                     size_t found, bool is_dir)
{
    char part[PATH_MAX];

    if (found == strlen(target)) {
        return 0;
    }
    if (shim_view_own(target)) {
        return make_in(shim_view_own(target), target, is_dir);
    }
    snprintf(part, sizeof(part), "%.*s", (int)found, target);
    int dir_fd = open(found ? part : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || shim_mirror_is_kernels(dir_fd)) {
        errno = dir_fd < 0 ? errno : EPERM;
        return -ERR_IO;
    }
    int fd =
        is_copy(mirrors, dir_fd) ? dir_fd : mirror(mirrors, dir_fd, found == 0);
    int rc = fd < 0 ? fd : make_below(fd, target + found, is_dir);
    int error = errno;
    close(dir_fd);
    errno = error;
    return rc;
}
