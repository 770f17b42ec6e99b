/*
 * queues - the queues that a command is about: those named, or those that the
 * server has, filtered by labels.
 *
 * Threads: one.
 */
#pragma once

#include "armada/services.pb-c.h"
#include "cli/shared/command.h"

/* Which queues are wanted; empty means any. */
struct queue_filter {
    char **names;
    size_t name_count;
    struct cli_names labels; /* each "key=value"; all must match */
    bool is_inverse;         /* those that do not match */
    bool is_only_cordoned;
};

/* Queues in the order of their names. */
struct queue_list {
    Api__Queue **items;
    size_t count;
};

/* The filter that arguments and the option `label_option` say.  Answers
 * CLI_USAGE when a label is not key=value. */
enum cli_exit queues_filter(struct cli *cli, const char *label_option,
                            struct queue_filter *ret_filter);

/* Get the queues that match; a name that is no queue is an error, said
 * before the return. */
enum cli_exit queues_get(struct cli *cli, const struct queue_filter *filter,
                         struct queue_list *ret_list);

/* Make a queue, or replace the one of its name, and say which (queue.c). */
enum cli_exit queue_create(struct cli *cli, const Api__Queue *queue);

/* Turn the first permissions of a queue back into the owners that the server
 * made them of: owners of a kind that is not given anew must stay. */
void queues_restore_owners(struct cli *cli, Api__Queue *queue);

/* Queues may have any printable name, as Armada's; but one that could be taken
 * for a path or an option is refused: CLI_INVALID.  What Kubernetes cannot
 * write on its pods is remarked on. */
enum cli_exit queue_check_name(struct cli *cli, const char *name);
