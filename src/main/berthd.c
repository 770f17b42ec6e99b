/*
 * berthd - the control plane, with an executor inside if --standalone.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elog/sq.h"
#include "main/berthd/berthd_options.h"
#include "main/berthd/data_dir.h"
#include "main/berthd/metric_table.h"
#include "main/berthd/notify_setup.h"
#include "main/berthd/server.h"
#include "main/berthd/tls_files.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/common/service_manager.h"
#include "main/executor/allowed_users.h"
#include "main/executor/kubernetes_setup.h"
#include "main/executor/privileges.h"
#include "main/executor/runtime_setup.h"

enum { EXIT_USAGE = 2, FILES_MAX = 8 + 2 * CONFIG_NOTIFY_TARGETS_MAX };

/* Something cannot go on: stop as if asked to, but fail. */
static volatile sig_atomic_t has_failed;

static void on_failed(void *ctx)
{
    (void)ctx;
    has_failed = 1;
    (void)kill(getpid(), SIGTERM);
}

/* Signals are waited for by the first thread alone. */
static void block_signals(sigset_t *ret_signals)
{
    (void)sigemptyset(ret_signals);
    (void)sigaddset(ret_signals, SIGTERM);
    (void)sigaddset(ret_signals, SIGINT);
    (void)sigaddset(ret_signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, ret_signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

static void print_config(const struct config *config)
{
    auto_strbuf text = {0};

    settings_print(&config_settings, config, SETTINGS_COMMENTED, &text);
    fputs(strbuf_text(&text), stdout);
}

static void print_manual(void)
{
    auto_strbuf text = {0};

    settings_print_manual(&config_settings, &text);
    fputs(strbuf_text(&text), stdout);
}

static void print_metrics(void)
{
    auto_strbuf text = {0};

    metric_print_manual(&text);
    fputs(strbuf_text(&text), stdout);
}

static void reload(struct server *server, const struct berthd_options *options)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct err err;

    struct config *config = berthd_options_config(options, &findings);
    say_each(SAY_ERROR, "config.refused", "error", &findings.texts);
    if (findings.texts.count == 0 && server_reload(server, config, &err) < 0) {
        say(SAY_ERROR, "config.refused", say_text("error", err.text));
    }
}

/* Everything that is wrong, a line for each; whether there was something. */
static bool complain(const struct config_findings *findings)
{
    for (uint32_t i = 0; i < findings->texts.count; i++) {
        fprintf(stderr, "berthd: %.*s\n", STR_ARG(findings->texts.items[i]));
    }
    return findings->texts.count > 0;
}

/* Serve until told to stop. */
static void serve(struct server *server, const struct berthd_options *options,
                  const sigset_t *signals)
{
    int signal_number = 0;
    struct err err;

    printf("ready grpc=%s http=%s\n", server_grpc(server), server_http(server));
    (void)fflush(stdout);
    say(SAY_INFO, "server.ready", say_text("grpc", server_grpc(server)),
        say_text("http", server_http(server)),
        say_text("version", BERTH_VERSION));
    if (service_manager_ready(&err) < 0) {
        say(SAY_WARN, "service-manager.untold", say_text("error", err.text));
    }
    while (sigwait(signals, &signal_number) == 0 && signal_number == SIGHUP) {
        reload(server, options);
    }
    say(SAY_INFO, "server.stopping", say_int("signal", signal_number));
}

static void on_helper_lost(void *ctx)
{
    say(SAY_ERROR, "helper.lost",
        say_text("advice", "the process that starts jobs has ended; berthd "
                           "stops, and the next start adopts the jobs"));
    on_failed(ctx);
}

/* What must be readable for who is not root; how many. */
static uint32_t list_files(const struct server_options *options,
                           const char *config_path, struct str files[FILES_MAX])
{
    const struct config *config = options->config;
    const struct config_tls *tls[] = {&config->server.tls,
                                      &config->executor.tls};
    const struct config_notifications *notified = &config->notifications;
    uint32_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(tls); i++) {
        files[count++] = tls[i]->certificate;
        files[count++] = tls[i]->key;
        files[count++] = tls[i]->client_ca;
    }
    files[count++] = config_path ? str_of(config_path) : STR("");
    files[count++] = kubernetes_setup_token_file(options->kube);
    for (uint32_t i = 0; i < notified->webhook_count; i++) {
        files[count++] = notified->webhooks[i].ca_file;
        files[count++] = notified->webhooks[i].secret_file;
    }
    ASSERT(count <= FILES_MAX);
    return count;
}

/* In the process that runs commands: it becomes the same user as the server,
 * but may start programs. */
static int begin_runner(void *ctx, struct err *err)
{
    const struct server_options *options = ctx;
    struct privileges plan;
    const struct privileges_needs needs = {NULL, NULL, 0};

    int rc = privileges_plan(&options->config->hardening, &needs, &plan, err);
    rc = rc < 0 ? rc : privileges_give_up(&plan, "berth-notify", err);
    if (rc == 0) {
        privileges_deny_helper_calls(&options->config->hardening,
                                     "berth-notify");
    }
    return rc;
}

