/*
 * queue_options - a queue from options.
 *
 * Threads: one.
 */
#pragma once

#include "armada/services.pb-c.h"
#include "cli/shared/command.h"

/* Change of the queue what options name, and nothing else. */
enum cli_exit queue_options_apply(struct cli *cli, Api__Queue *queue);

/* The queue that arguments and options describe, all else as by default. */
enum cli_exit queue_options_read(struct cli *cli, Api__Queue *ret_queue);
