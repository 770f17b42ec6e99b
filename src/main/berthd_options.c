#include "main/berthd_options.h"

#include <getopt.h>
#include <stdio.h>

static const char usage_text[] =
    "berthd - a batch scheduler for many clusters\n"
    "\n"
    "usage: berthd [--standalone] [OPTIONS]\n"
    "\n"
    "  --standalone        run jobs on this machine as well\n"
    "  --data DIR          where log, store and jobs are kept (berth-data)\n"
    "  --grpc HOST:PORT    where to serve gRPC (127.0.0.1:50051); port 0 is\n"
    "                      any free one\n"
    "  --http HOST:PORT    where to serve /health and /metrics\n"
    "                      (127.0.0.1:8081)\n"
    "  --config FILE       the configuration (YAML)\n"
    "  --print-config      write the configuration with all defaults; end\n"
    "  --print-manual      write its keys as a Markdown table; end\n"
    "  --stop-jobs         end jobs on SIGTERM instead of leaving them\n"
    "  --allow-root-jobs   let jobs ask to run as root\n"
    "  --help, --version   say so; end\n"
    "\n"
    "SIGTERM stops within 5 s; SIGHUP reads the scheduling policy again.\n";

enum {
    OPTION_STANDALONE = 1,
    OPTION_DATA,
    OPTION_GRPC,
    OPTION_HTTP,
    OPTION_CONFIG,
    OPTION_PRINT_CONFIG,
    OPTION_PRINT_MANUAL,
    OPTION_STOP_JOBS,
    OPTION_ALLOW_ROOT_JOBS,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"standalone", no_argument, NULL, OPTION_STANDALONE},
    {"data", required_argument, NULL, OPTION_DATA},
    {"grpc", required_argument, NULL, OPTION_GRPC},
    {"http", required_argument, NULL, OPTION_HTTP},
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"print-config", no_argument, NULL, OPTION_PRINT_CONFIG},
    {"print-manual", no_argument, NULL, OPTION_PRINT_MANUAL},
    {"stop-jobs", no_argument, NULL, OPTION_STOP_JOBS},
    {"allow-root-jobs", no_argument, NULL, OPTION_ALLOW_ROOT_JOBS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* Take one option; 0, 1 or -1 as berthd_options_parse() answers. */
static int take(int code, struct berthd_options *options)
{
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
    case OPTION_PRINT_CONFIG:
        options->prints_config = true;
        return 0;
    case OPTION_PRINT_MANUAL:
        options->prints_manual = true;
        return 0;
    case OPTION_STOP_JOBS:
        options->ends_jobs = true;
        return 0;
    case OPTION_ALLOW_ROOT_JOBS:
        options->allows_root_jobs = true;
        return 0;
    case OPTION_HELP:
        fputs(usage_text, stdout);
        return 1;
    case OPTION_VERSION:
        printf("berthd %s\n", BERTH_VERSION);
        return 1;
    default:
        fputs("try: berthd --help\n", stderr);
        return -1;
    }
}

int berthd_options_parse(int argument_count, char **arguments,
                         struct berthd_options *ret_options)
{
    struct berthd_options options = {0};
    int code;
    int rc = 0;

    while (rc == 0 && (code = getopt_long(argument_count, arguments, "",
                                          long_options, NULL)) != -1) {
        rc = take(code, &options);
    }
    if (rc == 0 && optind < argument_count) {
        fprintf(stderr, "berthd: what is %s?\ntry: berthd --help\n",
                arguments[optind]);
        rc = -1;
    }
    *ret_options = options;
    return rc;
}

int berthd_options_config(const struct berthd_options *options,
                          struct arena *arena, struct config **ret_config,
                          struct err *err)
{
    struct config *config = NULL;

    if (options->config_path) {
        int rc = config_read_file(options->config_path, arena, &config, err);
        if (rc < 0) {
            return rc;
        }
    } else {
        config = config_defaults(arena);
    }
    if (options->data) {
        config->server.data = str_of(options->data);
    }
    if (options->grpc) {
        config->server.grpc = str_of(options->grpc);
    }
    if (options->http) {
        config->server.http = str_of(options->http);
    }
    config->executor.is_enabled &= options->is_standalone;
    config->executor.process.is_root_allowed |= options->allows_root_jobs;
    *ret_config = config;
    return config_check(config, err);
}