/* Read whom to tell of ends, and start the process that runs commands if there
 * are any. */
static int start_runner(struct server_options *options, struct arena *arena,
                        struct err *err)
{
    const struct config *config = options->config;
    struct notify_target *targets;

    int rc = notify_setup(config, arena, &targets, err);
    if (rc == 0 && config->notifications.command_count > 0) {
        options->runner =
            runner_start(targets, config_notify_count(&config->notifications),
                         begin_runner, options, err);
        rc = options->runner ? 0 : -ERR_IO;
    }
    options->notify_targets = targets;
    return rc;
}

/* Start the helper and give up what only that needs.  Takes the configuration
 * and the path from the options, and sets what else the server needs. */
static int give_up(struct server_options *options, const char *config_path,
                   struct arena *arena, struct err *err)
{
    const struct config *config = options->config;
    struct str files[FILES_MAX];
    struct data_dir dir;
    struct privileges plan;

    int rc = data_dir_open(config->server.data.p, arena, &dir, err);
    if (rc < 0) {
        return rc;
    }
    rc = start_runner(options, arena, err);
    if (rc < 0) {
        return rc;
    }
    const struct privileges_needs needs = {
        dir.path, files, list_files(options, config_path, files)};
    options->attempts_fd =
        config->executor.is_enabled
            ? kubernetes_setup_attempts(&config->executor, dir.path)
            : -1;
    struct runtime_setup_process setup = {
        .config = config->executor.is_enabled ? &config->executor : NULL,
        .jobs_dir = dir.jobs,
        .data_dir = dir.path,
        .attempts_fd = options->attempts_fd,
        .clock = &machine_clock,
        .lost = on_helper_lost,
    };
    rc = runtime_setup_confine(&config->hardening, &needs, &setup, &plan,
                               &options->helper, err);
    /* An executor beside a server that stays root has given it up. */
    options->own_user_id = plan.is_root ? plan.uid : geteuid();
    return rc;
}

static int run(const struct berthd_options *options, const sigset_t *signals)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct err err;

    struct config *config = berthd_options_config(options, &findings);
    if (!options->prints_config) {
        tls_files_check(config, &findings);
        notify_setup_check(config, &findings);
    }
    if (!options->prints_config && config->executor.is_enabled) {
        kubernetes_setup_check(config, &findings);
    }
    /* At a start it is only said: accounts may come later. */
    if (options->checks_config && config->executor.is_enabled) {
        allowed_users_check(&config->executor, &findings);
    }
    if (complain(&findings)) {
        return EXIT_USAGE;
    }
    say_set_by_name(config->messages.level, config->messages.format);
    if (options->checks_config) {
        printf("berthd: the configuration is valid\n");
        return 0;
    }
    if (options->prints_config) {
        print_config(config);
        return 0;
    }
    struct server_options server_options = {
        .config = config,
        .ends_jobs = options->ends_jobs,
        .accepts_loss = options->accepts_loss,
        .failed = on_failed,
    };
    struct kube_config *kube = NULL;
    int rc = config->executor.is_enabled
                 ? kubernetes_setup_read(&config->executor, &kube, &err)
                 : 0;
    server_options.kube = kube;
    if (rc == 0) {
        rc = give_up(&server_options, options->config_path, &arena, &err);
    }
    struct server *server = rc < 0 ? NULL : server_start(&server_options, &err);
    if (!server) {
        fprintf(stderr, "berthd: %s\n", err.text);
        runner_stop(server_options.runner);
        helper_stop(server_options.helper);
        kubernetes_setup_free(kube);
        return EXIT_FAILURE;
    }
    serve(server, options, signals);
    server_stop(server);
    runner_stop(server_options.runner);
    helper_stop(server_options.helper);
    kubernetes_setup_free(kube);
    say(SAY_INFO, "server.stopped",
        say_int("code", has_failed ? EXIT_FAILURE : 0));
    return has_failed ? EXIT_FAILURE : 0;
}

/* Each arena of the heap takes 64 MiB of address space, and by default there
 * are eight for each processor. */
enum { HEAP_ARENAS_MAX = 4 };

int main(int argument_count, char **arguments)
{
    struct berthd_options options;
    sigset_t signals;

    (void)mallopt(M_ARENA_MAX, HEAP_ARENAS_MAX);
    int rc = berthd_options_parse(argument_count, arguments, &options);
    if (rc != 0) {
        return rc < 0 ? EXIT_USAGE : 0;
    }
    if (options.prints_manual) {
        print_manual();
        return 0;
    }
    if (options.prints_metrics) {
        print_metrics();
        return 0;
    }
    block_signals(&signals);
    machine_raise_file_limit();
    sq_start();
    return run(&options, &signals);
}
