#include <stdio.h>
#include <string.h>

#include "executor/files/cgroup_private.h"
#include "executor/files/file.h"

static const char *const controller_names[CGROUP_CONTROLLERS] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "cpu",
    [CGROUP_PIDS] = "pids",
    [CGROUP_FREEZER] = "freezer",
};

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
    cgroup_read("/proc/self/cgroup", text, sizeof(text));
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

static bool probe_v1(const char *name, struct cgroup_layout *layout)
{
    char point[CGROUP_PATH_BYTES_MAX];
    char root[CGROUP_PATH_BYTES_MAX];
    char own[CGROUP_PATH_BYTES_MAX];
    char dir[CGROUP_PATH_BYTES_MAX];

    memset(layout, 0, sizeof(*layout));
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
        if (!cgroup_make_dir(layout->parents[c])) {
            layout->parents[c][0] = '\0';
        }
    }
    if (layout->parents[CGROUP_MEMORY][0] && is_usable(layout)) {
        return true;
    }
    cgroup_release(layout);
    return false;
}

/* Let the groups below a directory have controllers; which they have not. */
static int64_t hand_down(const char *dir)
{
    char path[CGROUP_FILE_BYTES_MAX], controllers[512], word[32];
    int64_t missing = 0;

    snprintf(path, sizeof(path), "%s/cgroup.controllers", dir);
    cgroup_read(path, controllers, sizeof(controllers));
    snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
    for (int c = CGROUP_MEMORY; c <= CGROUP_PIDS; c++) {
        snprintf(word, sizeof(word), "+%s", controller_names[c]);
        if (!has_word(controllers, controller_names[c], " \n") ||
            file_poke(path, word) < 0) {
            missing |= INT64_C(1) << c;
        }
    }
    return missing;
}

static bool probe_v2_below(const char *dir, const char *name, bool has_memory,
                           struct cgroup_layout *layout)
{
    char *parent = layout->parents[CGROUP_MEMORY];

    layout->missing = hand_down(dir);
    if (has_memory && !cgroup_has(layout, CGROUP_MEMORY)) {
        return false;
    }
    snprintf(parent, CGROUP_PATH_BYTES_MAX, "%.447s/%.63s", dir, name);
    if (!cgroup_make_dir(parent)) {
        return false;
    }
    layout->missing |= hand_down(parent);
    return is_usable(layout);
}

/* A group that holds processes cannot hand controllers down, so our own group
 * serves only when it was delegated empty; else the root of the hierarchy.
 * Without `has_memory` one does that only ends processes. */
static bool probe_v2(const char *name, bool has_memory,
                     struct cgroup_layout *layout)
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
    return probe_v2_below(dir, name, has_memory, layout) ||
           probe_v2_below(point, name, has_memory, layout);
}

static void tell_v2(const struct cgroup_layout *layout, struct err *ret_text)
{
    if (!layout->missing) {
        (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                       "limits are enforced by cgroup version 2 in %.400s",
                       layout->parents[CGROUP_MEMORY]);
        return;
    }
    (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                   "jobs are ended by cgroup version 2%s%s%s",
                   cgroup_has(layout, CGROUP_MEMORY)
                       ? ""
                       : "; memory is limited per process by rlimits",
                   cgroup_has(layout, CGROUP_PIDS)
                       ? ""
                       : "; processes are limited per user",
                   cgroup_has(layout, CGROUP_CPU) ? "" : "; cpu is not");
}

void cgroup_probe(const char *name, struct cgroup_layout *ret_layout,
                  struct err *ret_text)
{
    if (probe_v2(name, true, ret_layout)) {
        tell_v2(ret_layout, ret_text);
        return;
    }
    if (probe_v1(name, ret_layout)) {
        (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                       "limits are enforced by cgroup version 1 (memory%s%s%s)",
                       ret_layout->parents[CGROUP_CPU][0] ? ", cpu" : "",
                       ret_layout->parents[CGROUP_PIDS][0] ? ", pids" : "",
                       ret_layout->parents[CGROUP_FREEZER][0] ? ", freezer"
                                                              : "");
        return;
    }
    if (probe_v2(name, false, ret_layout)) {
        tell_v2(ret_layout, ret_text);
        return;
    }
    memset(ret_layout, 0, sizeof(*ret_layout));
    (void)snprintf(ret_text->text, ERR_TEXT_BYTES_MAX,
                   "no control group is writable: memory is limited per "
                   "process by rlimits, cpu is not limited");
}
