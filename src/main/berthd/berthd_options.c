#include "main/berthd/berthd_options.h"

#include <getopt.h>
#include <stdio.h>

#include "main/common/say.h"
#include "main/common/usage.h"

enum {
    OPTION_STANDALONE = 1,
    OPTION_DATA,
    OPTION_GRPC,
    OPTION_HTTP,
    OPTION_CONFIG,
    OPTION_CHECK_CONFIG,
    OPTION_PRINT_CONFIG,
    OPTION_PRINT_MANUAL,
    OPTION_PRINT_METRICS,
    OPTION_STOP_JOBS,
    OPTION_ALLOW_ROOT_JOBS,
    OPTION_ACCEPT_LOSS,
};

static const struct usage_option usage_options[] = {
    [OPTION_STANDALONE - 1] = {"standalone", NULL,
                               "also run jobs on this machine"},
    [OPTION_DATA -
        1] = {"data", "DIR",
              "directory of the log, the store and the jobs (berth-data)"},
    [OPTION_GRPC - 1] = {"grpc", "HOST:PORT",
                         "address of the gRPC services (127.0.0.1:50051); port "
                         "0 takes any free port"},
    [OPTION_HTTP - 1] = {"http", "HOST:PORT",
                         "address of /health and /metrics (127.0.0.1:8081)"},
    [OPTION_CONFIG - 1] = {"config", "FILE", "configuration file (YAML)"},
    [OPTION_CHECK_CONFIG - 1] = {"check-config", NULL,
                                 "read the configuration and the TLS files, "
                                 "print every error, and exit"},
    [OPTION_PRINT_CONFIG -
        1] = {"print-config", NULL,
              "print the configuration with all defaults and exit"},
    [OPTION_PRINT_MANUAL - 1] =
        {"print-manual", NULL,
         "print the keys of the configuration as a Markdown table and exit"},
    [OPTION_PRINT_METRICS - 1] = {"print-metrics", NULL,
                                  "print every metric of /metrics as a "
                                  "Markdown table and exit"},
    [OPTION_STOP_JOBS -
        1] = {"stop-jobs", NULL,
              "on SIGTERM stop the jobs instead of leaving them running"},
    [OPTION_ALLOW_ROOT_JOBS - 1] = {"allow-root-jobs", NULL,
                                    "let jobs request to run as root"},
    [OPTION_ACCEPT_LOSS -
        1] = {"accept-loss", NULL,
              "start although the log has lost records: cut it before the "
              "first missing or damaged record, and recover from the query "
              "store the jobs that it still has"},
};

static const struct usage usage = {
    .program = "berthd",
    .arguments = "[--standalone] [OPTIONS]",
    .about = "a batch scheduler for many clusters",
    .options = usage_options,
    .option_count = ARRAY_COUNT(usage_options),
    .notes = "On SIGTERM berthd stops within 5 s. On SIGHUP it reads the "
             "configuration\nagain and applies the sections scheduling and "
             "messages.\n",
};

/* Take one option; 0, 1 or -1 as berthd_options_parse() answers. */
static int take(int code, void *of)
{
    struct berthd_options *options = of;

    switch (code) {
    case OPTION_STANDALONE:
        options->is_standalone = true;
        return 0;
    case OPTION_DATA:
        options->data = optarg;
        return 0;
    case OPTION_GRPC:
        options->grpc = optarg;
        return 0;
    case OPTION_HTTP:
        options->http = optarg;
        return 0;
    case OPTION_CONFIG:
        options->config_path = optarg;
        return 0;
    case OPTION_CHECK_CONFIG:
        options->checks_config = true;
        return 0;
    case OPTION_PRINT_CONFIG:
        options->prints_config = true;
        return 0;
    case OPTION_PRINT_MANUAL:
        options->prints_manual = true;
        return 0;
    case OPTION_PRINT_METRICS:
        options->prints_metrics = true;
        return 0;
    case OPTION_STOP_JOBS:
        options->ends_jobs = true;
        return 0;
    case OPTION_ALLOW_ROOT_JOBS:
        options->allows_root_jobs = true;
        return 0;
    case OPTION_ACCEPT_LOSS:
        options->accepts_loss = true;
        return 0;
    default:
        return -1;
    }
}

int berthd_options_parse(int argument_count, char **arguments,
                         struct berthd_options *ret_options)
{
    struct berthd_options options = {0};

    int rc = usage_parse(&usage, argument_count, arguments, take, &options);
    if (rc == 0 && optind < argument_count) {
        fprintf(stderr, "berthd: unexpected argument %s\n", arguments[optind]);
        usage_hint(&usage);
        rc = -1;
    }
    *ret_options = options;
    return rc;
}

static void warn_of_clear_text(const struct config_auth *auth)
{
    for (uint32_t i = 0; i < auth->user_count; i++) {
        auto_strbuf key = {0};
        if (auth->users[i].password.byte_count == 0) {
            continue;
        }
        strbuf_addf(&key, "auth.basicAuthUsers[%u].password", i);
        say(SAY_WARN, "config.clear_text", say_str("key", strbuf_str(&key)),
            say_text("advice",
                     "use passwordHash, from berthctl hash-password; the next "
                     "release does not start with this"));
    }
}

/* What the command line says goes before the file. */
static void override(const struct berthd_options *options,
                     struct config *config)
{
    if (options->data) {
        config->server.data = str_of(options->data);
    }
    if (options->grpc) {
        config->server.grpc = str_of(options->grpc);
    }
    if (options->http) {
        config->server.http = str_of(options->http);
    }
    /* What is printed is for a start with --standalone as well. */
    config->executor.is_enabled &=
        options->is_standalone || options->prints_config;
    config->executor.process.is_root_allowed |= options->allows_root_jobs;
}

/* A server without TLS is reached in plain text, from inside too. */
static void check_inside(const struct config *config, bool is_standalone,
                         struct config_findings *findings)
{
    if (is_standalone && config->executor.is_enabled &&
        config->executor.tls.client_ca.byte_count > 0 &&
        config->server.tls.certificate.byte_count == 0) {
        setting_texts_add(&findings->texts, SETTING_ERRORS_MAX, findings->arena,
                          STR("executor.tls.ca: the executor of --standalone "
                              "would use TLS, but the server has none; set "
                              "server.tls, or remove executor.tls.ca"));
    }
}

struct config *berthd_options_config(const struct berthd_options *options,
                                     struct config_findings *findings)
{
    struct config *config;

    if (options->config_path) {
        config = config_read_all(options->config_path, findings);
    } else {
        config = config_defaults(findings->arena);
    }
    override(options, config);
    config_check_all(config, findings);
    check_inside(config, options->is_standalone, findings);
    if (findings->texts.count == 0) {
        say_each(SAY_WARN, "config.renamed", "warning", &config->warnings);
        warn_of_clear_text(&config->auth);
    }
    return config;
}
