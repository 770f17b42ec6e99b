#include "executor/shim/shim_fence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PATH_BYTES = 1024,
};

/* Newer than the headers of the oldest system that we build on.  The numbers
 * are the kernel's. */
#define RIGHT_REFER (1ULL << 13)
#define RIGHT_TRUNCATE (1ULL << 14)
#define RIGHT_IOCTL_DEV (1ULL << 15)
#define SCOPE_SIGNAL (1ULL << 1)

#define RIGHTS_OF_FILES                                           \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
     LANDLOCK_ACCESS_FS_READ_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV)

/* What the newest kernel takes; an older one takes its first bytes. */
struct ruleset_attr {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

struct fence {
    int ruleset_fd;
    uint64_t rights; /* that are handled */
    int rule_count;
};

static uint64_t rights_of(long abi)
{
    uint64_t rights = (1ULL << 13) - 1; /* version 1 */

    rights |= abi >= 2 ? RIGHT_REFER : 0;
    rights |= abi >= 3 ? RIGHT_TRUNCATE : 0;
    return rights | (abi >= 5 ? RIGHT_IOCTL_DEV : 0);
}

static int open_fence(struct fence *fence)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);
    struct ruleset_attr attr = {
        .handled_access_fs = rights_of(abi),
        .scoped = abi >= 6 ? SCOPE_SIGNAL : 0,
    };

    if (abi < 1) {
        return -ERR_IO;
    }
    fence->rights = attr.handled_access_fs;
    fence->ruleset_fd = (int)syscall(
        SYS_landlock_create_ruleset, &attr,
        abi >= 6 ? sizeof(attr) : sizeof(attr.handled_access_fs), 0);
    return fence->ruleset_fd < 0 ? -ERR_IO : 0;
}

static int allow(struct fence *fence, int fd, uint64_t rights)
{
    struct landlock_path_beneath_attr attr = {
        .allowed_access = rights & fence->rights, .parent_fd = fd};

    fence->rule_count++;
    return syscall(SYS_landlock_add_rule, fence->ruleset_fd,
                   LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0
               ? -ERR_IO
               : 0;
}

/* Allow all below what `name` is; a link is what it leads to. */
static int allow_entry(struct fence *fence, int dir_fd, const char *name)
{
    struct stat st;
    int fd = openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int rc = 0;

    if (fd < 0) {
        return 0; /* gone, or not ours to see */
    }
    if (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode)) {
        rc = allow(fence, fd,
                   S_ISDIR(st.st_mode) ? UINT64_MAX : RIGHTS_OF_FILES);
    }
    close(fd);
    return rc;
}

/* Allow what lies in a directory beside the way. */
static int allow_beside(struct fence *fence, const char *dir_path,
                        struct str way)
{
    DIR *dir = opendir(dir_path);
    int rc = 0;

    for (struct dirent *entry; dir && rc == 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            !str_equal(str_of(entry->d_name), way) &&
            fence->rule_count < SHIM_FENCE_RULES_MAX) {
            rc = allow_entry(fence, dirfd(dir), entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rc;
}

static int allow_path(struct fence *fence, const char *path, uint64_t rights)
{
    int fd = *path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int rc = fd < 0 ? (*path ? -ERR_IO : 0) : allow(fence, fd, rights);

    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/* All directories from the root to where `hidden` lies. */
static int allow_around(struct fence *fence, const char *hidden)
{
    char dir[PATH_BYTES];
    int rc = 0;

    for (const char *at = hidden; rc == 0 && *at == '/';) {
        size_t n = strcspn(at + 1, "/");
        snprintf(dir, sizeof(dir), "%.*s", (int)(at - hidden), hidden);
        rc = allow_beside(fence, *dir ? dir : "/", str_make(at + 1, n));
        at += 1 + n;
    }
    return rc;
}

int shim_fence_enter(const struct run_spec *spec)
{
    struct fence fence = {.rule_count = 0};

    if (open_fence(&fence) < 0) {
        return -ERR_IO;
    }
    int rc = allow_path(&fence, "/", LANDLOCK_ACCESS_FS_READ_DIR);
    rc = rc < 0 ? rc : allow_path(&fence, spec->space_dir, UINT64_MAX);
    rc = rc < 0 ? rc : allow_path(&fence, spec->gang_dir, UINT64_MAX);
    rc = rc < 0 ? rc : allow_around(&fence, spec->hidden_dir);
    rc = rc == 0 && syscall(SYS_landlock_restrict_self, fence.ruleset_fd, 0) < 0
             ? -ERR_IO
             : rc;
    close(fence.ruleset_fd);
    return rc;
}
