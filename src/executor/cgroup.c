#include "executor/cgroup.h"

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

#include "executor/file.h"

enum {
    PATH_MAX_BYTES = CGROUP_PATH_BYTES_MAX + 128,
    CPU_PERIOD_US = 100000,
    KILL_PAUSE_MS = 5,
    PIDS_PER_ROUND_MAX = 4096,
};

static const char *const controller_names[CGROUP_CONTROLLERS] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "cpu",
    [CGROUP_PIDS] = "pids",
    [CGROUP_FREEZER] = "freezer",
};

static int write_in(const char *parent, const char *name, const char *file,
                    const char *text)
{
    char path[PATH_MAX_BYTES];

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

/* The first `capacity - 1` bytes of a file, as a string; "" if unreadable. */
static void read_text(const char *path, char *text, size_t capacity)
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

/* Whether `word` is one of the words of `text`, split at any of `breaks`. */
static bool has_word(const char *text, const char *word, const char *breaks)
{
    size_t length = strlen(word);

    for (const char *p = text; *p;) {
        size_t n = strcspn(p, breaks);
        if (n == length && memcmp(p, word, n) == 0) {
            return true;
        }
        p += n + strspn(p + n, breaks);
        if (n == 0 && !*p) {
            break;
        }
    }
    return false;
}

/* The path of this process in the hierarchy that has `controller` ("" is the
 * unified one), from /proc/self/cgroup. */
static void own_group(const char *controller, char *ret_path, size_t capacity)
{
    char text[8192];

    ret_path[0] = '\0';
    read_text("/proc/self/cgroup", text, sizeof(text));
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        strsep(&line, ":");
        char *names = strsep(&line, ":");
        if (names && line &&
            (*controller ? has_word(names, controller, ",") : !*names)) {
            snprintf(ret_path, capacity, "%s", line);
            return;
        }
    }
}

/* Where the hierarchy of `type` ("cgroup" with option `controller`, or
 * "cgroup2") is mounted, and which group its root shows. */
static bool find_mount(const char *type, const char *controller,
                       char *ret_point, char *ret_root)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[4096];
    bool is_found = false;

    while (file && !is_found && fgets(line, sizeof(line), file)) {
        char root[CGROUP_PATH_BYTES_MAX];
        char point[CGROUP_PATH_BYTES_MAX];
        char found_type[32];
        char options[512];
        const char *tail = strstr(line, " - ");
        is_found =
            tail && sscanf(line, "%*s %*s %*s %511s %511s", root, point) == 2 &&
            sscanf(tail, " - %31s %*s %511s", found_type, options) == 2 &&
            strcmp(found_type, type) == 0 &&
            (!*controller || has_word(options, controller, ","));
        if (is_found) {
            snprintf(ret_point, CGROUP_PATH_BYTES_MAX, "%s", point);
            snprintf(ret_root, CGROUP_PATH_BYTES_MAX, "%s", root);
        }
    }
    if (file) {
        fclose(file);
    }
    return is_found;
}

/* The directory of our own group in a mounted hierarchy. */
static void own_dir(const char *point, const char *root, const char *own,
                    char *ret_dir)
{
    size_t root_bytes = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(own, root, root_bytes) == 0) {
        own += root_bytes;
    }
    snprintf(ret_dir, CGROUP_PATH_BYTES_MAX, "%.255s%.255s", point,
             strcmp(own, "/") == 0 ? "" : own);
}

static bool make_dir(const char *path)
{
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

/* A group that can hold a process and take a limit is one we can use. */
static bool is_usable(const struct cgroup_layout *layout)
{
    struct cgroup_limits limits = {.memory_bytes = 1 << 30, .pids_max = 100};
    struct err refused = {""};

    if (cgroup_add(layout, "probe", &limits, &refused) < 0) {
        return false;
    }
    cgroup_remove(layout, "probe");
    return refused.text[0] == '\0';
}

void cgroup_release(const struct cgroup_layout *layout)
{
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (layout->parents[c][0]) {
            (void)rmdir(layout->parents[c]);
        }
    }
}

static bool probe_v1(const char *name, struct cgroup_layout *layout)
{
    char point[CGROUP_PATH_BYTES_MAX];
    char root[CGROUP_PATH_BYTES_MAX];
    char own[CGROUP_PATH_BYTES_MAX];
    char dir[CGROUP_PATH_BYTES_MAX];

    layout->kind = CGROUP_V1;
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        layout->parents[c][0] = '\0';
        if (!find_mount("cgroup", controller_names[c], point, root)) {
            continue;
        }
        own_group(controller_names[c], own, sizeof(own));
        own_dir(point, root, own, dir);
        snprintf(layout->parents[c], sizeof(layout->parents[c]), "%.447s/%.63s",
                 dir, name);
        if (!make_dir(layout->parents[c])) {
            layout->parents[c][0] = '\0';
        }
    }
    if (layout->parents[CGROUP_MEMORY][0] && is_usable(layout)) {
        return true;
    }
    cgroup_release(layout);
    return false;
}

