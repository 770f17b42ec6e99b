/*
 * berth-executor - an executor for a server elsewhere.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "main/berthd/data_dir.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/common/stopper.h"
#include "main/common/usage.h"
#include "main/executor/allowed_users.h"
#include "main/executor/executor_thread.h"
#include "main/executor/kubernetes_setup.h"
#include "main/executor/privileges.h"
#include "main/executor/runtime_setup.h"
#include "rpc/rpc_channel.h"
#include "wire/text/host.h"

enum { EXIT_USAGE = 2, JOBS_GRACE_MS = 3000 };

enum {
    OPTION_SERVER = 1,
    OPTION_ID,
    OPTION_POOL,
    OPTION_RUNTIME,
    OPTION_DATA,
    OPTION_CONFIG,
    OPTION_CHECK_CONFIG,
    OPTION_STOP_JOBS,
    OPTION_ALLOW_ROOT_JOBS,
    OPTION_COUNT,
};

static const struct usage_option usage_options[] = {
    [OPTION_SERVER - 1] = {"server", "HOST:PORT",
                           "address of the server (localhost:50051)"},
    [OPTION_ID - 1] = {"id", "NAME",
                       "name of this executor, unique at its server (local)"},
    [OPTION_POOL - 1] = {"pool", "NAME", "pool of its nodes (default)"},
    [OPTION_RUNTIME - 1] = {"runtime", "NAME",
                            "process (the default); kubernetes: pods of a "
                            "cluster; or fake: nothing runs, and pods start "
                            "again after a restart"},
    [OPTION_DATA - 1] = {"data", "DIR",
                         "data directory of the runtimes process and "
                         "kubernetes (berth-data)"},
    [OPTION_CONFIG -
        1] = {"config", "FILE",
              "configuration file (YAML); its sections executor, hardening "
              "and messages are used"},
    [OPTION_CHECK_CONFIG - 1] = {"check-config", NULL,
                                 "read the configuration and the TLS files, "
                                 "print every error, and exit"},
    [OPTION_STOP_JOBS -
        1] = {"stop-jobs", NULL,
              "on SIGTERM stop the jobs instead of leaving them running"},
    [OPTION_ALLOW_ROOT_JOBS - 1] = {"allow-root-jobs", NULL,
                                    "let jobs request to run as root"},
};

static const struct usage usage = {
    .program = "berth-executor",
    .arguments = "[OPTIONS]",
    .about = "run jobs for a Berth (or Armada) server",
    .options = usage_options,
    .option_count = ARRAY_COUNT(usage_options),
};

/* What the command line says; texts are NULL where it does not. */
struct options {
    const char *texts[OPTION_COUNT];
    bool flags[OPTION_COUNT];
};

static int take(int code, void *of)
{
    struct options *options = of;

    options->texts[code] = optarg;
    options->flags[code] = true;
    return 0;
}

/* As usage_parse(). */
static int parse(int argument_count, char **arguments, struct options *options)
{
    int rc = usage_parse(&usage, argument_count, arguments, take, options);

    if (rc == 0 && optind < argument_count) {
        fprintf(stderr, "berth-executor: unexpected argument %s\n",
                arguments[optind]);
        usage_hint(&usage);
        return -1;
    }
    return rc;
}

static void override(const struct options *options, int code, struct str *text)
{
    if (options->texts[code]) {
        *text = str_of(options->texts[code]);
    }
}

static void note(struct config_findings *findings, const char *text)
{
    setting_texts_add(&findings->texts, SETTING_ERRORS_MAX, findings->arena,
                      str_of(text));
}

/* The PEM files of a client; what is missing of a pair was noted. */
static void check_tls(const struct config_tls *tls,
                      struct config_findings *findings)
{
    const struct rpc_channel_tls files = {
        .ca_file = tls->client_ca.byte_count ? tls->client_ca.p : NULL,
        .certificate_file =
            tls->certificate.byte_count ? tls->certificate.p : NULL,
        .key_file = tls->key.byte_count ? tls->key.p : NULL,
    };
    auto_strbuf text = {0};
    struct err err;

    if (!files.certificate_file == !files.key_file &&
        rpc_channel_check_tls(&files, &err) < 0) {
        strbuf_addf(&text, "executor.tls: %s", err.text);
        note(findings, strbuf_text(&text));
    }
}

/* All that is wrong is noted. */
static struct config *read_config(const struct options *options,
                                  struct config_findings *findings)
{
    const char *path = options->texts[OPTION_CONFIG];
    struct config *config = path ? config_read_all(path, findings)
                                 : config_defaults(findings->arena);
    struct config_executor *executor = &config->executor;

    override(options, OPTION_SERVER, &executor->server);
    override(options, OPTION_ID, &executor->id);
    override(options, OPTION_POOL, &executor->pool);
    override(options, OPTION_RUNTIME, &executor->runtime);
    override(options, OPTION_DATA, &config->server.data);
    executor->process.is_root_allowed |= options->flags[OPTION_ALLOW_ROOT_JOBS];
    if (!str_equal(executor->runtime, STR("process")) &&
        !str_equal(executor->runtime, STR("kubernetes")) &&
        !str_equal(executor->runtime, STR("fake"))) {
        auto_strbuf text = {0};
        strbuf_addf(&text,
                    "--runtime: \"%.*s\" is not one of: process kubernetes "
                    "fake",
                    STR_ARG(executor->runtime));
        note(findings, strbuf_text(&text));
    }
    config_check_all(config, findings);
    check_tls(&executor->tls, findings);
    kubernetes_setup_check(config, findings);
    if (options->flags[OPTION_CHECK_CONFIG]) {
        allowed_users_check(executor, findings);
    }
    return config;
}

