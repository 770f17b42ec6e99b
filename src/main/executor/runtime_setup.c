#include "main/executor/runtime_setup.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cli/shared/context.h"
#include "executor/fake/fake.h"
#include "executor/port/node_set.h"
#include "executor/process/process.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/common/stopper.h"
#include "main/executor/allowed_users.h"
#include "main/executor/kubernetes_setup.h"
#include "wire/kube/entries.h"

enum {
    /* The helper of an executor that was killed ends what it is doing before
     * it looks: seconds, where the machine is busy. */
    LOCK_WAIT_MS_MAX = 10000,
    LOCK_TRY_MS = 100, /* of one try, between looks for signals */
};

static const char *text_of(struct str text, struct arena *arena)
{
    return text.byte_count > 0 ? arena_strdup(arena, text) : NULL;
}

/* berth-shim lies beside the program that runs; when installed, both are in
 * the same directory as well. */
static const char *shim_path(struct arena *arena)
{
    char path[PATH_MAX];

    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0) {
        return "/usr/local/bin/berth-shim";
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    auto_strbuf whole = {0};
    strbuf_addf(&whole, "%.*s/berth-shim", (int)(slash - path), path);
    return arena_strdup(arena, strbuf_str(&whole));
}

/* Labels written as key=value. */
static uint32_t take_labels(const struct setting_texts *texts,
                            struct arena *arena, const struct label **ret)
{
    struct label *labels =
        arena_alloc_array(arena, texts->count, sizeof(*labels));

    for (uint32_t i = 0; i < texts->count; i++) {
        struct str text = texts->items[i];
        const char *equals = memchr(text.p, '=', text.byte_count);
        size_t length = equals ? (size_t)(equals - text.p) : text.byte_count;
        labels[i].key = str_make(text.p, length);
        labels[i].value =
            equals ? str_make(equals + 1, text.byte_count - length - 1)
                   : (struct str){0};
    }
    *ret = labels;
    return texts->count;
}

/* Taints that were checked (main/config/config_check.c). */
static uint32_t take_taints(const struct setting_texts *texts,
                            struct arena *arena, const struct taint **ret)
{
    struct taint *taints =
        arena_alloc_array(arena, texts->count, sizeof(*taints));

    for (uint32_t i = 0; i < texts->count; i++) {
        int rc = taint_from_text(texts->items[i], &taints[i]);
        ASSERT(rc == 0);
    }
    *ret = taints;
    return texts->count;
}

/* The resources that the process runtime only counts, and GPUs. */
static struct resource_list take_others(const struct resource_list *all,
                                        struct arena *arena)
{
    struct resource_list others = {
        arena_alloc_array(arena, RESOURCE_LIST_MAX,
                          sizeof(struct resource_amount)),
        0};

    for (uint32_t i = 0; i < all->count; i++) {
        struct str name = all->items[i].name;
        if (!str_equal(name, STR("cpu")) && !str_equal(name, STR("memory")) &&
            !str_equal(name, STR("ephemeral-storage"))) {
            others.items[others.count++] = all->items[i];
        }
    }
    return others;
}

/* What is offered, but not as the configuration may mean it. */
static void say_others(struct runtime *runtime,
                       const struct resource_list *others)
{
    uint32_t node_count;
    const struct node_record *node =
        node_set_all(runtime->ops->nodes(runtime), &node_count);

    for (uint32_t i = 0; i < others->count; i++) {
        int64_t offered =
            resource_list_get(&node->total, others->items[i].name);
        bool is_gpu = str_equal(others->items[i].name, STR("nvidia.com/gpu"));
        if (offered < others->items[i].milli) {
            say(SAY_WARN, "runtime.resource",
                say_str("resource", others->items[i].name),
                say_int("configured", others->items[i].milli / 1000),
                say_int("offered", offered / 1000),
                say_text("info", "there are no more device files"));
        } else if (!is_gpu || !process_has_devices(runtime)) {
            say(SAY_WARN, "runtime.resource",
                say_str("resource", others->items[i].name),
                say_int("offered", offered / 1000),
                say_text("info", is_gpu ? "there are no device files: pods "
                                          "that ask for it are given none"
                                        : "it is counted; pods are neither "
                                          "given it nor kept from it"));
        }
    }
}

/* In the helper. */
static void begin_helper(void *ctx)
{
    const struct runtime_setup_process *setup = ctx;

    privileges_deny_helper_calls(setup->hardening, "berth-helper");
}

