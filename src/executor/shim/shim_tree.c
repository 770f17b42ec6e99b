#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "executor/shim/shim.h"

enum { ROUNDS_MAX = 400, PAUSE_MS = 5 };

struct process {
    pid_t pid, parent, session;
    bool is_dead;       /* a zombie: waits for its parent only */
    bool is_descendant; /* of us */
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

/* Mark who descends from us: a child's parent is marked before it, or the
 * next pass finds it, so passes go on until one marks nobody. */
static void mark_descendants(struct process_list *list)
{
    pid_t self = getpid();
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (size_t i = 0; i < list->count; i++) {
            struct process *process = &list->items[i];
            bool is_ours = process->parent == self;
            for (size_t j = 0;
                 !is_ours && !process->is_descendant && j < list->count; j++) {
                is_ours = list->items[j].is_descendant &&
                          list->items[j].pid == process->parent;
            }
            if (is_ours && !process->is_descendant) {
                process->is_descendant = true;
                is_changed = true;
            }
        }
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
