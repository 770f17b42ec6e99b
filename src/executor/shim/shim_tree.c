#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "executor/files/file.h"
#include "executor/shim/shim.h"

enum { ROUNDS_MAX = 400, PAUSE_MS = 5, CHILDREN_BYTES_MAX = 1 << 20 };

struct process {
    pid_t pid, parent, session;
    bool is_dead;       /* a zombie: waits for its parent only */
    bool is_descendant; /* of us */
    bool is_traced;     /* that was found out */
};

struct process_list {
    struct process *items;
    size_t count, capacity;
};

static bool read_process(pid_t pid, struct process *ret_process)
{
    char path[64];
    char text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    char *tail = strrchr(text, ')');
    char state;
    int parent, group, session;
    if (!tail || sscanf(tail + 1, " %c %d %d %d", &state, &parent, &group,
                        &session) != 4) {
        return false;
    }
    *ret_process = (struct process){.pid = pid,
                                    .parent = parent,
                                    .session = session,
                                    .is_dead = state == 'Z' || state == 'X'};
    return true;
}

static void list_processes(struct process_list *list)
{
    DIR *dir = opendir("/proc");

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct process process;
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 1 && read_process(pid, &process)) {
            VEC_PUSH(list, process);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

static int compare_processes(const void *a, const void *b)
{
    const struct process *left = a, *right = b;

    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static struct process *find_process(const struct process_list *list, pid_t pid)
{
    const struct process wanted = {.pid = pid};

    return bsearch(&wanted, list->items, list->count, sizeof(wanted),
                   compare_processes);
}

/* Whether we are among its ancestors.  Everybody on the way up learns the
 * answer, so that each is walked over once, however many there are. */
static void trace(const struct process_list *list, struct process *process)
{
    bool is_ours = false;
    struct process *at = process;

    for (size_t i = 0; at && !at->is_traced && i < list->count; i++) {
        at->is_traced = true;
        is_ours = at->parent == getpid();
        at = is_ours ? NULL : find_process(list, at->parent);
    }
    is_ours |= at && at->is_descendant;
    for (; process && process != at && !process->is_descendant;
         process = find_process(list, process->parent)) {
        process->is_descendant = is_ours;
        if (!is_ours || process->parent == getpid()) {
            break;
        }
    }
}

static void mark_descendants(struct process_list *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof(*list->items), compare_processes);
    for (size_t i = 0; i < list->count; i++) {
        trace(list, &list->items[i]);
    }
}

static int kill_once(pid_t session)
{
    struct process_list list = {0};
    int count = 0;

    list_processes(&list);
    mark_descendants(&list);
    for (size_t i = 0; i < list.count; i++) {
        const struct process *process = &list.items[i];
        if (process->is_descendant && !process->is_dead &&
            (session == 0 || process->session == session)) {
            (void)kill(process->pid, SIGKILL);
            count++;
        }
    }
    VEC_FREE(&list);
    return count;
}

int shim_tree_kill(pid_t session)
{
    int first = 0;

    for (int round = 0; round < ROUNDS_MAX; round++) {
        int count = kill_once(session);
        first = round == 0 ? count : first;
        if (count == 0) {
            break;
        }
        (void)poll(NULL, 0, PAUSE_MS);
    }
    return first;
}

/* The list of our children, which is short and quickly read; the caller frees
 * it. */
static char *read_children(void)
{
    char path[64];
    struct strbuf text = strbuf_make(CHILDREN_BYTES_MAX);
    struct err err;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    (void)!file_read(AT_FDCWD, path, &text, &err);
    return strbuf_steal(&text);
}

int shim_tree_kill_children(void)
{
    char *text = read_children();
    int count = 0;
    char *rest = text;

    for (char *word; (word = strsep(&rest, " "));) {
        pid_t pid = (pid_t)atoi(word);
        count += pid > 1 && kill(pid, SIGKILL) == 0;
    }
    mem_free(text);
    return count;
}