/* In the helper. */
static int open_process(void *ctx, struct runtime **ret_runtime,
                        struct err *ret_info, struct err *err)
{
    const struct runtime_setup_process *setup = ctx;
    const struct config_process *config = &setup->config->process;
    auto_arena arena = {0};
    struct process_options process;

    process_options_default(&process);
    process.data_dir = setup->jobs_dir;
    process.shim_path = shim_path(&arena);
    process.rng = &machine_rng;
    process.lock_wait_ms = LOCK_TRY_MS;
    process.pool = setup->config->pool;
    process.label_count = take_labels(&config->labels, &arena, &process.labels);
    process.taint_count = take_taints(&config->taints, &arena, &process.taints);
    process.cpu_milli = resource_list_get(&config->resources, STR("cpu"));
    process.memory_bytes =
        resource_list_get(&config->resources, STR("memory")) / 1000;
    process.storage_bytes =
        resource_list_get(&config->resources, STR("ephemeral-storage")) / 1000;
    process.others = take_others(&config->resources, &arena);
    process.device_dir = text_of(config->devices, &arena);
    process.run_as_user = config->user_id;
    process.run_as_group = config->group_id;
    process.allows_root_jobs = config->is_root_allowed;
    process.allowed_users = config->allowed_users.items;
    process.allowed_user_count = config->allowed_users.count;
    process.reserved_user = setup->reserved_user;
    process.reserved_group = setup->reserved_group;
    process.has_no_cgroups = !config->has_cgroups;
    process.has_no_namespaces = !config->has_namespaces;
    process.hidden_dir = setup->data_dir;
    process.keep_ms = config->retention.logs_ms;
    process.keep_count_max = (uint32_t)config->retention.log_run_count_max;
    process.keep_byte_count_max = config->retention.log_byte_count_max;
    process.folder_ms = config->retention.folders_ms;
    process.folder_count_max = (uint32_t)config->retention.folder_count_max;
    process.output_ms = config->retention.outputs_ms;
    process.output_count_max = (uint32_t)config->retention.output_count_max;
    process.outputs_byte_count_max = config->retention.outputs_byte_count_max;
    process.output_byte_count_max = config->retention.output_byte_count_max;
    int rc = process_open(&process, setup->clock, ret_runtime, ret_info, err);
    if (rc == 0) {
        say_others(*ret_runtime, &process.others);
    }
    return rc;
}

int runtime_setup_helper(const struct runtime_setup_process *setup,
                         struct helper **ret_helper, struct err *err)
{
    struct runtime_setup_process copy = *setup;
    auto_arena arena = {0};
    struct config_findings unknown = {.arena = &arena};
    const struct helper_options options = {
        .begin = begin_helper,
        .open = open_process,
        .lost = setup->lost,
        .open_ctx = &copy, /* of the helper, which does not return */
        .lost_ctx = setup->ctx,
    };

    *ret_helper = NULL;
    if (!str_equal(setup->config->runtime, STR("process"))) {
        return 0;
    }
    allowed_users_check(setup->config, &unknown);
    say_each(SAY_WARN, "config.unknown_user", "warning", &unknown.texts);
    *ret_helper = helper_start(&options, err);
    return *ret_helper ? 0 : -ERR_IO;
}

int runtime_setup_confine(const struct config_hardening *hardening,
                          const struct privileges_needs *needs,
                          struct runtime_setup_process *setup,
                          struct privileges *ret_plan,
                          struct helper **ret_helper, struct err *err)
{
    int rc = privileges_plan(hardening, needs, ret_plan, err);

    if (rc == 0 && setup->config) {
        setup->hardening = hardening;
        setup->reserved_user = ret_plan->uid;
        setup->reserved_group = ret_plan->gid;
        rc = runtime_setup_helper(setup, ret_helper, err);
    }
    if (rc == 0 && ret_plan->is_root && !ret_plan->is_kept &&
        setup->attempts_fd >= 0 &&
        fchown(setup->attempts_fd, ret_plan->uid, ret_plan->gid) < 0) {
        rc = err_set(err, -ERR_IO, "hand over the folder attempts: %s",
                     strerror(errno));
    }
    rc = rc < 0
             ? rc
             : privileges_give_up(ret_plan, program_invocation_short_name, err);
    if (rc == 0) {
        privileges_deny_calls(hardening);
    }
    return rc;
}

