#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/cgroup_private.h"
#include "executor/files/file.h"

enum {
    CPU_PERIOD_US = 100000,
    KILL_PAUSE_MS = 5,
    PIDS_PER_ROUND_MAX = 4096,
};

static int write_in(const char *parent, const char *name, const char *file,
                    const char *text)
{
    char path[CGROUP_FILE_BYTES_MAX];

    snprintf(path, sizeof(path), "%s/%s/%s", parent, name, file);
    return file_poke(path, text);
}

static int write_number(const char *parent, const char *name, const char *file,
                        int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, number);
    return write_in(parent, name, file, text);
}

void cgroup_read(const char *path, char *text, size_t capacity)
{
    ssize_t got = 0;
    size_t total = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && total + 1 < capacity &&
           (got = read(fd, text + total, capacity - 1 - total)) > 0) {
        total += (size_t)got;
    }
    text[total] = '\0';
    if (fd >= 0) {
        close(fd);
    }
}

bool cgroup_make_dir(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

bool cgroup_has(const struct cgroup_layout *layout,
                enum cgroup_controller controller)
{
    return layout->kind == CGROUP_V2
               ? !(layout->missing & (INT64_C(1) << controller))
               : layout->parents[controller][0] != '\0';
}

void cgroup_release(const struct cgroup_layout *layout)
{
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (layout->parents[c][0]) {
            (void)rmdir(layout->parents[c]);
        }
    }
}

static void note(struct err *text, int rc, const char *what)
{
    if (rc < 0) {
        (void)err_set(text, rc, "the %s limit was refused: %s", what,
                      strerror(errno));
    }
}

static int64_t shares_of(int64_t cpu_milli)
{
    int64_t shares = cpu_milli * 1024 / 1000;

    return shares < 2 ? 2 : shares > 262144 ? 262144 : shares;
}

static int64_t quota_us_of(int64_t cpu_milli)
{
    int64_t quota = cpu_milli * CPU_PERIOD_US / 1000;

    return quota < 1000 ? 1000 : quota;
}

static void limit_v1(const struct cgroup_layout *layout, const char *name,
                     const struct cgroup_limits *limits, struct err *text)
{
    const char *memory = layout->parents[CGROUP_MEMORY];
    const char *cpu = layout->parents[CGROUP_CPU];
    const char *pids = layout->parents[CGROUP_PIDS];

    if (limits->memory_bytes > 0) {
        note(text,
             write_number(memory, name, "memory.limit_in_bytes",
                          limits->memory_bytes),
             "memory");
        /* Swap is counted only where the kernel was told to. */
        (void)!write_number(memory, name, "memory.memsw.limit_in_bytes",
                            limits->memory_bytes);
    }
    if (*cpu && limits->cpu_milli > 0) {
        note(text,
             write_number(cpu, name, "cpu.cfs_quota_us",
                          quota_us_of(limits->cpu_milli)),
             "cpu");
    }
    if (*cpu && limits->cpu_request_milli > 0) {
        (void)!write_number(cpu, name, "cpu.shares",
                            shares_of(limits->cpu_request_milli));
    }
    if (*pids && limits->pids_max > 0) {
        note(text, write_number(pids, name, "pids.max", limits->pids_max),
             "process count");
    }
}

static void limit_v2(const struct cgroup_layout *layout, const char *name,
                     const struct cgroup_limits *limits, struct err *text)
{
    const char *parent = layout->parents[CGROUP_MEMORY];

    if (cgroup_has(layout, CGROUP_MEMORY) && limits->memory_bytes > 0) {
        note(text,
             write_number(parent, name, "memory.max", limits->memory_bytes),
             "memory");
        (void)!write_in(parent, name, "memory.swap.max", "0");
        (void)!write_in(parent, name, "memory.oom.group", "1");
    }
    if (cgroup_has(layout, CGROUP_CPU) && limits->cpu_milli > 0) {
        char max[64];
        snprintf(max, sizeof(max), "%" PRId64 " %d",
                 quota_us_of(limits->cpu_milli), CPU_PERIOD_US);
        note(text, write_in(parent, name, "cpu.max", max), "cpu");
    }
    if (cgroup_has(layout, CGROUP_CPU) && limits->cpu_request_milli > 0) {
        int64_t shares = shares_of(limits->cpu_request_milli);
        (void)!write_number(parent, name, "cpu.weight",
                            1 + (shares - 2) * 9999 / 262142);
    }
    if (cgroup_has(layout, CGROUP_PIDS) && limits->pids_max > 0) {
        note(text, write_number(parent, name, "pids.max", limits->pids_max),
             "process count");
    }
}

