#include "main/executor/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/filter/filter.h"
#include "main/common/say.h"

enum { CAPABILITIES_MAX = 64, DATA_DIR_MODE = 01771 };

static const char user_default[] = "berth";
static const char jobs_name[] = "jobs";

/* Note why the program stays root. */
static void printf_like(2, 3)
    keep(struct privileges *plan, const char *format, ...)
{
    va_list arguments;

    plan->is_kept = true;
    va_start(arguments, format);
    (void)vsnprintf(plan->why.text, sizeof(plan->why.text), format, arguments);
    va_end(arguments);
}

static int find_user(const struct config_hardening *config,
                     struct privileges *plan, struct err *err)
{
    if (config->user.byte_count == 0) {
        keep(plan, "hardening.user is empty");
        return 0;
    }
    const struct passwd *found = getpwnam(config->user.p);
    if (!found) {
        plan->uid = plan->gid = PRIVILEGES_ID_DEFAULT;
        return str_equal(config->user, str_of(user_default))
                   ? 0
                   : err_set(err, -ERR_INVALID,
                             "hardening.user: there is no user %s on this "
                             "machine",
                             config->user.p);
    }
    (void)snprintf(plan->name, sizeof(plan->name), "%s", config->user.p);
    plan->uid = found->pw_uid;
    plan->gid = found->pw_gid;
    if (plan->uid == 0) {
        keep(plan, "hardening.user %s is root", config->user.p);
    }
    return 0;
}

/* What the user may do is tried as that user. */

static bool become(struct privileges *plan)
{
    if (setegid(plan->gid) == 0 && seteuid(plan->uid) == 0) {
        return true;
    }
    keep(plan, "cannot switch to user %d: %s", (int)plan->uid, strerror(errno));
    return false;
}

static void come_back(void)
{
    if (seteuid(0) < 0 || setegid(0) < 0) {
        ASSERT(!"root again");
    }
}

static void try_path(struct privileges *plan, const char *path, int mode,
                     const char *what)
{
    if (!plan->is_kept && faccessat(AT_FDCWD, path, mode, AT_EACCESS) < 0) {
        keep(plan, "user %d cannot %s %s: %s", (int)plan->uid, what, path,
             strerror(errno));
    }
}

static void try_needs(struct privileges *plan,
                      const struct privileges_needs *needs)
{
    if (!become(plan)) {
        come_back();
        return;
    }
    for (uint32_t i = 0; i < needs->file_count; i++) {
        if (needs->files[i].byte_count > 0) {
            try_path(plan, needs->files[i].p, R_OK, "read");
        }
    }
    if (needs->data_dir) {
        try_path(plan, needs->data_dir, X_OK, "enter");
    }
    come_back();
}

/* Whether files of an id may become the user's: they were root's, from before
 * there was an account, or of one that is gone, as when a package was removed.
 */
static bool is_to_hand_over(uid_t uid)
{
    return uid == 0 || uid == PRIVILEGES_ID_DEFAULT || !getpwuid(uid);
}

/* Files and folders of the data directory, but jobs/, become the user's.  What
 * has a second name may be another's, and links are nobody's. */
static void hand_over_entry(const struct privileges *plan, int dir_fd,
                            const char *name)
{
    struct stat st;

    if (strcmp(name, jobs_name) != 0 &&
        fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        ((S_ISREG(st.st_mode) && st.st_nlink == 1) || S_ISDIR(st.st_mode)) &&
        is_to_hand_over(st.st_uid) && strcmp(name, ".") != 0 &&
        strcmp(name, "..") != 0) {
        (void)!fchownat(dir_fd, name, plan->uid, plan->gid,
                        AT_SYMLINK_NOFOLLOW);
    }
}

/* The directory itself stays root's, and sticky: the user makes files in it,
 * and cannot put something else in the place of jobs/. */
