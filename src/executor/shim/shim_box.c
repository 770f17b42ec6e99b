#include "executor/shim/shim_box.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/shim/shim_view.h"

/* Map each id that there is here to itself, for a process that has entered a
 * user namespace; only from outside of it root may. */
static bool map_ids(pid_t pid, const char *name)
{
    char path[64];
    uint32_t first, outside, count;
    auto_strbuf map = {0};

    snprintf(path, sizeof(path), "/proc/self/%s", name);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%" SCNu32 "%" SCNu32 "%" SCNu32, &first,
                          &outside, &count) == 3) {
        strbuf_addf(&map, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", first, first,
                    count);
    }
    if (file) {
        fclose(file);
    }
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return file_poke(path, strbuf_text(&map)) == 0;
}

/* In a child that stays outside: map the ids once told to. */
static _Noreturn void help_map(pid_t shim_pid, int fd)
{
    char word;

    _exit(read(fd, &word, 1) == 1 && map_ids(shim_pid, "uid_map") &&
                  map_ids(shim_pid, "gid_map")
              ? 0
              : 1);
}

/* All users and groups, so that pods have those that they shall have. */
static int enter_user_as_root(struct err *err)
{
    int ends[2], status = 1;
    pid_t shim_pid = getpid();

    if (pipe2(ends, O_CLOEXEC) < 0) {
        return err_set(err, -ERR_IO, "pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        help_map(shim_pid, ends[0]);
    }
    close(ends[0]);
    int rc = pid > 0 && unshare(CLONE_NEWUSER) == 0
                 ? 0
                 : err_set(err, -ERR_IO, "make a user namespace: %s",
                           strerror(errno));
    if (rc == 0) {
        (void)!write(ends[1], "", 1);
    }
    close(ends[1]);
    if (pid > 0) {
        (void)waitpid(pid, &status, 0);
    }
    return rc < 0        ? rc
           : status == 0 ? 0
                         : err_set(err, -ERR_IO, "map the user namespace");
}

/* One user and one group, ours: to everybody outside nothing has changed. */
static int enter_user(struct err *err)
{
    char uids[64], gids[64];

    if (geteuid() == 0) {
        return enter_user_as_root(err);
    }
    snprintf(uids, sizeof(uids), "%u %u 1", geteuid(), geteuid());
    snprintf(gids, sizeof(gids), "%u %u 1", getegid(), getegid());
    if (unshare(CLONE_NEWUSER) < 0) {
        return err_set(err, -ERR_IO, "make a user namespace: %s",
                       strerror(errno));
    }
    /* Without that the kernel takes no map of groups. */
    (void)!file_poke("/proc/self/setgroups", "deny");
    if (file_poke("/proc/self/uid_map", uids) < 0 ||
        file_poke("/proc/self/gid_map", gids) < 0) {
        return err_set(err, -ERR_IO, "map the user namespace: %s",
                       strerror(errno));
    }
    return 0;
}

/* The keeper needs nothing any more, and a job finds nothing in it. */
static void give_up_all(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)syscall(SYS_capset, &header, none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    closefrom(STDERR_FILENO + 1);
}

/* The first process of the pod.  It says how it went, and is answered once it
 * may close itself to the shim, too. */
static _Noreturn void keep(const struct run_spec *spec, int shim_fd)
{
    struct err err = {""};
    char answer;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_NAME, "berth-keeper");
    /* So that it reaps whoever becomes its child. */
    (void)signal(SIGCHLD, SIG_IGN);
    if (shim_view_make(spec, &err) < 0) {
        (void)!write(shim_fd, err.text, strlen(err.text));
        _exit(1);
    }
    /* No answer comes from a shim that died before it was known that we die
     * with it. */
    if (write(shim_fd, "", 1) != 1 || read(shim_fd, &answer, 1) != 1) {
        _exit(1);
    }
    give_up_all();
    for (;;) {
        pause();
    }
}

/* What the keeper said: 0, or an error with its words. */
static int hear_keeper(int fd, struct err *err)
{
    char text[ERR_TEXT_BYTES_MAX] = "";
    ssize_t got;

    do {
        got = read(fd, text, sizeof(text) - 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1 && text[0] == '\0') {
        return 0;
    }
    return err_set(err, -ERR_IO, "%s",
                   got > 0 ? text : "the pod's first process has died");
}

static int open_mounts(struct shim_box *box, int keeper_fd, struct err *err)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)box->keeper);
    box->mount_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (box->mount_fd < 0 || write(keeper_fd, "", 1) != 1) {
        return err_set(err, -ERR_IO, "open %s: %s", path, strerror(errno));
    }
    return 0;
}

static void end_keeper(struct shim_box *box)
{
    shim_box_kill(box);
    (void)waitpid(box->keeper, NULL, 0);
    box->keeper = 0;
}

static int start_keeper(const struct run_spec *spec, struct shim_box *box,
                        struct err *err)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        return err_set(err, -ERR_IO, "make a socket: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        keep(spec, ends[1]);
    }
    int rc = pid < 0
                 ? err_set(err, -ERR_IO, "start the pod's first process: %s",
                           strerror(errno))
                 : 0;
    close(ends[1]);
    box->keeper = pid < 0 ? 0 : pid;
    rc = rc < 0 ? rc : hear_keeper(ends[0], err);
    rc = rc < 0 ? rc : open_mounts(box, ends[0], err);
    close(ends[0]);
    /* The descriptor keeps the mounts; only processes need a keeper. */
    if (box->keeper > 0 && (rc < 0 || !box->has_pids)) {
        end_keeper(box);
    }
    return rc;
}

int shim_box_open(const struct run_spec *spec, struct shim_box *ret_box,
                  struct err *err)
{
    int64_t layers = spec->layers;
    int flags = (layers & RUN_LAYER_PID ? CLONE_NEWPID : 0) |
                (layers & RUN_LAYER_IPC ? CLONE_NEWIPC : 0);

    *ret_box = SHIM_BOX_NONE;
    if (layers & RUN_LAYER_USER) {
        int rc = enter_user(err);
        if (rc < 0) {
            return rc;
        }
    }
    if (flags && unshare(flags) < 0) {
        return err_set(err, -ERR_IO, "make namespaces: %s", strerror(errno));
    }
    ret_box->has_pids = layers & RUN_LAYER_PID;
    return layers & RUN_LAYER_MOUNT ? start_keeper(spec, ret_box, err) : 0;
}

int shim_box_enter(const struct shim_box *box)
{
    if (box->mount_fd < 0) {
        return 0;
    }
    /* Who shares its working directory with a thread may not go. */
    return unshare(CLONE_FS) == 0 && setns(box->mount_fd, CLONE_NEWNS) == 0
               ? 0
               : -ERR_IO;
}

void shim_box_kill(const struct shim_box *box)
{
    if (box->keeper > 0) {
        (void)kill(box->keeper, SIGKILL);
    }
}

void shim_box_close(struct shim_box *box)
{
    if (box->mount_fd >= 0) {
        close(box->mount_fd);
        box->mount_fd = -1;
    }
}
