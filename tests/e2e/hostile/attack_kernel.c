/* Attacks on the kernel: calls that no job needs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attacker.h"

static const char *mounts(void)
{
    return mount("x", "/mnt", "tmpfs", 0, NULL) == 0      ? "a mount"
           : mount("/", "/mnt", NULL, MS_BIND, NULL) == 0 ? "a bind"
           : umount2("/tmp", MNT_DETACH) == 0             ? "the machine's /tmp"
           : umount2("/proc", MNT_DETACH) == 0         ? "the machine's /proc"
           : syscall(SYS_fsopen, "tmpfs", 0) >= 0      ? "fsopen"
           : syscall(SYS_open_tree, -100, "/", 1) >= 0 ? "open_tree"
           : syscall(SYS_pivot_root, "/tmp", "/tmp") == 0 ? "pivot_root"
           : chroot("/tmp") == 0                          ? "chroot"
                                                          : NULL;
}

static const char *namespaces(void)
{
    static const int flags[] = {CLONE_NEWUSER,  CLONE_NEWNS,  CLONE_NEWPID,
                                CLONE_NEWIPC,   CLONE_NEWNET, CLONE_NEWUTS,
                                CLONE_NEWCGROUP};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (unshare(flags[i]) == 0) {
            return "a new namespace";
        }
        long pid = syscall(SYS_clone, flags[i] | SIGCHLD, NULL, NULL, NULL, 0);
        if (pid == 0) {
            _exit(0);
        }
        if (pid > 0) {
            return "a new namespace by clone";
        }
    }
    return NULL;
}

static const char *namespaces_by_clone3(void)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &args, sizeof(args));

    if (pid == 0) {
        _exit(0);
    }
    return pid > 0 ? "a new namespace by clone3" : NULL;
}

static const char *namespace_of_another(void)
{
    int fd = open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC);

    return fd >= 0 && setns(fd, CLONE_NEWNS) == 0 ? "the namespace of pid 1"
                                                  : NULL;
}

static const char *keys(void)
{
    return syscall(SYS_add_key, "user", "berth", "x", 1, -4) >= 0 ? "add_key"
           : syscall(SYS_request_key, "user", "berth", NULL, -4) >= 0
               ? "request_key"
           : syscall(SYS_keyctl, 0, -4, 0) >= 0 ? "keyctl"
                                                : NULL;
}

static const char *bpf(void)
{
    char attr[128] = "";

    return syscall(SYS_bpf, 0, attr, sizeof(attr)) >= 0 || errno != EPERM
               ? "bpf"
               : NULL;
}

static const char *io_uring(void)
{
    char params[120] = "";

    return syscall(SYS_io_uring_setup, 4, params) >= 0 ? "io_uring" : NULL;
}

static const char *perf(void)
{
    char attr[128] = "";

    return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0) >= 0 ||
                   errno == EINVAL
               ? "perf_event_open"
               : NULL;
}

static const char *userfaults(void)
{
    return syscall(SYS_userfaultfd, 0) >= 0 ? "userfaultfd" : NULL;
}

static const char *modules(void)
{
    return syscall(SYS_init_module, "", 0, "") == 0 || errno != EPERM
               ? "init_module"
           : syscall(SYS_finit_module, 0, "", 0) == 0 || errno != EPERM
               ? "finit_module"
           : syscall(SYS_delete_module, "none", 0) == 0 || errno != EPERM
               ? "delete_module"
           : syscall(SYS_kexec_load, 0, 0, NULL, 0) == 0 || errno != EPERM
               ? "kexec_load"
               : NULL;
}

static const char *the_clock(void)
{
    struct timeval now;

    (void)gettimeofday(&now, NULL);
    return settimeofday(&now, NULL) == 0 ? "the clock" : NULL;
}

static const char *the_machine(void)
{
    return reboot(RB_DISABLE_CAD) == 0               ? "reboot"
           : swapoff("/none") == 0 || errno != EPERM ? "swapoff"
           : sethostname("owned", 5) == 0            ? "the host name"
           : acct(NULL) == 0                         ? "accounting"
           : syscall(SYS_iopl, 3) == 0               ? "ports"
                                                     : NULL;
}

static const char *kernel_log(void)
{
    char text[256];

    return klogctl(3, text, sizeof(text)) >= 0 ? "the kernel's log" : NULL;
}

/* Settings of the machine, written. */
static const char *sysctls(void)
{
    static const char *const paths[] = {"/proc/sys/kernel/core_pattern",
                                        "/proc/sys/kernel/modprobe",
                                        "/proc/sys/kernel/hostname",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/proc/sys/vm/drop_caches",
                                        "/proc/sys/net/ipv4/ip_forward",
                                        "/proc/sysrq-trigger",
                                        "/sys/kernel/uevent_helper",
                                        "/sys/power/state",
                                        "/proc/sys/kernel/panic",
                                        "/proc/sys/fs/protected_symlinks"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (attack_opens(paths[i], O_WRONLY)) {
            return attack_got("to write", paths[i]);
        }
    }
    return NULL;
}

