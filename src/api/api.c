#include "api/api.h"

#include <time.h>

#include "api/core/state.h"
#include "api/exec/exec_table.h"
#include "api/handlers.h"
#include "api/logs/log_hub.h"
#include "api/methods.h"

#define ROW(path_, handler_, kind_, permission_, verb_, scope_, traits_) \
    {                                                                    \
        .path = "/" path_,                                               \
        .kind = RPC_##kind_,                                             \
        .handle = handle_##handler_,                                     \
        .permission = PERMISSION_##permission_,                          \
        .verb = VERB_##verb_,                                            \
        .scope = SCOPE_##scope_,                                         \
        .traits = (traits_),                                             \
    },

static const struct method methods[] = {API_METHODS(ROW, ROW)};

/* What the transport gives back with a call. */
struct bound_method {
    struct api *api;
    const struct method *method;
};

static void dispatch(void *ctx, struct rpc_call *rpc, struct str request)
{
    (void)ctx;
    api_call_dispatch(rpc, request);
}

static bool admit(void *ctx, struct rpc_call *rpc)
{
    const struct bound_method *bound = ctx;

    return api_call_admit(bound->api, bound->method, rpc);
}

void api_config_defaults(struct api_config *ret_config)
{
    *ret_config = (struct api_config){
        .query_items_max = QUERY_ITEMS_DEFAULT_MAX,
        .watchers_max = WATCHERS_DEFAULT_MAX,
        .lease_receive_bytes_max = LEASE_RECEIVE_BYTES_DEFAULT_MAX,
        .unstored_bytes_max = UNSTORED_BYTES_DEFAULT_MAX,
        .log_timeout_ms = LOG_TIMEOUT_MS,
        .node_id_label = STR("kubernetes.io/hostname"),
        .priority_class_override = STR("armada-default"),
    };
    submit_rules_defaults(&ret_config->submit);
    training_rules_defaults(&ret_config->training);
}

static void bind_methods(struct api *api)
{
    api->table = methods;
    api->method_count = ARRAY_COUNT(methods);
    ASSERT(api->method_count <= RPC_SERVER_METHODS_MAX);
    api->methods = mem_alloc_array(api->method_count, sizeof(*api->methods));
    api->bound = mem_alloc_array(api->method_count, sizeof(*api->bound));
    for (uint32_t i = 0; i < api->method_count; i++) {
        api->bound[i] = (struct bound_method){api, &methods[i]};
        api->methods[i] = (struct rpc_method){
            .path = methods[i].path,
            .kind = methods[i].kind,
            .handle = dispatch,
            .admit = admit,
            .ctx = &api->bound[i],
            .receive_bytes_max = methods[i].traits & METHOD_IS_LARGE
                                     ? api->config->lease_receive_bytes_max
                                     : 0,
        };
    }
}

struct api *api_create(const struct api_config *config,
                       const struct api_ports *ports, struct err *err)
{
    struct api *api = mem_alloc(sizeof(*api));

    api->config = config;
    api->cpu_per_gpu_milli = config->training.cpu_per_gpu_milli;
    api->ports = *ports;
    uint64_t seed;
    ports->rng->fill(ports->rng, &seed, sizeof(seed));
    auth_init(&api->auth, &config->auth, seed);
    rate_init(&api->rate, &config->rate, seed);
    leader_questions_init(&api->questions);
    (void)pthread_mutex_init(&api->zones_lock, NULL);
    api->readers = reader_pool_create(ports->store, ports->log);
    api->specs = spec_cache_create(config->unstored_bytes_max);
    api->exec_table = exec_table_create();
    bind_methods(api);
    api->hub = event_hub_create(config->watchers_max, err);
    api->lease_hub = api->hub ? event_hub_create(EXECUTORS_MAX, err) : NULL;
    api->log_hub =
        api->lease_hub ? log_hub_create(config->log_timeout_ms, err) : NULL;
    if (!api->log_hub) {
        api_destroy(api);
        return NULL;
    }
    return api;
}

void api_destroy(struct api *api)
{
    if (!api) {
        return;
    }
    /* A backup has a thread of its own, which works on store and log. */
    while (atomic_load(&api->backup_count) > 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    event_hub_destroy(api->hub);
    event_hub_destroy(api->lease_hub);
    log_hub_destroy(api->log_hub);
    exec_table_destroy(api->exec_table);
    reader_pool_destroy(api->readers);
    spec_cache_destroy(api->specs);
    auth_fini(&api->auth);
    rate_fini(&api->rate);
    leader_questions_fini(&api->questions);
    (void)pthread_mutex_destroy(&api->zones_lock);
    mem_free(api->methods);
    mem_free(api->bound);
    mem_free(api);
}

const struct rpc_method *api_methods(const struct api *api, uint32_t *ret_count)
{
    *ret_count = api->method_count;
    return api->methods;
}

void api_on_changed(void *ctx, struct str queue, struct str job_set,
                    uint64_t seq)
{
    struct api *api = ctx;

    spec_cache_forget(api->specs, seq);
    event_hub_notify(api->hub, queue, job_set);
    if (atomic_load(&api->behind_count) > 0) {
        event_hub_notify(api->lease_hub, STR(""), STR(""));
    }
}

void api_set_cpu_per_gpu(struct api *api, int64_t milli)
{
    api->cpu_per_gpu_milli = milli;
}

uint32_t api_watcher_count(struct api *api)
{
    return event_hub_count(api->hub);
}

void api_unstored(struct api *api, uint64_t *ret_job_count,
                  size_t *ret_byte_count)
{
    spec_cache_stats(api->specs, ret_job_count, ret_byte_count);
}
