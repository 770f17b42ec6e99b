#include "executor/files/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOVE_TRIES_MAX = 64 };

/* One removal. */
struct removal {
    int top_fd; /* of the tree; what is deep is moved here */
    dev_t device;
    struct tree_step *step;
    unsigned int move_count; /* makes names */
    bool is_on;              /* something was removed in this pass */
};

/* Open a directory that a job may have closed to us.  As root nothing is
 * closed. */
static int open_closed(int dir_fd, const char *name)
{
    char path[64];
    int fd =
        openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = chmod(path, 0700) < 0
                     ? -1
                     : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(fd);
    return opened;
}

/* Open a directory to empty it; < 0: it is none, or not of this tree. */
static int open_dir(const struct removal *removal, int dir_fd, const char *name)
{
    struct stat st;
    int fd =
        openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == EACCES) {
        fd = open_closed(dir_fd, name);
    }
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &st) < 0 || st.st_dev != removal->device) {
        close(fd);
        return -1;
    }
    if (geteuid() != 0 && (st.st_mode & 0700) != 0700) {
        (void)fchmod(fd, 0700);
    }
    return fd;
}

/* Move a directory that lies too deep to the top, under a name that is free
 * there. */
static void move_up(struct removal *removal, int dir_fd, const char *name)
{
    for (int i = 0; i < MOVE_TRIES_MAX; i++) {
        char moved[32];
        snprintf(moved, sizeof(moved), ".deep.%u", removal->move_count++);
        if (renameat2(dir_fd, name, removal->top_fd, moved, RENAME_NOREPLACE) ==
            0) {
            removal->is_on = true;
            return;
        }
        if (errno != EEXIST) {
            return;
        }
    }
}

static void empty_dir(struct removal *removal, int fd, int depth);

/* An entry is gone. */
static void note_removed(struct removal *removal)
{
    struct tree_step *step = removal->step;

    removal->is_on = true;
    if (step->clock && step->clock->mono_ns(step->clock) >= step->until_ns) {
        step->budget = 0;
    }
}

/* Remove an entry, with what is below it. */
static void remove_entry(struct removal *removal, int dir_fd, const char *name,
                         int depth)
{
    removal->step->budget--;
    if (unlinkat(dir_fd, name, 0) == 0) {
        note_removed(removal);
        return;
    }
    /* EPERM: what POSIX has for a directory, and what another may own. */
    if (errno != EISDIR && errno != EPERM) {
        return;
    }
    if (depth >= TREE_FDS_MAX - 1 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0) {
        move_up(removal, dir_fd, name);
        return;
    }
    int fd = open_dir(removal, dir_fd, name);
    if (fd >= 0) {
        empty_dir(removal, fd, depth + 1); /* which closes it */
    }
    if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0) {
        note_removed(removal);
    }
}

/* One pass over a directory; closes `fd`. */
static void empty_dir(struct removal *removal, int fd, int depth)
{
    DIR *dir = fdopendir(fd);

    if (!dir) {
        close(fd);
        return;
    }
    for (struct dirent *entry;
         removal->step->budget > 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0) {
            remove_entry(removal, fd, entry->d_name, depth);
        }
    }
    closedir(dir);
}

/* Pass after pass over the top, to which deep ones are moved, until one makes
 * no difference. */
static bool empty_top(struct removal *removal, int dir_fd, const char *name)
{
    do {
        int fd = open_dir(removal, dir_fd, name);
        if (fd < 0) {
            return true;
        }
        removal->is_on = false;
        removal->top_fd = fd;
        empty_dir(removal, fd, 1);
        if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0) {
            note_removed(removal);
            return true;
        }
    } while (removal->is_on && removal->step->budget > 0);
    return !removal->is_on;
}

bool tree_remove_some(int dir_fd, const char *name, struct tree_step *step)
{
    struct stat st;

    ASSERT(step->budget > 0);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return true;
    }
    struct removal removal = {.device = st.st_dev, .step = step};
    step->budget--;
    if (S_ISDIR(st.st_mode)) {
        return empty_top(&removal, dir_fd, name);
    }
    if (unlinkat(dir_fd, name, 0) == 0) {
        note_removed(&removal);
    }
    return true;
}

void tree_remove(int dir_fd, const char *name)
{
    struct tree_step step;

    do {
        step = (struct tree_step){.budget = INT_MAX};
    } while (!tree_remove_some(dir_fd, name, &step));
}
