#include "main/berthd/api_setup.h"

#include <stdio.h>

#include "model/gang_terms.h"
#include "model/quantity.h"

/* The group of the executor inside the server. */
static const struct str local_group = {"berth:local-executor", 20};

static void make_secret(const struct rng *rng, char ret_text[API_SECRET_BYTES])
{
    uint8_t random[API_SECRET_BYTES / 2];

    rng->fill(rng, random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++) {
        (void)snprintf(ret_text + 2 * i, 3, "%02x", random[i]);
    }
}

void api_local_user_make(const struct rng *rng, struct api_local_user *ret_user)
{
    (void)snprintf(ret_user->name, sizeof(ret_user->name),
                   "berth-local-executor");
    make_secret(rng, ret_user->password);
    make_secret(rng, ret_user->token);
}

static struct str quantity_text(struct str name, int64_t milli,
                                struct arena *arena)
{
    char text[QUANTITY_TEXT_BYTES_MAX];
    bool is_size = !str_equal(name, STR("cpu"));

    return arena_str(arena, str_of(quantity_format(milli, is_size, text)));
}

static void set_amounts(const struct config_submission *from,
                        struct submit_rules *rules, struct arena *arena)
{
    rules->default_limit_count = 0;
    for (uint32_t i = 0;
         i < from->default_limits.count && i < RULES_RESOURCES_MAX; i++) {
        const struct resource_amount *amount = &from->default_limits.items[i];
        rules->default_limits[rules->default_limit_count++] =
            (struct resource_default){
                amount->name,
                quantity_text(amount->name, amount->milli, arena)};
    }
    rules->minimum_count = 0;
    for (uint32_t i = 0; i < from->minimums.count && i < RULES_RESOURCES_MAX;
         i++) {
        const struct resource_amount *amount = &from->minimums.items[i];
        rules->minimums[rules->minimum_count++] = (struct resource_minimum){
            amount->name, quantity_text(amount->name, amount->milli, arena),
            amount->milli};
    }
}

static void set_classes(const struct config *config, struct submit_rules *rules,
                        struct arena *arena)
{
    struct setting_texts names = config_class_names(config, arena);

    rules->class_count = 0;
    for (uint32_t i = 0; i < names.count && i < RULES_CLASSES_MAX; i++) {
        rules->classes[rules->class_count++] = names.items[i];
    }
    rules->default_class = config_default_class(config);
}

/* Who schedules `pods` counts them, and pod specs do not ask for them. */
static void set_pods(const struct policy_form *from, struct submit_rules *rules)
{
    rules->counts_pods = false;
    for (uint32_t i = 0; i < from->resource_count; i++) {
        rules->counts_pods |= str_equal(from->resources[i].name, STR("pods"));
    }
}

static void set_submission(const struct config_submission *from,
                           struct submit_rules *rules, struct arena *arena)
{
    set_amounts(from, rules, arena);
    rules->deadline_count = 0;
    for (uint32_t i = 0; i < from->deadline_count && i < RULES_RESOURCES_MAX;
         i++) {
        rules->deadlines[rules->deadline_count++] = (struct resource_deadline){
            from->deadlines[i].resource, from->deadlines[i].deadline_ms / 1000};
    }
    rules->pod_spec_bytes_max = (size_t)from->pod_spec_bytes_max;
    rules->default_deadline_s = from->default_deadline_ms / 1000;
    rules->grace_period_s_min = from->grace_period_ms_min / 1000;
    rules->grace_period_s_max = from->grace_period_ms_max / 1000;
    rules->needs_fractional_init_cpu = from->needs_fractional_init_cpu;
    rules->allows_preferred_nodes = from->allows_preferred_nodes;
}

static void set_training(const struct config *config,
                         struct training_rules *rules)
{
    const struct config_training *from = &config->submission.training;
    const struct policy_elastic_form *elastic = &config->scheduling.elastic;

    *rules = (struct training_rules){
        .cpu_per_gpu_milli = elastic->cpu_per_gpu_milli,
        .freezing_window_ms = FREEZING_BY_POLICY,
        .launcher = from->launcher,
        .image = from->image,
        .etcd_image = from->etcd_image,
    };
}

static void grant(struct auth_config *auth, enum permission permission,
                  const struct setting_texts *groups)
{
    auth->grants[permission] =
        (struct permission_grant){groups->items, groups->count};
}

static void set_grants(const struct config_permissions *from,
                       struct auth_config *auth)
{
    grant(auth, PERMISSION_SUBMIT_ANY_JOBS, &from->submit_any_jobs);
    grant(auth, PERMISSION_CANCEL_ANY_JOBS, &from->cancel_any_jobs);
    grant(auth, PERMISSION_PREEMPT_ANY_JOBS, &from->preempt_any_jobs);
    grant(auth, PERMISSION_REPRIORITIZE_ANY_JOBS, &from->reprioritize_any_jobs);
    grant(auth, PERMISSION_WATCH_ALL_EVENTS, &from->watch_all_events);
    grant(auth, PERMISSION_CREATE_QUEUE, &from->create_queue);
    grant(auth, PERMISSION_DELETE_QUEUE, &from->delete_queue);
    grant(auth, PERMISSION_CORDON_QUEUE, &from->cordon_queue);
    grant(auth, PERMISSION_CORDON_NODES, &from->cordon_nodes);
    grant(auth, PERMISSION_EXECUTE_JOBS, &from->execute_jobs);
    grant(auth, PERMISSION_UPDATE_EXECUTOR_SETTINGS,
          &from->update_executor_settings);
    grant(auth, PERMISSION_CREATE_RETRY_POLICY, &from->create_retry_policy);
    grant(auth, PERMISSION_UPDATE_RETRY_POLICY, &from->update_retry_policy);
    grant(auth, PERMISSION_DELETE_RETRY_POLICY, &from->delete_retry_policy);
    grant(auth, PERMISSION_BACKUP, &from->backup);
    grant(auth, PERMISSION_CREATE_POOL, &from->create_pool);
    grant(auth, PERMISSION_DELETE_POOL, &from->delete_pool);
}

