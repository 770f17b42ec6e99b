/* Who may do what: permissions, the verbs of queues, and their owners. */
#include <strings.h>

#include "api/core/auth.h"

static const char *const permission_names[PERMISSION_COUNT] = {
    [PERMISSION_NONE] = "",
    [PERMISSION_SUBMIT_ANY_JOBS] = "submit_any_jobs",
    [PERMISSION_CANCEL_ANY_JOBS] = "cancel_any_jobs",
    [PERMISSION_PREEMPT_ANY_JOBS] = "preempt_any_jobs",
    [PERMISSION_REPRIORITIZE_ANY_JOBS] = "reprioritize_any_jobs",
    [PERMISSION_WATCH_ALL_EVENTS] = "watch_all_events",
    [PERMISSION_CREATE_QUEUE] = "create_queue",
    [PERMISSION_DELETE_QUEUE] = "delete_queue",
    [PERMISSION_CORDON_QUEUE] = "cordon_queue",
    [PERMISSION_CORDON_NODES] = "cordon_nodes",
    [PERMISSION_EXECUTE_JOBS] = "execute_jobs",
    [PERMISSION_UPDATE_EXECUTOR_SETTINGS] = "update_executor_settings",
    [PERMISSION_CREATE_RETRY_POLICY] = "create_retry_policy",
    [PERMISSION_UPDATE_RETRY_POLICY] = "update_retry_policy",
    [PERMISSION_DELETE_RETRY_POLICY] = "delete_retry_policy",
    [PERMISSION_BACKUP] = "backup",
    [PERMISSION_CREATE_POOL] = "create_pool",
    [PERMISSION_DELETE_POOL] = "delete_pool",
    [PERMISSION_EXEC_ANY_JOBS] = "exec_any_jobs",
};

static const char *const verb_names[VERB_COUNT] = {
    [VERB_NONE] = "",
    [VERB_SUBMIT] = "submit",
    [VERB_CANCEL] = "cancel",
    [VERB_PREEMPT] = "preempt",
    [VERB_REPRIORITIZE] = "reprioritize",
    [VERB_WATCH] = "watch",
    [VERB_EXEC] = "exec",
};

const char *permission_name(enum permission permission)
{
    ASSERT(permission < PERMISSION_COUNT);
    return permission_names[permission];
}

enum permission permission_of_name(struct str name)
{
    for (int i = PERMISSION_NONE + 1; i < PERMISSION_COUNT; i++) {
        if (str_equal(name, str_of(permission_names[i]))) {
            return (enum permission)i;
        }
    }
    return PERMISSION_COUNT;
}

const char *queue_verb_name(enum queue_verb verb)
{
    ASSERT(verb < VERB_COUNT);
    return verb_names[verb];
}

enum queue_verb queue_verb_of_name(struct str name)
{
    if (str_equal(name, STR("view"))) {
        return VERB_WATCH;
    }
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
        if (str_equal(name, str_of(verb_names[verb]))) {
            return (enum queue_verb)verb;
        }
    }
    return VERB_COUNT;
}

bool auth_minds_jobs(const struct auth *auth, uint32_t user_id)
{
    const struct auth_config *config = auth->config;

    return config->is_anonymous_allowed && config->has_own_user &&
           user_id != 0 && user_id == config->own_user_id;
}

static bool is_in_group(const struct principal *principal, struct str group)
{
    for (uint32_t i = 0; i < principal->group_count; i++) {
        if (str_equal(principal->groups[i], group)) {
            return true;
        }
    }
    return false;
}

bool auth_is_granted(const struct permission_grant *grant,
                     const struct principal *principal)
{
    for (uint32_t i = 0; i < grant->group_count; i++) {
        if (is_in_group(principal, grant->groups[i])) {
            return true;
        }
    }
    return false;
}

bool auth_has_permission(const struct auth *auth,
                         const struct principal *principal,
                         enum permission permission)
{
    return permission == PERMISSION_NONE || principal->is_administrator ||
           auth_is_granted(&auth->config->grants[permission], principal);
}

bool auth_may_act_for(const struct principal *principal, struct str executor_id)
{
    for (uint32_t i = 0; i < principal->executor_count; i++) {
        if (str_equal(principal->executors[i], executor_id)) {
            return true;
        }
    }
    return principal->executor_count == 0;
}

/* `anonymous` is nobody: whoever created a queue without credentials would
 * share it with all who have none, jobs included. */
static bool is_meant(const Api__Queue__Permissions__Subject *subject,
                     const struct principal *principal)
{
    struct str name = str_of(subject->name);

    if (strcmp(subject->kind, "User") == 0) {
        return !principal->is_anonymous && str_equal(name, principal->name);
    }
    return strcmp(subject->kind, "Group") == 0 && is_in_group(principal, name);
}

static bool is_given(const Api__Queue *queue, const struct principal *principal,
                     enum queue_verb verb)
{
    const char *name = queue_verb_name(verb);

    for (size_t i = 0; i < queue->n_permissions; i++) {
        const Api__Queue__Permissions *entry = queue->permissions[i];
        bool has_verb = false;
        for (size_t v = 0; v < entry->n_verbs && !has_verb; v++) {
            has_verb = strcmp(entry->verbs[v], name) == 0;
        }
        for (size_t s = 0; has_verb && s < entry->n_subjects; s++) {
            if (is_meant(entry->subjects[s], principal)) {
                return true;
            }
        }
    }
    return false;
}

bool auth_queue_is_owner(const Api__Queue *queue,
                         const struct principal *principal)
{
    for (int verb = VERB_NONE + 1; verb < VERB_EXEC; verb++) {
        if (!is_given(queue, principal, (enum queue_verb)verb)) {
            return false;
        }
    }
    return true;
}

bool auth_queue_grants(const Api__Queue *queue,
                       const struct principal *principal, enum queue_verb verb)
{
    return is_given(queue, principal, verb) ||
           (verb == VERB_EXEC && auth_queue_is_owner(queue, principal));
}