static void hand_over(struct privileges *plan, const char *data_dir)
{
    int fd = open(data_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fchown(fd, 0, plan->gid) < 0 ||
        fchmod(fd, DATA_DIR_MODE) < 0) {
        keep(plan, "%s cannot be handed over: %s", data_dir, strerror(errno));
    } else if (fstatat(fd, jobs_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               (!S_ISDIR(st.st_mode) || st.st_uid != 0)) {
        keep(plan, "%s/%s is not a directory of root's", data_dir, jobs_name);
    }
    DIR *dir = fd < 0 || plan->is_kept ? NULL : fdopendir(fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        hand_over_entry(plan, fd, entry->d_name);
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

int privileges_plan(const struct config_hardening *config,
                    const struct privileges_needs *needs,
                    struct privileges *ret_plan, struct err *err)
{
    *ret_plan = (struct privileges){.is_root = geteuid() == 0};
    if (!ret_plan->is_root) {
        return 0;
    }
    int rc = find_user(config, ret_plan, err);
    if (rc == 0 && !ret_plan->is_kept) {
        try_needs(ret_plan, needs);
    }
    if (rc == 0 && !ret_plan->is_kept && needs->data_dir) {
        hand_over(ret_plan, needs->data_dir);
    }
    return rc;
}

/* Whether nothing is left. */
static bool has_given_up(const struct privileges *plan)
{
    uid_t uid, euid, saved_uid;
    gid_t gid, egid, saved_gid;

    return getresuid(&uid, &euid, &saved_uid) == 0 &&
           getresgid(&gid, &egid, &saved_gid) == 0 && uid == plan->uid &&
           euid == plan->uid && saved_uid == plan->uid && gid == plan->gid &&
           egid == plan->gid && saved_gid == plan->gid &&
           setresuid(0, 0, 0) < 0;
}

int privileges_give_up(const struct privileges *plan, const char *process,
                       struct err *err)
{
    if (!plan->is_root) {
        return 0;
    }
    if (plan->is_kept) {
        say(SAY_WARN, "privileges.kept", say_text("process", process),
            say_text("reason", plan->why.text));
        return 0;
    }
    for (unsigned long i = 0; i < CAPABILITIES_MAX; i++) {
        (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    }
    bool is_done = (*plan->name ? initgroups(plan->name, plan->gid)
                                : setgroups(0, NULL)) == 0;
    is_done = is_done && setresgid(plan->gid, plan->gid, plan->gid) == 0 &&
              setresuid(plan->uid, plan->uid, plan->uid) == 0 &&
              prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              /* Else its folder in /proc is root's, where a server of the same
               * user looks who calls. */
              prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
    if (!is_done || !has_given_up(plan)) {
        return err_set(err, -ERR_IO, "become user %d: %s", (int)plan->uid,
                       strerror(errno));
    }
    say(SAY_INFO, "privileges.dropped", say_text("process", process),
        say_text("user", *plan->name ? plan->name : "(no account)"),
        say_int("uid", (int64_t)plan->uid));
    return 0;
}

/* Enter a filter, and say which process has and what it denies. */
static void deny_calls(const struct config_hardening *config,
                       int (*enter)(struct err *err), const char *process,
                       const char *denied)
{
    struct err err = {""};
    const char *why =
        config->has_filter ? NULL : "hardening.systemCallFilter: false";

    if (!why && enter(&err) < 0) {
        why = err.text;
    }
    if (why) {
        say(SAY_WARN, "filter.off", say_text("process", process),
            say_text("reason", why));
    } else {
        say(SAY_INFO, "filter.on", say_text("process", process),
            say_text("denies", denied));
    }
}

void privileges_deny_calls(const struct config_hardening *config)
{
    deny_calls(config, filter_enter_server, program_invocation_short_name,
               "programs, processes, users, mounts, new code, rare kernel "
               "calls, rare sockets");
}

void privileges_deny_helper_calls(const struct config_hardening *config,
                                  const char *process)
{
    deny_calls(config, filter_enter_helper, process,
               "rare kernel calls, rare sockets");
}
