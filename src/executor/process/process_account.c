/* Whom a container runs as.  Accounts of the machine a job gets only if the
 * configuration lists them; ids that nobody has are free for jobs. */
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "executor/process/process_spec.h"

enum {
    ENTRY_BYTES = 1 << 16,
    ORDINARY_ID_MIN = 1000, /* smaller ones are the system's, as in Debian */
};

static bool is_listed(const struct process_policy *policy, const char *name,
                      int64_t uid)
{
    char number[32];

    snprintf(number, sizeof(number), "%" PRId64, uid);
    for (uint32_t i = 0; i < policy->allowed_user_count; i++) {
        struct str item = policy->allowed_users[i];
        if (str_equal(item, str_of(name)) || str_equal(item, str_of(number))) {
            return true;
        }
    }
    return false;
}

/* Whether the job may have the user; `*ret_gid`: the group of an account that
 * it gets, else -1. */
static bool may_have_user(const struct process_policy *policy, int64_t uid,
                          int64_t *ret_gid, char *text)
{
    struct passwd entry, *found = NULL;

    *ret_gid = -1;
    /* Who cannot be looked up may be somebody. */
    if (getpwuid_r((uid_t)uid, &entry, text, ENTRY_BYTES, &found) != 0) {
        return is_listed(policy, "", uid);
    }
    if (!found) {
        return true;
    }
    *ret_gid = (int64_t)entry.pw_gid;
    return uid == policy->run_as_user || is_listed(policy, entry.pw_name, uid);
}

static bool may_have_group(const struct process_policy *policy, int64_t gid,
                           int64_t own_gid, char *text)
{
    struct group entry, *found = NULL;

    if (gid == policy->run_as_group || gid == own_gid) {
        return true;
    }
    return getgrgid_r((gid_t)gid, &entry, text, ENTRY_BYTES, &found) == 0 &&
           !found;
}

static int check_account(const struct process_job *job, const char *name,
                         int64_t uid, int64_t gid, struct err *err)
{
    char *text = arena_alloc(job->arena, ENTRY_BYTES);
    int64_t own_gid;

    if (job->policy->allows_root_jobs && uid == 0) {
        return 0;
    }
    if (!may_have_user(job->policy, uid, &own_gid, text)) {
        return err_set(err, -ERR_INVALID,
                       "container %s would run as user %" PRId64
                       ", an account of the machine that "
                       "executor.process.allowedUsers does not list",
                       name, uid);
    }
    if (!may_have_group(job->policy, gid, own_gid, text)) {
        return err_set(err, -ERR_INVALID,
                       "container %s would run as group %" PRId64
                       " of the machine: allowed are group %" PRId64
                       " and that of a user in executor.process.allowedUsers",
                       name, gid, job->policy->run_as_group);
    }
    return 0;
}

/* Users and groups of the system may be as good as root: who is in `disk`
 * reads every file, who is in `docker` starts what he likes. */
static int check_system_id(const struct process_job *job, const char *name,
                           bool is_user, int64_t id, struct err *err)
{
    const struct process_policy *policy = job->policy;
    int64_t usual = is_user ? policy->run_as_user : policy->run_as_group;

    if (policy->allows_root_jobs || id >= ORDINARY_ID_MIN ||
        (id == usual && id != 0)) {
        return 0;
    }
    return err_set(err, -ERR_INVALID,
                   "container %s would run as system %s %lld, which this "
                   "executor does not allow (allowRootJobs)",
                   name, is_user ? "user" : "group", (long long)id);
}

/* A job of our front end's user could take it over. */
static int check_reserved(const struct process_policy *policy, const char *name,
                          int64_t uid, int64_t gid, struct err *err)
{
    bool is_reserved =
        (policy->reserved_user > 0 && uid == policy->reserved_user) ||
        (policy->reserved_group > 0 && gid == policy->reserved_group);

    return is_reserved ? err_set(err, -ERR_INVALID,
                                 "container %s would run as user %" PRId64
                                 ", group %" PRId64
                                 ", which the executor itself runs as",
                                 name, uid, gid)
                       : 0;
}

static int check_root(const struct process_job *job,
                      const K8s__Io__Api__Core__V1__Container *container,
                      int64_t uid, int64_t gid, struct err *err)
{
    const char *name = process_or_empty(container->name);

    int rc = check_reserved(job->policy, name, uid, gid, err);
    rc = rc < 0 ? rc : check_system_id(job, name, true, uid, err);
    rc = rc < 0 ? rc : check_system_id(job, name, false, gid, err);
    rc = rc < 0 ? rc : check_account(job, name, uid, gid, err);
    if (rc < 0) {
        return rc;
    }
    bool is_non_root = container->securitycontext &&
                               container->securitycontext->has_runasnonroot
                           ? container->securitycontext->runasnonroot
                           : job->pod->securitycontext &&
                                 job->pod->securitycontext->runasnonroot;
    if (uid == 0 && is_non_root) {
        return err_set(
            err, -ERR_INVALID,
            "container %s would run as root, which its runAsNonRoot forbids",
            name);
    }
    return 0;
}

int process_find_user(const struct process_job *job,
                      const K8s__Io__Api__Core__V1__Container *container,
                      int64_t *ret_uid, int64_t *ret_gid, struct err *err)
{
    const K8s__Io__Api__Core__V1__SecurityContext *own =
        container->securitycontext;
    const K8s__Io__Api__Core__V1__PodSecurityContext *pod =
        job->pod->securitycontext;
    bool has_uid = (own && own->has_runasuser) || (pod && pod->has_runasuser);
    bool has_gid = (own && own->has_runasgroup) || (pod && pod->has_runasgroup);
    int64_t uid = own && own->has_runasuser ? own->runasuser
                  : has_uid                 ? pod->runasuser
                                            : job->policy->run_as_user;
    int64_t gid = own && own->has_runasgroup ? own->runasgroup
                  : has_gid                  ? pod->runasgroup
                                             : job->policy->run_as_group;

    if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX) {
        return err_set(err, -ERR_INVALID, "container %s: no such user or group",
                       process_or_empty(container->name));
    }
    if (!job->policy->is_root) {
        if ((has_uid && uid != (int64_t)geteuid()) ||
            (has_gid && gid != (int64_t)getegid())) {
            return err_set(err, -ERR_INVALID,
                           "container %s requests another user or group, but "
                           "this executor does not run as root",
                           process_or_empty(container->name));
        }
        *ret_uid = *ret_gid = -1;
        return 0;
    }
    *ret_uid = uid;
    *ret_gid = gid;
    return check_root(job, container, uid, gid, err);
}
