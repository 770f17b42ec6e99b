#include "rpc/guard/peer_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

enum { LIMITS_BYTES_MAX = 4096, LINK_BYTES_MAX = 64 };

/* What is searched for. */
struct search {
    uint32_t user_id;
    rlim_t limit;              /* that processes outside of jobs have */
    char link[LINK_BYTES_MAX]; /* of the socket, in a process's folder `fd` */
};

/* The hard limit of RLIMIT_LOCKS in a file `limits` of /proc; 0: none. */
static rlim_t limit_in(const char *text)
{
    static const char name[] = "Max file locks";
    const char *at = strstr(text, name);

    if (!at) {
        return 0;
    }
    at += strlen(name);
    at += strspn(at, " ");  /* to the soft limit */
    at += strcspn(at, " "); /* behind it */
    at += strspn(at, " ");
    return strncmp(at, "unlimited", strlen("unlimited")) == 0
               ? RLIM_INFINITY
               : (rlim_t)strtoull(at, NULL, 10);
}

static rlim_t limit_of(int process_fd)
{
    char text[LIMITS_BYTES_MAX];
    ssize_t count = -1;
    int fd = openat(process_fd, "limits", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        count = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[count > 0 ? count : 0] = '\0';
    return limit_in(text);
}

static bool holds(const struct search *search, int process_fd)
{
    char link[LINK_BYTES_MAX];
    bool is_held = false;
    int fd = openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !dir) {
        close(fd);
    }
    for (struct dirent *entry; dir && !is_held && (entry = readdir(dir));) {
        ssize_t count = readlinkat(fd, entry->d_name, link, sizeof(link) - 1);
        link[count > 0 ? count : 0] = '\0';
        is_held = strcmp(link, search->link) == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return is_held;
}

/* Whether a process is outside of jobs and holds the socket.  Its folder stays
 * its own while it is open, whoever gets its number. */
static bool is_found(const struct search *search, int proc_fd, int pid)
{
    char name[16];
    struct stat about;

    snprintf(name, sizeof(name), "%d", pid);
    int fd = openat(proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    bool is_it = fstat(fd, &about) == 0 && about.st_uid == search->user_id &&
                 limit_of(fd) >= search->limit && holds(search, fd);
    close(fd);
    return is_it;
}

bool peer_process_is_outside_jobs(uint32_t user_id, uint32_t inode)
{
    struct search search = {.user_id = user_id};
    struct rlimit own;
    VEC(int) pids = {0};
    bool is_outside = false;
    DIR *proc = opendir("/proc");

    snprintf(search.link, sizeof(search.link), "socket:[%" PRIu32 "]", inode);
    bool can_tell =
        proc && getrlimit(RLIMIT_LOCKS, &own) == 0 && own.rlim_max > 1;
    search.limit = own.rlim_max;
    for (struct dirent *entry; can_tell && (entry = readdir(proc));) {
        int pid = (int)strtoul(entry->d_name, NULL, 10);
        if (pid > 0) {
            VEC_PUSH(&pids, pid);
        }
    }
    /* Who connects has mostly begun not long ago. */
    for (size_t i = pids.count; i > 0 && !is_outside; i--) {
        is_outside = is_found(&search, dirfd(proc), pids.items[i - 1]);
    }
    VEC_FREE(&pids);
    if (proc) {
        closedir(proc);
    }
    return is_outside;
}
