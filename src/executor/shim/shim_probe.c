#include "executor/shim/shim_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/kv.h"
#include "executor/filter/filter.h"
#include "executor/shim/shim_box.h"
#include "executor/shim/shim_fence.h"

/* Better ones first. */
static const int64_t choices[] = {
    RUN_LAYER_MOUNT | RUN_LAYER_PID | RUN_LAYER_IPC,
    RUN_LAYER_MOUNT | RUN_LAYER_PID,
    RUN_LAYER_MOUNT | RUN_LAYER_IPC,
    RUN_LAYER_MOUNT,
};

/* As a container: what it is promised must be so. */
static _Noreturn void check_as_container(const struct shim_box *box,
                                         const struct run_spec *spec)
{
    bool is_good = shim_box_enter(box) == 0;

    /* Its mounts are made in a namespace of its own. */
    is_good = is_good && unshare(CLONE_NEWNS) == 0;
    is_good = is_good && access(spec->space_dir, X_OK) == 0;
    if (spec->layers & RUN_LAYER_PID) {
        char self[32] = "", pid[32];
        snprintf(pid, sizeof(pid), "%d", (int)getpid());
        is_good = is_good && readlink("/proc/self", self, sizeof(self) - 1) > 0;
        is_good = is_good && strcmp(self, pid) == 0;
    }
    _exit(is_good ? 0 : 1);
}

/* In a process that may be spoilt. */
static _Noreturn void try_here(const struct run_spec *spec, int told_fd)
{
    struct shim_box box;
    struct err err = {""};
    int status = 0;

    if (shim_box_open(spec, &box, &err) == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            check_as_container(&box, spec);
        }
        bool is_good = pid > 0 && waitpid(pid, &status, 0) == pid &&
                       WIFEXITED(status) && WEXITSTATUS(status) == 0;
        shim_box_kill(&box);
        if (is_good) {
            _exit(0);
        }
        (void)err_set(&err, -ERR_IO, "a container does not find them");
    }
    (void)!write(told_fd, err.text, strlen(err.text));
    _exit(1);
}

/* Whether a pod can have these layers; else `err` says what failed. */
static bool try_layers(const struct run_spec *spec, struct err *err)
{
    char text[ERR_TEXT_BYTES_MAX] = "";
    int told[2], status = 0;

    if (pipe2(told, O_CLOEXEC) < 0) {
        (void)err_set(err, -ERR_IO, "pipe: %s", strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(told[0]);
        try_here(spec, told[1]);
    }
    close(told[1]);
    ssize_t got = read(told[0], text, sizeof(text) - 1);
    close(told[0]);
    bool is_good = pid > 0 && waitpid(pid, &status, 0) == pid &&
                   WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!is_good) {
        (void)err_set(err, -ERR_IO, "%s", got > 0 ? text : "it died");
    }
    return is_good;
}

static bool is_filtered(const struct run_spec *spec)
{
    (void)spec;
    return filter_enter_job() == 0 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

static bool is_fenced(const struct run_spec *spec)
{
    char path[1100];

    snprintf(path, sizeof(path), "%.1000s/" RUN_WORK_NAME "/new",
             spec->space_dir);
    if (shim_fence_enter(spec) < 0) {
        return false;
    }
    int own = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    snprintf(path, sizeof(path), "%.1000s/lock", spec->hidden_dir);
    int others = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    return own >= 0 && others < 0 && errno == EACCES;
}

/* Whether that holds in a process without privileges. */
static bool holds(bool (*is_so)(const struct run_spec *),
                  const struct run_spec *spec)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && is_so(spec) ? 0
                                                                         : 1);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* The best namespaces that are to be had, for root without one of users if that
 * does. */
static int64_t try_choices(struct run_spec *spec, struct err *ret_why)
{
    bool is_root = geteuid() == 0;
    int64_t layers = 0;

    ret_why->text[0] = '\0';
    for (size_t i = 0; layers == 0 && i < 2 * ARRAY_COUNT(choices); i++) {
        struct err err = {""};
        bool has_user = i >= ARRAY_COUNT(choices);
        spec->layers =
            choices[i % ARRAY_COUNT(choices)] | (has_user ? RUN_LAYER_USER : 0);
        if (!has_user && !is_root) {
            continue;
        }
        layers = try_layers(spec, &err) ? spec->layers : 0;
        *ret_why = *ret_why->text ? *ret_why : err;
    }
    return layers;
}

int shim_probe(const char *space_dir, const char *hidden_dir,
               bool has_namespaces)
{
    struct run_spec spec = {
        .space_dir = space_dir, .hidden_dir = hidden_dir, .gang_dir = ""};
    auto_strbuf out = strbuf_make(RUN_TEXT_BYTES_MAX);
    struct err why = {""};

    (void)signal(SIGPIPE, SIG_IGN);
    int64_t layers = has_namespaces ? try_choices(&spec, &why) : 0;
    /* Of root's directories jobs are kept by their owner; where namespaces are
     * not wanted, they want to share files elsewhere. */
    bool wants_fence = layers == 0 && (has_namespaces || geteuid() != 0);
    if (wants_fence && holds(is_fenced, &spec)) {
        layers = RUN_LAYER_FENCE;
    }
    layers |= holds(is_filtered, &spec) ? RUN_LAYER_FILTER : 0;
    kv_add_int(&out, "layers", layers);
    kv_add_text(&out, "missing", why.text);
    return write(STDOUT_FILENO, out.bytes, out.byte_count) ==
                   (ssize_t)out.byte_count
               ? 0
               : 1;
}