static bool probe_v2_below(const char *dir, const char *name,
                           struct cgroup_layout *layout)
{
    char *parent = layout->parents[CGROUP_MEMORY];
    char path[PATH_MAX_BYTES];
    char controllers[512];

    snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
    read_text(path, controllers, sizeof(controllers));
    if (!has_word(controllers, "memory", " \n") ||
        !has_word(controllers, "cpu", " \n") ||
        !has_word(controllers, "pids", " \n")) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
    if (file_poke(path, "+memory +cpu +pids") < 0) {
        return false;
    }
    snprintf(parent, CGROUP_PATH_BYTES_MAX, "%.447s/%.63s", dir, name);
    if (!make_dir(parent)) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", parent);
    return file_poke(path, "+memory +cpu +pids") == 0 && is_usable(layout);
}

/* A group that holds processes cannot hand controllers down, so our own group
 * serves only when it was delegated empty; else the root of the hierarchy. */
static bool probe_v2(const char *name, struct cgroup_layout *layout)
{
    char point[CGROUP_PATH_BYTES_MAX];
    char root[CGROUP_PATH_BYTES_MAX];
    char own[CGROUP_PATH_BYTES_MAX];
    char dir[CGROUP_PATH_BYTES_MAX];

    memset(layout, 0, sizeof(*layout));
    layout->kind = CGROUP_V2;
    if (!find_mount("cgroup2", "", point, root)) {
        return false;
    }
    own_group("", own, sizeof(own));
    own_dir(point, root, own, dir);
    return probe_v2_below(dir, name, layout) ||
           probe_v2_below(point, name, layout);
}

void cgroup_probe(const char *name, struct cgroup_layout *ret_layout,
                  struct err *ret_text)
{
    if (probe_v2(name, ret_layout)) {
        (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                       "limits are kept by cgroup version 2 in %.400s",
                       ret_layout->parents[CGROUP_MEMORY]);
        return;
    }
    if (probe_v1(name, ret_layout)) {
        (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                       "limits are kept by cgroup version 1 (memory%s%s%s)",
                       ret_layout->parents[CGROUP_CPU][0] ? ", cpu" : "",
                       ret_layout->parents[CGROUP_PIDS][0] ? ", pids" : "",
                       ret_layout->parents[CGROUP_FREEZER][0] ? ", freezer"
                                                              : "");
        return;
    }
    memset(ret_layout, 0, sizeof(*ret_layout));
    (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                   "no control group can be written: memory is limited by "
                   "rlimits per process, cpu is not limited");
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

    if (limits->memory_bytes > 0) {
        note(text,
             write_number(parent, name, "memory.max", limits->memory_bytes),
             "memory");
        (void)!write_in(parent, name, "memory.swap.max", "0");
        (void)!write_in(parent, name, "memory.oom.group", "1");
    }
    if (limits->cpu_milli > 0) {
        char max[64];
        snprintf(max, sizeof(max), "%" PRId64 " %d",
                 quota_us_of(limits->cpu_milli), CPU_PERIOD_US);
        note(text, write_in(parent, name, "cpu.max", max), "cpu");
    }
    if (limits->cpu_request_milli > 0) {
        int64_t shares = shares_of(limits->cpu_request_milli);
        (void)!write_number(parent, name, "cpu.weight",
                            1 + (shares - 2) * 9999 / 262142);
    }
    if (limits->pids_max > 0) {
        note(text, write_number(parent, name, "pids.max", limits->pids_max),
             "process count");
    }
}

int cgroup_add(const struct cgroup_layout *layout, const char *name,
               const struct cgroup_limits *limits, struct err *ret_text)
{
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        char path[PATH_MAX_BYTES];
        if (!layout->parents[c][0]) {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", layout->parents[c], name);
        if (!make_dir(path)) {
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
    char path[PATH_MAX_BYTES];
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
    char path[PATH_MAX_BYTES];
    char text[1024];

    if (layout->kind == CGROUP_NONE) {
        return 0;
    }
    snprintf(
        path, sizeof(path), "%s/%s/%s", layout->parents[CGROUP_MEMORY], name,
        layout->kind == CGROUP_V2 ? "memory.events" : "memory.oom_control");
    read_text(path, text, sizeof(text));
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
        char path[PATH_MAX_BYTES];
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
