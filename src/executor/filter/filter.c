#include "executor/filter/filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* AddressSanitizer looks for leaks by ptrace from a clone of the process, and
 * all of them start programs that name addresses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

enum { FAMILIES_MAX = 64 }; /* the kernel's AF_MAX is below */

/* To everybody. */
static const char *const refused[] = {
    "umount",
    "fspick",
    "chroot",
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
    "pidfd_getfd",
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
    "quotactl_fd",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "iopl",
    "ioperm",
    "syslog",
    "vhangup",
    "lookup_dcookie",
    "nfsservctl",
    "uselib",
};

/* To everybody but the helper, whose shims make with them what pods see. */
static const char *const views_refused[] = {
    "mount",   "umount2",       "move_mount", "open_tree", "fsopen", "fsconfig",
    "fsmount", "mount_setattr", "pivot_root", "unshare",   "setns",
};

static const unsigned long namespaces[] = {
    CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWIPC,
    CLONE_NEWNET, CLONE_NEWUTS,  CLONE_NEWCGROUP,
};

/* To a server: it starts no program, has no other user to become, and makes
 * nothing but files and sockets. */
static const char *const server_refused[] = {
    "execve",        "execveat", "fork",      "vfork",       "setuid",
    "setgid",        "setreuid", "setregid",  "setresuid",   "setresgid",
    "setfsuid",      "setfsgid", "setgroups", "capset",      "personality",
    "modify_ldt",    "mknod",    "mknodat",   "sethostname", "setdomainname",
    "fanotify_init",
};

static int deny(scmp_filter_ctx filter, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);

    /* A name that this machine does not have needs no rule. */
    return call < 0 ? 0
                    : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

static int deny_all(scmp_filter_ctx filter, const char *const *names,
                    size_t count)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = deny(filter, names[i]);
    }
    return rc;
}

/* The kernel's rarer protocols: where the faults are.  It takes the lower half
 * of the register for the family, so the filter does too. */
static int deny_sockets(scmp_filter_ctx filter, int call)
{
    int rc = 0;

    for (unsigned int family = 0; rc == 0 && family < FAMILIES_MAX; family++) {
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
            family != AF_NETLINK) {
            rc = seccomp_rule_add(
                filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1,
                SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, family));
        }
    }
    return rc;
}

static int deny_for_helper(scmp_filter_ctx filter)
{
    int rc = deny_all(filter, refused, ARRAY_COUNT(refused));

    rc = rc ? rc : deny_sockets(filter, SCMP_SYS(socket));
    return rc ? rc : deny_sockets(filter, SCMP_SYS(socketpair));
}

static int deny_for_job(scmp_filter_ctx filter)
{
    int rc = deny_for_helper(filter);

    rc = rc ? rc : deny_all(filter, views_refused, ARRAY_COUNT(views_refused));
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(namespaces); i++) {
        rc = seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
            SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    }
    return rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
                                      SCMP_SYS(clone3), 0)
                   : rc;
}

/* Memory that is written and executed. */
static int deny_new_code(scmp_filter_ctx filter)
{
    const uint64_t both = PROT_WRITE | PROT_EXEC;

    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, both, both));
    rc = rc ? rc
            : seccomp_rule_add(
                  filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mprotect), 1,
                  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
    return rc ? rc
              : seccomp_rule_add(
                    filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(pkey_mprotect), 1,
                    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
}

static int deny_for_server(scmp_filter_ctx filter)
{
    int rc = deny_for_job(filter);

    rc =
        rc ? rc : deny_all(filter, server_refused, ARRAY_COUNT(server_refused));
    /* A thread is no process. */
    rc = rc ? rc
            : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone),
                               1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    return rc ? rc : deny_new_code(filter);
}

/* Load what `deny_calls` denies. */
static int load(int (*deny_calls)(scmp_filter_ctx), bool is_for_all_threads)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

    if (!filter) {
        return -ERR_IO;
    }
    /* For one search instead of a walk over all rules at each call. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    int rc = is_for_all_threads
                 ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1)
                 : 0;
    rc = rc == 0 ? deny_calls(filter) : rc;
    rc = rc == 0 ? seccomp_load(filter) : rc;
    seccomp_release(filter);
    return rc == 0 ? 0 : -ERR_IO;
}

static bool is_supported(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

int filter_enter_job(void)
{
    return is_supported() ? load(deny_for_job, false) : 0;
}

/* For all threads, or nothing is changed. */
static int enter(int (*deny_calls)(scmp_filter_ctx), struct err *err)
{
    if (IS_SANITIZED) {
        return err_set(err, -ERR_UNAVAILABLE,
                       "a program with a sanitizer cannot work with it");
    }
    if (!is_supported()) {
        return err_set(err, -ERR_UNAVAILABLE, "this kernel has no filters");
    }
    return load(deny_calls, true) == 0
               ? 0
               : err_set(err, -ERR_UNAVAILABLE,
                         "this kernel does not load the filter");
}

int filter_enter_helper(struct err *err)
{
    return enter(deny_for_helper, err);
}

int filter_enter_server(struct err *err)
{
    return enter(deny_for_server, err);
}