/* As helper_open(), but wait for another executor of the directory, until a
 * signal ends that. */
static int open_patiently(struct helper *helper, struct runtime **ret_runtime,
                          struct err *info, struct err *err)
{
    uint64_t until_ns = machine_clock.mono_ns(&machine_clock) +
                        (uint64_t)LOCK_WAIT_MS_MAX * 1000000;
    bool has_said = false;

    int rc = helper_open(helper, ret_runtime, info, err);
    while (rc == -ERR_CONFLICT && !stopper_is_signalled() &&
           machine_clock.mono_ns(&machine_clock) < until_ns) {
        if (!has_said) {
            say(SAY_WARN, "executor.waits", say_text("error", err->text),
                say_int("seconds_max", LOCK_WAIT_MS_MAX / 1000),
                say_text("advice", "stop the other one, or give this one "
                                   "another directory with --data"));
            has_said = true;
        }
        rc = helper_open(helper, ret_runtime, info, err);
    }
    return rc == -ERR_CONFLICT && stopper_is_signalled()
               ? err_set(err, rc, "stopped by a signal before it was ready")
               : rc;
}

static int open_helped(const struct executor_thread_options *options,
                       struct runtime **ret_runtime, struct err *err)
{
    struct err info = {""};

    int rc = open_patiently(options->helper, ret_runtime, &info, err);
    if (rc == 0) {
        say(SAY_INFO, "runtime.process", say_text("info", info.text));
    }
    return rc;
}

static int open_fake(const struct executor_thread_options *options,
                     struct runtime **ret_runtime, struct err *err)
{
    const struct config_fake *config = &options->config->fake;
    auto_arena arena = {0};
    struct fake_options fake;
    struct fake_group *groups =
        arena_alloc_array(&arena, config->group_count, sizeof(*groups));

    fake_options_default(&fake);
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct config_fake_group *from = &config->groups[i];
        groups[i].name = from->name;
        groups[i].count = (uint32_t)from->count;
        groups[i].node.pool = options->config->pool;
        groups[i].node.total = from->resources;
        groups[i].node.label_count =
            take_labels(&from->labels, &arena, &groups[i].node.labels);
        groups[i].node.taint_count =
            take_taints(&from->taints, &arena, &groups[i].node.taints);
    }
    if (config->group_count > 0) {
        fake.groups = groups;
        fake.group_count = config->group_count;
    }
    fake.executor_id = options->config->id;
    fake.seed = (uint64_t)config->seed;
    fake.distribution =
        str_equal(config->distribution, STR("fixed"))     ? FAKE_FIXED
        : str_equal(config->distribution, STR("uniform")) ? FAKE_UNIFORM
                                                          : FAKE_EXPONENTIAL;
    fake.run_a_ms = config->run_a_ms;
    fake.run_b_ms = config->run_b_ms;
    fake.start_delay_ms = config->start_delay_ms;
    fake.failure_ppm = (uint32_t)config->failure_ppm;
    fake.pending = config->pending;
    return fake_open(&fake, options->clock, ret_runtime, err);
}

int runtime_setup_open(const struct executor_thread_options *options,
                       struct runtime **ret_runtime, struct err *err)
{
    struct str runtime = options->config->runtime;

    return str_equal(runtime, STR("fake"))
               ? open_fake(options, ret_runtime, err)
           : str_equal(runtime, STR("kubernetes"))
               ? kubernetes_setup_open(options, ret_runtime, err)
               : open_helped(options, ret_runtime, err);
}

struct rpc_channel *
runtime_setup_channel(const struct executor_thread_options *options,
                      struct arena *arena, struct err *err)
{
    struct rpc_channel_tls tls = {0};
    struct rpc_channel_options channel = {
        .address = options->server,
        .receive_bytes_max = EXECUTOR_MESSAGE_BYTES_MAX,
        .user_agent = "berth-executor/" BERTH_VERSION,
    };

    if (options->tls) {
        tls.ca_file = text_of(options->tls->client_ca, arena);
        tls.certificate_file = text_of(options->tls->certificate, arena);
        tls.key_file = text_of(options->tls->key, arena);
        tls.server_name = text_of(options->tls->server_name, arena);
        channel.tls = &tls;
    }
    return rpc_channel_open(&channel, err);
}

char *runtime_setup_basic(const char *user_name, const char *password,
                          struct arena *arena)
{
    return context_basic(user_name, password, arena);
}
