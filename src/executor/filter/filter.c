#include "executor/filter/filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>

static const char *const refused[] = {
    "mount",
    "umount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "add_key",
    "request_key",
    "keyctl",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_by_handle_at",
    "swapon",
    "swapoff",
    "reboot",
    "acct",
    "quotactl",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "iopl",
    "ioperm",
    "syslog",
    "vhangup",
    "lookup_dcookie",
};

static const unsigned long namespaces[] = {
    CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWIPC,
    CLONE_NEWNET, CLONE_NEWUTS,  CLONE_NEWCGROUP,
};

static int add_rules(scmp_filter_ctx filter)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(refused); i++) {
        int call = seccomp_syscall_resolve_name(refused[i]);
        /* A name that this machine does not have needs no rule. */
        rc = call < 0
                 ? 0
                 : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(namespaces); i++) {
        rc = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
            SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    }
    return rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
                                      SCMP_SYS(clone3), 0)
                   : rc;
}

int filter_enter_job(void)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
        return 0;
    }
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) {
        return -ERR_IO;
    }
    /* For one search instead of a walk over all rules at each call. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    int rc = add_rules(filter);
    rc = rc == 0 ? seccomp_load(filter) : rc;
    seccomp_release(filter);
    return rc == 0 ? 0 : -ERR_IO;
}
