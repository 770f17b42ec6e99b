/*
 * berth-executor - an executor for a server elsewhere.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/context.h"
#include "main/data_dir.h"
#include "main/executor_thread.h"
#include "main/machine.h"
#include "main/say.h"

enum { EXIT_USAGE = 2, JOBS_GRACE_MS = 3000 };

static const char usage_text[] =
    "berth-executor - runs jobs for a Berth (or Armada) server\n"
    "\n"
    "usage: berth-executor [OPTIONS]\n"
    "\n"
    "  --server HOST:PORT  the server\n"
    "  --id NAME           name of this executor\n"
    "  --pool NAME         pool of its nodes\n"
    "  --runtime NAME      process or fake\n"
    "  --data DIR          where runs are kept\n"
    "  --config FILE       the configuration (section executor)\n"
    "  --stop-jobs         end jobs on SIGTERM instead of leaving them\n"
    "  --allow-root-jobs   let jobs ask to run as root\n"
    "  --help, --version   say so; end\n";

enum {
    OPTION_SERVER = 1,
    OPTION_ID,
    OPTION_POOL,
    OPTION_RUNTIME,
    OPTION_DATA,
    OPTION_CONFIG,
    OPTION_STOP_JOBS,
    OPTION_ALLOW_ROOT_JOBS,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"server", required_argument, NULL, OPTION_SERVER},
    {"id", required_argument, NULL, OPTION_ID},
    {"pool", required_argument, NULL, OPTION_POOL},
    {"runtime", required_argument, NULL, OPTION_RUNTIME},
    {"data", required_argument, NULL, OPTION_DATA},
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"stop-jobs", no_argument, NULL, OPTION_STOP_JOBS},
    {"allow-root-jobs", no_argument, NULL, OPTION_ALLOW_ROOT_JOBS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* What the command line says; texts are NULL where it does not. */
struct options {
    const char *texts[OPTION_VERSION + 1];
    bool flags[OPTION_VERSION + 1];
};

static int parse(int argument_count, char **arguments, struct options *options)
{
    int code;

    while ((code = getopt_long(argument_count, arguments, "", long_options,
                               NULL)) != -1) {
        if (code == '?') {
            fputs("try: berth-executor --help\n", stderr);
            return -1;
        }
        options->texts[code] = optarg;
        options->flags[code] = true;
    }
    if (optind < argument_count) {
        fprintf(stderr, "berth-executor: what is %s?\n", arguments[optind]);
        return -1;
    }
    return 0;
}

static void override(const struct options *options, int code, struct str *text)
{
    if (options->texts[code]) {
        *text = str_of(options->texts[code]);
    }
}

static int read_config(const struct options *options, struct arena *arena,
                       struct config **ret_config, struct err *err)
{
    struct config *config = config_defaults(arena);
    struct config_executor *executor;

    if (options->texts[OPTION_CONFIG]) {
        int rc = config_read_file(options->texts[OPTION_CONFIG], arena, &config,
                                  err);
        if (rc < 0) {
            return rc;
        }
    }
    executor = &config->executor;
    override(options, OPTION_SERVER, &executor->server);
    override(options, OPTION_ID, &executor->id);
    override(options, OPTION_POOL, &executor->pool);
    override(options, OPTION_RUNTIME, &executor->runtime);
    override(options, OPTION_DATA, &config->server.data);
    executor->process.is_root_allowed |= options->flags[OPTION_ALLOW_ROOT_JOBS];
    *ret_config = config;
    if (!str_equal(executor->runtime, STR("process")) &&
        !str_equal(executor->runtime, STR("fake"))) {
        return err_set(err, -ERR_INVALID,
                       "--runtime: \"%.*s\" is not one of: process fake",
                       STR_ARG(executor->runtime));
    }
    return config_check(config, err);
}

static struct executor_thread *start(const struct config *config,
                                     struct arena *arena, struct err *err)
{
    const struct config_executor *executor = &config->executor;
    const char *server = arena_strdup(arena, executor->server);
    bool has_user = executor->user_name.byte_count > 0;
    struct data_dir dir;

    if (data_dir_open(arena_strdup(arena, config->server.data), arena, &dir,
                      err) < 0) {
        return NULL;
    }
    struct executor_thread_options options = {
        .config = executor,
        .tls = executor->is_plain || context_is_local(server) ? NULL
                                                              : &executor->tls,
        .server = server,
        .user_name = has_user ? arena_strdup(arena, executor->user_name) : NULL,
        .password = arena_strdup(arena, executor->password),
        .jobs_dir = dir.jobs,
        .serves_logs = true,
        .clock = &machine_clock,
    };
    return executor_thread_start(&options, err);
}

static int run(const struct options *options, const sigset_t *signals)
{
    auto_arena arena = {0};
    struct config *config = NULL;
    struct err err;
    int signal_number = 0;

    if (read_config(options, &arena, &config, &err) < 0) {
        fprintf(stderr, "berth-executor: %s\n", err.text);
        return EXIT_USAGE;
    }
    struct executor_thread *thread = start(config, &arena, &err);
    if (!thread) {
        fprintf(stderr, "berth-executor: %s\n", err.text);
        return EXIT_FAILURE;
    }
    printf("ready id=%.*s\n", STR_ARG(config->executor.id));
    (void)fflush(stdout);
    (void)sigwait(signals, &signal_number);
    executor_thread_stop(thread, options->flags[OPTION_STOP_JOBS],
                         JOBS_GRACE_MS);
    say(SAY_INFO, "executor.stopped", "signal=%d", signal_number);
    return 0;
}

int main(int argument_count, char **arguments)
{
    struct options options = {0};
    sigset_t signals;

    if (parse(argument_count, arguments, &options) < 0) {
        return EXIT_USAGE;
    }
    if (options.flags[OPTION_HELP]) {
        fputs(usage_text, stdout);
        return 0;
    }
    if (options.flags[OPTION_VERSION]) {
        printf("berth-executor %s\n", BERTH_VERSION);
        return 0;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    return run(&options, &signals);
}