/* The group of the executor inside joins those that may execute jobs. */
static void grant_local(struct auth_config *auth, struct arena *arena)
{
    struct permission_grant *granted = &auth->grants[PERMISSION_EXECUTE_JOBS];
    struct str *groups =
        arena_alloc_array(arena, granted->group_count + 1, sizeof(*groups));

    for (uint32_t i = 0; i < granted->group_count; i++) {
        groups[i] = granted->groups[i];
    }
    groups[granted->group_count] = local_group;
    *granted = (struct permission_grant){groups, granted->group_count + 1};
}

static void set_users(const struct config *config,
                      const struct api_local_user *local,
                      struct auth_config *auth, struct arena *arena)
{
    const struct config_auth *from = &config->auth;
    struct basic_user *users =
        arena_alloc_array(arena, from->user_count + 1, sizeof(*users));

    for (uint32_t i = 0; i < from->user_count; i++) {
        const struct config_user *user = &from->users[i];
        users[auth->user_count++] = (struct basic_user){
            .name = user->name,
            .password = user->password,
            .password_hash = user->password_hash,
            .groups = user->groups.items,
            .group_count = user->groups.count,
            .executors = user->executors.items,
            .executor_count = user->executors.count,
        };
    }
    if (config->executor.is_enabled) {
        users[auth->user_count++] = (struct basic_user){
            .name = str_of(local->name),
            .password = str_of(local->password),
            .groups = &local_group,
            .group_count = 1,
            .executors = &config->executor.id,
            .executor_count = 1,
        };
        grant_local(auth, arena);
    }
    auth->users = users;
}

/* Jobs can name the targets that there are. */
static void set_notify(const struct config_notifications *from,
                       struct submit_rules *rules)
{
    rules->notify_target_count = 0;
    for (uint32_t i = 0; i < config_notify_count(from) && i < RULES_NOTIFY_MAX;
         i++) {
        rules->notify_targets[rules->notify_target_count++] =
            config_notify_at(from, i)->name;
    }
}

/* What jobs can ask for and need, as far as that is known here. */
static void set_offers(const struct config *config, struct submit_rules *rules)
{
    const struct policy_form *form = &config->scheduling;
    static const struct {
        const char *name;
        enum rules_runtime runtime;
    } runtimes[] = {
        {"process", RULES_RUNTIME_PROCESS},
        {"kubernetes", RULES_RUNTIME_KUBERNETES},
        {"fake", RULES_RUNTIME_FAKE},
    };

    for (uint32_t i = 0; i < form->resource_count; i++) {
        rules->resources[rules->resource_count++] = form->resources[i].name;
    }
    for (uint32_t i = 0; i < form->floating_count; i++) {
        rules->resources[rules->resource_count++] = form->floating[i].name;
    }
    for (size_t i = 0; i < ARRAY_COUNT(runtimes); i++) {
        if (config->executor.is_enabled &&
            str_equal(config->executor.runtime, str_of(runtimes[i].name))) {
            rules->runtime = runtimes[i].runtime;
        }
    }
}

struct api_config *api_setup(const struct config *config,
                             const struct api_local_user *local,
                             const char *data_dir, struct arena *arena)
{
    struct api_config *api = arena_alloc(arena, sizeof(*api));

    api_config_defaults(api);
    set_classes(config, &api->submit, arena);
    set_submission(&config->submission, &api->submit, arena);
    set_pods(&config->scheduling, &api->submit);
    set_notify(&config->notifications, &api->submit);
    set_offers(config, &api->submit);
    set_training(config, &api->training);
    api->auth = (struct auth_config){
        .is_anonymous_allowed = config->auth.is_anonymous,
        .has_own_user = true,
        .own_user_id = local->own_user_id,
        .token = config->auth.is_anonymous ? str_of(local->token) : STR(""),
        .administrators = {config->auth.administrators.items,
                           config->auth.administrators.count},
    };
    api->rate = (struct rate_limits){config->server.rate.requests_per_s,
                                     config->server.rate.bytes_per_s};
    set_grants(&config->auth.permissions, &api->auth);
    api->backup_dir = str_of(data_dir);
    set_users(config, local, &api->auth, arena);
    api->watchers_max = (uint32_t)config->server.stream_count_max;
    api->unstored_bytes_max = (size_t)config->store.behind_bytes_max;
    for (uint32_t i = 0; i < config->scheduling.resource_count; i++) {
        api->resource_types[api->resource_type_count++] =
            config->scheduling.resources[i].name;
    }
    return api;
}