int cgroup_add(const struct cgroup_layout *layout, const char *name,
               const struct cgroup_limits *limits, struct err *ret_text)
{
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        char path[CGROUP_FILE_BYTES_MAX];
        if (!layout->parents[c][0]) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", layout->parents[c], name);
        if (!cgroup_make_dir(path)) {
            return err_set(ret_text, -ERR_IO, "%s: %s", path, strerror(errno));
        }
    }
    if (layout->kind == CGROUP_V1) {
        limit_v1(layout, name, limits, ret_text);
    } else if (layout->kind == CGROUP_V2) {
        limit_v2(layout, name, limits, ret_text);
    }
    return 0;
}

int cgroup_enter(const struct cgroup_layout *layout, const char *name)
{
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (layout->parents[c][0] &&
            write_in(layout->parents[c], name, "cgroup.procs", "0") < 0) {
            return -ERR_IO;
        }
    }
    return 0;
}

/* SIGKILL every process listed for the group; how many there were. */
static int kill_listed(const char *parent, const char *name)
{
    char path[CGROUP_FILE_BYTES_MAX];
    int count = 0;

    snprintf(path, sizeof(path), "%s/%s/cgroup.procs", parent, name);
    FILE *file = fopen(path, "re");
    for (int pid;
         file && count < PIDS_PER_ROUND_MAX && fscanf(file, "%d", &pid) == 1;) {
        if (pid > 1) {
            (void)kill(pid, SIGKILL);
            count++;
        }
    }
    if (file) {
        fclose(file);
    }
    return count;
}

void cgroup_kill(const struct cgroup_layout *layout, const char *name)
{
    const char *freezer = layout->parents[CGROUP_FREEZER];
    const char *parent = *freezer ? freezer : layout->parents[CGROUP_MEMORY];

    for (int round = 0; *parent && round < CGROUP_KILL_ROUNDS_MAX; round++) {
        if (layout->kind == CGROUP_V2) {
            (void)!write_in(parent, name, "cgroup.kill", "1");
        }
        /* Frozen, nothing can fork its way out of the list. */
        if (*freezer) {
            (void)!write_in(freezer, name, "freezer.state", "FROZEN");
        }
        int count = kill_listed(parent, name);
        if (*freezer) {
            (void)!write_in(freezer, name, "freezer.state", "THAWED");
        }
        if (count == 0) {
            return;
        }
        (void)poll(NULL, 0, KILL_PAUSE_MS);
    }
}

int64_t cgroup_oom_kill_count(const struct cgroup_layout *layout,
                              const char *name)
{
    char path[CGROUP_FILE_BYTES_MAX];
    char text[1024];

    if (layout->kind == CGROUP_NONE) {
        return 0;
    }
    snprintf(
        path, sizeof(path), "%s/%s/%s", layout->parents[CGROUP_MEMORY], name,
        layout->kind == CGROUP_V2 ? "memory.events" : "memory.oom_control");
    cgroup_read(path, text, sizeof(text));
    const char *at = strstr(text, "oom_kill ");
    return at ? strtoll(at + strlen("oom_kill "), NULL, 10) : 0;
}

void cgroup_remove(const struct cgroup_layout *layout, const char *name)
{
    if (layout->kind == CGROUP_NONE) {
        return;
    }
    cgroup_kill(layout, name);
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        char path[CGROUP_FILE_BYTES_MAX];
        if (!layout->parents[c][0]) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", layout->parents[c], name);
        /* The last member may still be on its way out. */
        for (int round = 0; round < CGROUP_KILL_ROUNDS_MAX; round++) {
            if (rmdir(path) == 0 || errno != EBUSY) {
                break;
            }
            (void)poll(NULL, 0, KILL_PAUSE_MS);
        }
    }
}

void cgroup_remove_all(const struct cgroup_layout *layout, const char *prefix)
{
    DIR *dir = layout->kind == CGROUP_NONE
                   ? NULL
                   : opendir(layout->parents[CGROUP_MEMORY]);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            cgroup_remove(layout, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
