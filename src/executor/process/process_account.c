/* Accounts of the machine, which a job gets only if the configuration lists
 * them.  Ids that nobody has are free for jobs. */
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

#include "executor/process/process_spec.h"

enum { ENTRY_BYTES = 1 << 16 };

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

int process_check_account(const struct process_job *job, const char *name,
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
