#include "executor/process/process_as.h"

#include <errno.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

int process_as_begin(struct process_as *as, int64_t uid, int64_t gid)
{
    int count = uid < 0 ? 0 : getgroups(0, NULL);

    *as = (struct process_as){0};
    if (uid < 0) {
        return 0;
    }
    as->groups =
        mem_alloc_array((size_t)(count > 0 ? count : 1), sizeof(*as->groups));
    as->group_count = getgroups(count, as->groups);
    /* libc's would change all threads. */
    if (as->group_count < 0 || syscall(SYS_setgroups, 0, NULL) < 0) {
        mem_free(as->groups);
        return -ERR_IO;
    }
    (void)setfsgid((gid_t)gid);
    (void)setfsuid((uid_t)uid);
    as->is_on = true;
    return 0;
}

void process_as_end(struct process_as *as)
{
    int error = errno;

    if (!as->is_on) {
        return;
    }
    (void)setfsuid(geteuid());
    (void)setfsgid(getegid());
    long back = syscall(SYS_setgroups, as->group_count, as->groups);
    ASSERT(back == 0);
    mem_free(as->groups);
    *as = (struct process_as){0};
    errno = error;
}
