/* The directories of a run that its job can use, with random names, and their
 * removal. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_file.h"
#include "executor/files/tree.h"
#include "executor/process/process_private.h"

enum {
    RANDOM_BYTES = 16,
    LINK_BYTES_MAX = 128,
    TRASH_NAME_BYTES_MAX = 128,
    TRASH_TRIES_MAX = 1000,
    TRASH_STEP_ENTRIES = 1000, /* in one step, which ends after */
    TRASH_STEP_NS = 20000000,
};

static const char link_prefix[] = "../../spaces/";

void process_random_name(const struct process *process,
                         char ret_name[PROCESS_RANDOM_NAME_BYTES])
{
    uint8_t bytes[RANDOM_BYTES];

    process->options.rng->fill(process->options.rng, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        snprintf(ret_name + 2 * i, 3, "%02x", bytes[i]);
    }
}

int process_space_make(struct process *process, int run_fd, char *ret_dir,
                       struct err *err)
{
    char name[PROCESS_RANDOM_NAME_BYTES], link[LINK_BYTES_MAX];

    process_random_name(process, name);
    snprintf(link, sizeof(link), "%s%s", link_prefix, name);
    snprintf(ret_dir, PROCESS_PATH_BYTES_MAX, "%.900s/spaces/%s",
             process->data_dir, name);
    /* The link first: by it a later life finds what to remove. */
    if (symlinkat(link, run_fd, RUN_SPACE_NAME) < 0 ||
        mkdirat(process->spaces_fd, name, 0700) < 0) {
        return err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                       "make the run's directories: %s", strerror(errno));
    }
    int fd = openat(process->spaces_fd, name,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? err_set(err, -ERR_IO, "open the run's directories: %s",
                            strerror(errno))
                  : fd;
}

bool process_space_name(const struct process *process, const char *run_name,
                        char ret_name[PROCESS_RANDOM_NAME_BYTES])
{
    char path[LINK_BYTES_MAX], link[LINK_BYTES_MAX];
    size_t prefix_bytes = strlen(link_prefix);

    snprintf(path, sizeof(path), "%.64s/%s", run_name, RUN_SPACE_NAME);
    ssize_t n = readlinkat(process->runs_fd, path, link, sizeof(link) - 1);
    link[n < 0 ? 0 : n] = '\0';
    if (strlen(link) != prefix_bytes + PROCESS_RANDOM_NAME_BYTES - 1 ||
        strncmp(link, link_prefix, prefix_bytes) != 0) {
        return false;
    }
    memcpy(ret_name, link + prefix_bytes, PROCESS_RANDOM_NAME_BYTES);
    return true;
}

/* Removal. */

void process_discard(struct process *process, int dir_fd, const char *name)
{
    for (int i = 0; i < TRASH_TRIES_MAX; i++) {
        char as[TRASH_NAME_BYTES_MAX];
        snprintf(as, sizeof(as), "%.64s.%u", name, process->discard_count++);
        if (renameat(dir_fd, name, process->trash_fd, as) == 0) {
            process->has_trash = true;
            return;
        }
        if (errno != EEXIST && errno != ENOTEMPTY) {
            break;
        }
    }
    if (errno != ENOENT) {
        tree_remove(dir_fd, name);
    }
}

void process_discard_space(struct process *process, const char *run_name)
{
    char space[PROCESS_RANDOM_NAME_BYTES];

    if (process_space_name(process, run_name, space)) {
        process_discard(process, process->spaces_fd, space);
    }
}

void process_discard_run(struct process *process, const char *run_name)
{
    process_discard_space(process, run_name);
    process_discard(process, process->runs_fd, run_name);
}

void process_empty_trash(struct process *process)
{
    const struct clock *clock = process->clock;

    if (!process->has_trash) {
        return;
    }
    struct tree_step step = {
        .budget = TRASH_STEP_ENTRIES,
        .clock = clock,
        .until_ns = clock->mono_ns(clock) + TRASH_STEP_NS,
    };
    DIR *dir = file_list(process->trash_fd);

    for (struct dirent *entry;
         dir && step.budget > 0 && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            !tree_remove_some(process->trash_fd, entry->d_name, &step)) {
            break;
        }
    }
    process->has_trash = dir && step.budget <= 0;
    if (dir) {
        closedir(dir);
    }
}

/* What a crash left between two steps. */

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, PROCESS_RANDOM_NAME_BYTES);
}

/* The spaces of all runs, in order. */
struct names {
    char (*items)[PROCESS_RANDOM_NAME_BYTES];
    size_t count, capacity;
};

/* false: nobody knows. */
static bool collect_used(const struct process *process, struct names *used)
{
    DIR *dir = file_list(process->runs_fd);

    if (!dir) {
        return false;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        VEC_RESERVE(used, 1);
        if (process_space_name(process, entry->d_name,
                               used->items[used->count])) {
            used->count++;
        }
    }
    closedir(dir);
    if (used->count > 0) {
        qsort(used->items, used->count, sizeof(*used->items), compare_names);
    }
    return true;
}

void process_sweep_spaces(struct process *process)
{
    struct names used = {0};
    DIR *dir =
        collect_used(process, &used) ? file_list(process->spaces_fd) : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' &&
            (strlen(entry->d_name) != PROCESS_RANDOM_NAME_BYTES - 1 ||
             used.count == 0 ||
             !bsearch(entry->d_name, used.items, used.count,
                      sizeof(*used.items), compare_names))) {
            process_discard(process, process->spaces_fd, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    VEC_FREE(&used);
    process->has_trash = true; /* what an earlier life did not get to */
}
