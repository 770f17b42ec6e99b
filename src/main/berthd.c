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
#include "main/berthd/metric_table.h"
#include "main/berthd/server.h"
#include "main/berthd/tls_files.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/executor/privileges.h"

enum { EXIT_USAGE = 2 };

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

    printf("ready grpc=%s http=%s\n", server_grpc(server), server_http(server));
    (void)fflush(stdout);
    say(SAY_INFO, "server.ready", say_text("grpc", server_grpc(server)),
        say_text("http", server_http(server)),
        say_text("version", BERTH_VERSION));
    while (sigwait(signals, &signal_number) == 0 && signal_number == SIGHUP) {
        reload(server, options);
    }
    say(SAY_INFO, "server.stopping", say_int("signal", signal_number));
}

/* Whether pods are processes that this one starts. */
static bool starts_jobs(const struct config *config)
{
    return config->executor.is_enabled &&
           str_equal(config->executor.runtime, STR("process"));
}

static int run(const struct berthd_options *options, const sigset_t *signals)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct err err;

    struct config *config = berthd_options_config(options, &findings);
    if (!options->prints_config) {
        tls_files_check(config, &findings);
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
    privileges_deny_calls(&config->hardening, starts_jobs(config));
    struct server_options server_options = {
        .config = config,
        .ends_jobs = options->ends_jobs,
        .accepts_loss = options->accepts_loss,
        .failed = on_failed,
    };
    struct server *server = server_start(&server_options, &err);
    if (!server) {
        fprintf(stderr, "berthd: %s\n", err.text);
        return EXIT_FAILURE;
    }
    serve(server, options, signals);
    server_stop(server);
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