static const char *devices(void)
{
    static const char *const paths[] = {"/dev/mem",    "/dev/kmem", "/dev/port",
                                        "/dev/sda",    "/dev/vda",  "/dev/kmsg",
                                        "/dev/nvme0n1"};

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (attack_opens(paths[i], O_RDWR)) {
            return attack_got("to open", paths[i]);
        }
    }
    return mknod("device", S_IFBLK | 0600, 1) == 0 ? "a device of its own"
                                                   : NULL;
}

static const char *raw_network(void)
{
    struct ifreq request = {.ifr_name = "lo"};
    int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1);
    int packets = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    int plain = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    return raw >= 0                                    ? "a raw socket"
           : packets >= 0                              ? "a packet socket"
           : ioctl(plain, SIOCSIFFLAGS, &request) == 0 ? "to take lo down"
                                                       : NULL;
}

/* A family's number in the lower half of what the kernel is given. */
static const char *rare_sockets(void)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW,
                                SOCK_SEQPACKET};
    static const long above[] = {0, 1L << 32};

    for (long family = 0; family < AF_MAX; family++) {
        bool is_usual = family == AF_UNIX || family == AF_INET ||
                        family == AF_INET6 || family == AF_NETLINK;
        for (size_t i = 0; !is_usual && i < 8; i++) {
            int fd = (int)syscall(SYS_socket, family | above[i / 4],
                                  types[i % 4], 0);
            if (fd >= 0) {
                char number[16];
                snprintf(number, sizeof(number), "%ld", family);
                return attack_got("a socket of family", number);
            }
        }
    }
    return NULL;
}

static const char *capabilities(void)
{
    uint32_t header[2] = {0x20080522, 0}, data[6] = {0};

    (void)syscall(SYS_capget, header, data);
    if (data[0] || data[1] || data[3] || data[4]) {
        return "capabilities";
    }
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NULL
                                                       : "new privileges";
}

static const char *file_handles(void)
{
    char handle[160] = "\x08";

    return syscall(SYS_open_by_handle_at, 0, handle, O_RDONLY) >= 0 ||
                   errno != EPERM
               ? "open_by_handle_at"
               : NULL;
}

static const char *importance(void)
{
    struct sched_param param = {.sched_priority = 50};
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    return setpriority(PRIO_PROCESS, 0, -20) == 0           ? "to be nicer"
           : sched_setscheduler(0, SCHED_FIFO, &param) == 0 ? "real time"
           : write(fd, "-1000", 5) == 5 ? "not to be killed for memory"
                                        : NULL;
}

/* A limit that was lowered, raised again. */
static const char *limits(void)
{
    struct rlimit more = {1 << 20, 1 << 20}, core;

    (void)getrlimit(RLIMIT_CORE, &core);
    return setrlimit(RLIMIT_NOFILE, &more) == 0 ? "more files"
           : core.rlim_max != 0                 ? "core dumps"
                                                : NULL;
}

const struct attack attacks_on_kernel[] = {
    {"mounts", mounts},
    {"namespaces", namespaces},
    {"namespaces-by-clone3", namespaces_by_clone3},
    {"namespace-of-another", namespace_of_another},
    {"keys", keys},
    {"bpf", bpf},
    {"io-uring", io_uring},
    {"perf", perf},
    {"userfaults", userfaults},
    {"modules", modules},
    {"the-clock", the_clock},
    {"the-machine", the_machine},
    {"kernel-log", kernel_log},
    {"sysctls", sysctls},
    {"devices", devices},
    {"raw-network", raw_network},
    {"rare-sockets", rare_sockets},
    {"capabilities", capabilities},
    {"file-handles", file_handles},
    {"importance", importance},
    {"limits", limits},
    {NULL, NULL},
};
