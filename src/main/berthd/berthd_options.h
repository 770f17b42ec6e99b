/*
 * berthd_options - the command line of berthd.
 *
 * Threads: main's, before there are others.
 */
#pragma once

#include "main/config/config.h"

struct berthd_options {
    const char *config_path;        /* NULL: the defaults */
    const char *data, *grpc, *http; /* NULL: as the configuration says */
    bool is_standalone;
    bool checks_config;
    bool prints_config;
    bool prints_manual;
    bool prints_metrics;
    bool ends_jobs;
    bool allows_root_jobs;
    bool accepts_loss;
};

/* Parse.  0 to go on; 1 when all is said (--help, --version); -1 for a usage
 * error, which has been said. */
int berthd_options_parse(int argument_count, char **arguments,
                         struct berthd_options *ret_options) must_check;

/* The configuration: the file's, then what the command line says.  All that is
 * wrong is noted in `findings`, and has kept its default. */
struct config *
berthd_options_config(const struct berthd_options *options,
                      struct config_findings *findings) must_check;
