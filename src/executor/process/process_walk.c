#include "executor/process/process_walk.h"

#include <fcntl.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/runtime.h"
#include "wire/text/inner_path.h"

enum { NS_PER_MS = 1000000 };

struct walk {
    process_walk_fn *each;
    void *ctx;
    const struct clock *clock; /* NULL: no deadline */
    uint64_t until_ns;
    dev_t device;
    char path[INNER_PATH_BYTES_MAX + 2]; /* a slash behind it, and the end */
    struct process_walk_rest rest;
};

static void walk_dir(struct walk *walk, int dir_fd, size_t path_bytes,
                     int depth);

/* Go into a directory, if it is one still. */
static void enter(struct walk *walk, int dir_fd, const char *name,
                  size_t path_bytes, int depth)
{
    struct stat st;

    if (depth >= RUNTIME_FILE_DEPTH_MAX ||
        path_bytes + 1 >= INNER_PATH_BYTES_MAX) {
        walk->rest.deep_count++;
        return;
    }
    int fd =
        openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != walk->device) {
        walk->rest.closed_count++;
    } else {
        walk->path[path_bytes] = '/';
        walk_dir(walk, fd, path_bytes + 1, depth + 1);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Count an entry; false: it is one too many, or too late. */
static bool may_visit(struct walk *walk)
{
    if (walk->rest.visit_count >= PROCESS_WALK_VISITS_MAX ||
        (walk->clock && walk->clock->mono_ns(walk->clock) >= walk->until_ns)) {
        walk->rest.is_cut = true;
        return false;
    }
    walk->rest.visit_count++;
    return true;
}

/* One entry of a directory; false: enough. */
static bool visit(struct walk *walk, int dir_fd, const char *name,
                  size_t path_bytes, int depth)
{
    size_t name_bytes = strlen(name);
    struct stat st;

    if (!may_visit(walk)) {
        return false;
    }
    if (path_bytes + name_bytes > INNER_PATH_BYTES_MAX) {
        walk->rest.long_count++;
        return true;
    }
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return true; /* it is gone */
    }
    memcpy(walk->path + path_bytes, name, name_bytes + 1);
    path_bytes += name_bytes;
    if (!walk->each(walk->ctx, str_make(walk->path, path_bytes), &st)) {
        walk->rest.is_cut = true;
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        enter(walk, dir_fd, name, path_bytes, depth);
    }
    return !walk->rest.is_cut;
}

static void walk_dir(struct walk *walk, int dir_fd, size_t path_bytes,
                     int depth)
{
    DIR *dir = file_list(dir_fd);

    if (!dir) {
        walk->rest.closed_count++;
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            !visit(walk, dir_fd, entry->d_name, path_bytes, depth)) {
            break;
        }
    }
    closedir(dir);
}

void process_walk(int dir_fd, struct str prefix, const struct clock *clock,
                  process_walk_fn *each, void *ctx,
                  struct process_walk_rest *ret_rest)
{
    struct walk walk = {.each = each, .ctx = ctx, .clock = clock};
    struct stat st;

    /* The longest path that a folder can have, and its slash. */
    ASSERT(prefix.byte_count <= INNER_PATH_BYTES_MAX + 1);
    if (prefix.byte_count > 0) {
        memcpy(walk.path, prefix.p, prefix.byte_count);
    }
    if (clock) {
        walk.until_ns =
            clock->mono_ns(clock) + (uint64_t)PROCESS_WALK_MS_MAX * NS_PER_MS;
    }
    if (fstat(dir_fd, &st) < 0) {
        walk.rest.closed_count++;
    } else {
        walk.device = st.st_dev;
        walk_dir(&walk, dir_fd, prefix.byte_count, 0);
    }
    *ret_rest = walk.rest;
}
