/* The directories that members of a gang share. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/process/process_private.h"

enum { MEMBER_BYTES_MAX = 128, GANG_MEMBERS_MAX = 65536 };

static const char members_name[] = "members";

/* The member's file holds "<job> <run> <host>\n". */
static bool is_member(int members_fd, int index, const char *job)
{
    char name[16], text[MEMBER_BYTES_MAX] = "";

    snprintf(name, sizeof(name), "%d", index);
    int fd = file_open(members_fd, name, NULL);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    return got >= JOB_ID_TEXT_BYTES &&
           memcmp(text, job, JOB_ID_TEXT_BYTES) == 0;
}

/* Take the first free place, or the one that the job's last run had. */
static int take_place(struct process *process, int members_fd, int place_max,
                      const struct runtime_run *run)
{
    char job[ID_TEXT_BYTES_MAX], id[ID_TEXT_BYTES_MAX];
    int index = -1;

    job_id_format(run->job, job);
    for (int i = 0; index < 0 && i < place_max; i++) {
        index = is_member(members_fd, i, job) ? i : -1;
    }
    for (int i = 0; index < 0 && i < place_max; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        index = faccessat(members_fd, name, F_OK, 0) < 0 ? i : -1;
    }
    if (index >= 0) {
        char name[16], text[MEMBER_BYTES_MAX];
        struct err err;
        int n = snprintf(text, sizeof(text), "%s %s %.40s\n", job,
                         run_id_format(run->run, id), process->node_name);
        snprintf(name, sizeof(name), "%d", index);
        (void)!file_replace(members_fd, name, str_make(text, (size_t)n), 0644,
                            &err);
    }
    return index;
}

/* The name of a new directory of a gang, with room for its members.  Nobody
 * may enter it before that is there. */
static int make_gang(const struct process *process,
                     char ret_name[PROCESS_RANDOM_NAME_BYTES], struct err *err)
{
    process_random_name(process, ret_name);
    int fd = -1;
    if (mkdirat(process->gangs_fd, ret_name, 0700) == 0) {
        fd = openat(process->gangs_fd, ret_name,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (fd < 0 || mkdirat(fd, members_name, 0755) < 0) {
        int rc = err_set(err, -ERR_IO, "make the gang's directory: %s",
                         strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    close(fd);
    return 0;
}

/* The directory of the members that are here, or NULL. */
static const char *find_gang(const struct process *process,
                             const struct runtime_run *run, struct str gang)
{
    for (size_t i = 0; i < process->pods.count; i++) {
        const struct process_pod *pod = &process->pods.items[i];
        if (pod->is_used && pod->gang_dir.byte_count > 0 &&
            str_equal(pod->gang_id, gang) &&
            str_equal(pod->queue, run->queue)) {
            return pod->gang_dir.p;
        }
    }
    return NULL;
}

/* A place among the members, in the gang's directory; -1: there is none. */
static int join_members(struct process *process, const char *name,
                        const struct runtime_run *run)
{
    const char *cardinality =
        process_annotation(run, "armadaproject.io/gangCardinality");
    int count = cardinality ? (int)strtol(cardinality, NULL, 10) : 0;
    char path[PROCESS_RANDOM_NAME_BYTES + sizeof(members_name)];
    int index = -1;

    snprintf(path, sizeof(path), "%.32s/%s", name, members_name);
    int fd = file_open_below(process->gangs_fd, path, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        index = take_place(process, fd,
                           count > GANG_MEMBERS_MAX ? GANG_MEMBERS_MAX : count,
                           run);
        close(fd);
    }
    return index;
}

int process_gang_join(struct process *process, const struct runtime_run *run,
                      char *ret_dir, int *ret_index, struct err *err)
{
    struct str gang = process_gang_id(run);
    char name[PROCESS_RANDOM_NAME_BYTES];

    ret_dir[0] = '\0';
    *ret_index = -1;
    if (gang.byte_count == 0) {
        return 0;
    }
    const char *found = find_gang(process, run, gang);
    if (found) {
        snprintf(ret_dir, PROCESS_PATH_BYTES_MAX, "%s", found);
    } else {
        int rc = make_gang(process, name, err);
        if (rc < 0) {
            return rc;
        }
        snprintf(ret_dir, PROCESS_PATH_BYTES_MAX, "%.900s/gangs/%s",
                 process->data_dir, name);
    }
    *ret_index = join_members(process, strrchr(ret_dir, '/') + 1, run);
    return 0;
}

void process_gang_leave(struct process *process, const char *dir,
                        struct run_id run)
{
    if (!*dir) {
        return;
    }
    for (size_t i = 0; i < process->pods.count; i++) {
        const struct process_pod *pod = &process->pods.items[i];
        if (pod->is_used && key128_compare(pod->run.v, run.v) != 0 &&
            strcmp(pod->gang_dir.p, dir) == 0) {
            return;
        }
    }
    process_discard(process, process->gangs_fd, strrchr(dir, '/') + 1);
}
