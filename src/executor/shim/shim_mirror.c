#include "executor/shim/shim_mirror.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"
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

static int list_entries(const char *path, struct entries *entries)
{
    DIR *dir = opendir(path);
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

static int make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? -ERR_IO : 0;
}

/* Show an entry in the copy. */
static int mirror_entry(const char *stage, const struct entry *entry)
{
    char path[PATH_MAX], link[PATH_MAX];

    snprintf(path, sizeof(path), "%.3000s/%s", stage, entry->name);
    if (S_ISLNK(entry->mode)) {
        ssize_t n = readlinkat(entry->fd, "", link, sizeof(link) - 1);
        link[n < 0 ? 0 : n] = '\0';
        return n < 0 || symlink(link, path) < 0 ? -ERR_IO : 0;
    }
    if (S_ISDIR(entry->mode) ? mkdir(path, 0700) < 0 : make_file(path) < 0) {
        return -ERR_IO;
    }
    return move_mount(entry->fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) <
                   0
               ? -ERR_IO
               : 0;
}

/* Make the copy at `stage` the root. */
static int turn_root(const char *stage)
{
    return chdir(stage) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
                   umount2(".", MNT_DETACH) < 0 || chdir("/") < 0
               ? -ERR_IO
               : 0;
}

static int build(const char *path, const struct stat *st,
                 const struct entries *entries)
{
    bool is_root = strcmp(path, "/") == 0;
    const char *stage = is_root ? stage_of_root : path;
    char options[64];
    int rc = 0;

    snprintf(options, sizeof(options), "mode=%o,size=1m", st->st_mode & 0755);
    if (mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
        return -ERR_IO;
    }
    for (size_t i = 0; rc == 0 && i < entries->count; i++) {
        rc = mirror_entry(stage, &entries->items[i]);
    }
    return rc == 0 && is_root ? turn_root(stage) : rc;
}

/* Replace the directory `path` by its copy. */
static int mirror(struct shim_mirrors *mirrors, const char *path)
{
    struct entries entries = {0};
    struct stat st;

    if (mirrors->count == SHIM_MIRRORS_MAX) {
        errno = E2BIG;
        return -ERR_LIMIT;
    }
    int rc = stat(path, &st) < 0 ? -ERR_IO : list_entries(path, &entries);
    rc = rc < 0 ? rc : build(path, &st, &entries);
    int error = errno;
    for (size_t i = 0; i < entries.count; i++) {
        close(entries.items[i].fd);
    }
    VEC_FREE(&entries);
    errno = error;
    if (rc == 0 && stat(path, &st) == 0) {
        mirrors->items[mirrors->count].device = st.st_dev;
        snprintf(mirrors->items[mirrors->count++].path, PATH_MAX, "%s", path);
    }
    return rc;
}

/* Whether what is there lies in a copy, where something may be made. */
static bool is_copy(const struct shim_mirrors *mirrors, const char *path)
{
    struct stat st;
    bool is_found = false;

    for (size_t i = 0; stat(path, &st) == 0 && i < mirrors->count; i++) {
        is_found |= mirrors->items[i].device == st.st_dev;
    }
    return is_found;
}

/* The byte count of the longest part of a path that exists; 0: "/". */
static size_t existing_part(const char *target)
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
            break;
        }
        found = at;
    }
    return found;
}

/* Make what is missing of a path in a copy. */
static int make_rest(const char *target, size_t from, bool is_dir)
{
    char part[PATH_MAX];

    for (size_t at = from + 1; at <= strlen(target); at++) {
        if (target[at] != '/' && target[at] != '\0') {
            continue;
        }
        snprintf(part, sizeof(part), "%.*s", (int)at, target);
        bool is_last = target[at] == '\0';
        if (is_last && !is_dir ? make_file(part) < 0
                               : mkdir(part, 0755) < 0 && errno != EEXIST) {
            return -ERR_IO;
        }
    }
    return 0;
}

/* Make a path in a directory that is the pod's own, through no link that
 * another container puts there. */
static int make_in(const char *own, const char *path, bool is_dir)
{
    char name[NAME_MAX + 1];
    int fd = open(own, O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (const char *p = path + strlen(own) + 1; fd >= 0 && *p;) {
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

int shim_mirror_close(const struct shim_mirrors *mirrors)
{
    for (size_t i = 0; i < mirrors->count; i++) {
        if (shim_view_forbid(mirrors->items[i].path, MS_RDONLY) < 0) {
            return -ERR_IO;
        }
    }
    return 0;
}

int shim_mirror_make(struct shim_mirrors *mirrors, const char *target,
                     bool is_dir)
{
    char part[PATH_MAX], real[PATH_MAX];
    size_t found = existing_part(target);
    int rc = 0;

    if (found == strlen(target)) {
        return 0;
    }
    if (shim_view_own(target)) {
        return make_in(shim_view_own(target), target, is_dir);
    }
    snprintf(part, sizeof(part), "%.*s", (int)found, target);
    if (!realpath(found > 0 ? part : "/", real)) {
        return -ERR_IO;
    }
    if (!is_copy(mirrors, real)) {
        rc = mirror(mirrors, real);
    }
    return rc < 0 ? rc : make_rest(target, found, is_dir);
}