/* Who names a CA never gets plain text. */
static bool wants_tls(const struct config_executor *executor)
{
    return executor->tls.client_ca.byte_count > 0 ||
           (!executor->is_plain && !wire_is_loopback(executor->server));
}

/* The process that starts jobs is gone: stop as if asked to, but fail. */
static volatile sig_atomic_t has_lost_helper;

static void on_helper_lost(void *ctx)
{
    (void)ctx;
    say(SAY_ERROR, "helper.lost",
        say_text("advice", "the process that starts jobs has ended; "
                           "berth-executor stops, and the next start adopts "
                           "the jobs"));
    has_lost_helper = 1;
    (void)kill(getpid(), SIGTERM);
}

/* Start the helper and give up what only that needs. */
static int give_up(const struct config *config, const struct kube_config *kube,
                   struct arena *arena, struct helper **ret_helper,
                   int *ret_attempts_fd, struct err *err)
{
    const struct config_executor *executor = &config->executor;
    const struct str files[] = {executor->tls.certificate, executor->tls.key,
                                executor->tls.client_ca,
                                kubernetes_setup_token_file(kube)};
    const struct privileges_needs needs = {NULL, files, ARRAY_COUNT(files)};
    bool has_data = str_equal(executor->runtime, STR("process"));
    struct data_dir dir = {0};
    struct privileges plan;

    /* What is made up is not kept here; of a cluster's, which jobs crash us. */
    int rc = has_data ? data_dir_open(arena_strdup(arena, config->server.data),
                                      arena, &dir, err)
                      : 0;
    *ret_attempts_fd = kubernetes_setup_attempts(
        executor, arena_strdup(arena, config->server.data));
    struct runtime_setup_process setup = {
        .config = executor,
        .jobs_dir = dir.jobs,
        .data_dir = dir.path,
        .attempts_fd = *ret_attempts_fd,
        .clock = &machine_clock,
        .lost = on_helper_lost,
    };
    return rc < 0 ? rc
                  : runtime_setup_confine(&config->hardening, &needs, &setup,
                                          &plan, ret_helper, err);
}

static struct executor_thread *start(const struct config *config,
                                     const struct kube_config *kube,
                                     struct helper *helper, int attempts_fd,
                                     struct arena *arena, struct err *err)
{
    const struct config_executor *executor = &config->executor;
    const char *server = arena_strdup(arena, executor->server);
    bool has_user = executor->user_name.byte_count > 0;
    struct executor_thread_options options = {
        .config = executor,
        .tls = wants_tls(executor) ? &executor->tls : NULL,
        .server = server,
        .user_name = has_user ? arena_strdup(arena, executor->user_name) : NULL,
        .password = arena_strdup(arena, executor->password),
        .helper = helper,
        .kube = kube,
        .attempts_fd = attempts_fd,
        .clock = &machine_clock,
    };
    return executor_thread_start(&options, err);
}

static int run(const struct options *options, const sigset_t *signals)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct err err;
    int signal_number = 0;

    struct config *config = read_config(options, &findings);
    for (uint32_t i = 0; i < findings.texts.count; i++) {
        fprintf(stderr, "berth-executor: %.*s\n",
                STR_ARG(findings.texts.items[i]));
    }
    if (findings.texts.count > 0) {
        return EXIT_USAGE;
    }
    say_each(SAY_WARN, "config.renamed", "warning", &config->warnings);
    if (options->flags[OPTION_CHECK_CONFIG]) {
        printf("berth-executor: the configuration is valid\n");
        return 0;
    }
    say_set_by_name(config->messages.level, config->messages.format);
    struct helper *helper = NULL;
    struct kube_config *kube = NULL;
    int attempts_fd = -1;
    int rc = kubernetes_setup_read(&config->executor, &kube, &err);
    rc = rc < 0 ? rc
                : give_up(config, kube, &arena, &helper, &attempts_fd, &err);
    struct executor_thread *thread =
        rc < 0 ? NULL : start(config, kube, helper, attempts_fd, &arena, &err);
    if (!thread) {
        fprintf(stderr, "berth-executor: %s\n", err.text);
        helper_stop(helper);
        kubernetes_setup_free(kube);
        return stopper_is_signalled() ? 0 : EXIT_FAILURE;
    }
    printf("ready id=%.*s\n", STR_ARG(config->executor.id));
    (void)fflush(stdout);
    (void)sigwait(signals, &signal_number);
    executor_thread_stop(thread, options->flags[OPTION_STOP_JOBS],
                         JOBS_GRACE_MS);
    helper_stop(helper);
    kubernetes_setup_free(kube);
    say(SAY_INFO, "executor.stopped", say_int("signal", signal_number));
    return has_lost_helper ? EXIT_FAILURE : 0;
}

int main(int argument_count, char **arguments)
{
    struct options options = {0};
    sigset_t signals;

    int rc = parse(argument_count, arguments, &options);
    if (rc != 0) {
        return rc < 0 ? EXIT_USAGE : 0;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return run(&options, &signals);
}
