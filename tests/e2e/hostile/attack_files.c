/* Attacks on files of others, and files that are hard to get rid of. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "attacker.h"

enum {
    DEPTH = 1500,
    WIDTH = 3000,
    FILES = 70000,
    PATH_BYTES = 1024,
    LIMIT_BYTES = 1 << 20, /* of the job's files */
    SHM_BYTES = 256 << 20,
};

static const char *secret(void)
{
    const char *path = attack_text("ATTACK_SECRET");

    return attack_opens(path, O_RDONLY)   ? "to read the secret"
           : attack_opens(path, O_WRONLY) ? "to write the secret"
           : chmod(path, 0666) == 0       ? "to change its mode"
           : unlink(path) == 0            ? "to remove it"
                                          : NULL;
}

static const char *server_files(void)
{
    static const char *const names[] = {"log.db", "store.db", "token",
                                        "jobs/notify", "jobs/lock"};
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", attack_text("ATTACK_DATA"),
                 names[i]);
        if (attack_opens(path, O_RDONLY)) {
            return attack_got("to read", names[i]);
        }
        if (attack_opens(path, O_WRONLY)) {
            return attack_got("to write", names[i]);
        }
    }
    snprintf(path, sizeof(path), "%s/new", attack_text("ATTACK_DATA"));
    return attack_opens(path, O_WRONLY | O_CREAT) ? "to make a file there"
                                                  : NULL;
}

static const char *server_names(void)
{
    static const char *const names[] = {"", "jobs/runs", "jobs/attempts"};
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", attack_text("ATTACK_DATA"),
                 names[i]);
        DIR *dir = opendir(path);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            /* Its own part is on the way. */
            if (entry->d_name[0] != '.' && strcmp(entry->d_name, "jobs") != 0) {
                return attack_got("to see", entry->d_name);
            }
        }
    }
    return NULL;
}

/* The directory that others reach it by, exchanged for a link. */
static const char *link_for_space(void)
{
    const char *home = attack_text("HOME");
    char aside[PATH_BYTES];

    snprintf(aside, sizeof(aside), "%s.aside", home);
    return rename(home, aside) == 0 && symlink("/etc", home) == 0
               ? "to exchange its directory"
               : NULL;
}

/* Links and pipes under names that somebody may open or remove later. */
static const char *plants(void)
{
    static const char *const names[] = {"spec", "state", "stop",    "lock",
                                        "log",  "done",  "members", "0"};

    (void)mkdir("links", 0700);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[PATH_BYTES];
        (void)mkfifo(names[i], 0666);
        snprintf(path, sizeof(path), "links/%s", names[i]);
        (void)!symlink(attack_text("ATTACK_SECRET"), path);
        snprintf(path, sizeof(path), "links/dir-%s", names[i]);
        (void)!symlink("/etc", path);
    }
    return NULL;
}

/* A second name for a file of root's, which goes with the job's own. */
static const char *hard_links(void)
{
    if (link("/etc/passwd", "passwd") == 0 && chmod("passwd", 0666) == 0) {
        return "the mode of /etc/passwd";
    }
    return attack_opens("passwd", O_WRONLY) ? "to write /etc/passwd" : NULL;
}

static const char *set_user_ids(void)
{
    int fd = open("suid", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

    close(fd);
    (void)!chown("suid", 0, 0);
    (void)chmod("suid", 04755);
    return setuid(0) == 0 && getuid() == 0 ? "root" : NULL;
}

static const char *deep_tree(void)
{
    for (int i = 0; i < DEPTH; i++) {
        if (mkdir("d", 0700) < 0 || chdir("d") < 0) {
            break;
        }
    }
    return NULL;
}

static const char *wide_tree(void)
{
    char name[32];

    for (int i = 0; i < WIDTH; i++) {
        snprintf(name, sizeof(name), "w%d", i);
        (void)mkdir(name, 0);
    }
    return NULL;
}

static const char *closed_tree(void)
{
    (void)mkdir("c", 0700);
    (void)mkdir("c/d", 0700);
    (void)mkdir("c/d/e", 0);
    (void)chmod("c/d", 0);
    (void)chmod("c", 0);
    (void)chmod(".", 0);
    return NULL;
}

static const char *huge_file(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    int fd = open("huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    return pwrite(fd, "x", 1, 2 * LIMIT_BYTES) == 1 ? "a file beyond its limit"
                                                    : NULL;
}

static const char *full_shared_memory(void)
{
    static char block[1 << 20];
    char path[PATH_BYTES];
    size_t written = 0;

    snprintf(path, sizeof(path), "/dev/shm/berth-full-%s",
             attack_text("ATTACK_MARK"));
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    memset(block, 1, sizeof(block));
    while (written < SHM_BYTES && write(fd, block, sizeof(block)) > 0) {
        written += sizeof(block);
    }
    return written >= SHM_BYTES ? "more shared memory than its limit" : NULL;
}

static const char *many_files(void)
{
    int count = 0;

    while (count < FILES && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
        count++;
    }
    return count >= FILES ? "more open files than its limit" : NULL;
}

/* What stays where everybody may write. */
static const char *leftovers(void)
{
    static const char *const dirs[] = {"/tmp", "/var/tmp", "/dev/shm",
                                       "/run/lock"};
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        snprintf(path, sizeof(path), "%s/berth-left-%s", dirs[i],
                 attack_text("ATTACK_MARK"));
        (void)attack_opens(path, O_WRONLY | O_CREAT);
    }
    return NULL;
}

static const char *control_groups(void)
{
    static const char *const files[] = {"/sys/fs/cgroup/cgroup.procs",
                                        "/sys/fs/cgroup/memory/cgroup.procs",
                                        "/sys/fs/cgroup/memory/tasks",
                                        "/sys/fs/cgroup/pids/cgroup.procs",
                                        "/sys/fs/cgroup/unified/cgroup.procs",
                                        "/sys/fs/cgroup/memory/release_agent",
                                        "/sys/fs/cgroup/devices/release_agent"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (attack_opens(files[i], O_WRONLY)) {
            return attack_got("to write", files[i]);
        }
    }
    return NULL;
}

static const char *long_lines(void)
{
    for (int i = 0; i < (4 << 20); i++) {
        (void)putchar(i % 97 == 0 ? '\0' : '\x1b');
    }
    (void)putchar('\n');
    return NULL;
}

const struct attack attacks_on_files[] = {
    {"secret", secret},
    {"server-files", server_files},
    {"server-names", server_names},
    {"link-for-space", link_for_space},
    {"plants", plants},
    {"hard-links", hard_links},
    {"set-user-ids", set_user_ids},
    {"deep-tree", deep_tree},
    {"wide-tree", wide_tree},
    {"closed-tree", closed_tree},
    {"huge-file", huge_file},
    {"full-shared-memory", full_shared_memory},
    {"many-files", many_files},
    {"leftovers", leftovers},
    {"control-groups", control_groups},
    {"long-lines", long_lines},
    {NULL, NULL},
};
