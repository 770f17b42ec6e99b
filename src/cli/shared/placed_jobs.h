/*
 * placed_jobs - how many of the jobs that have a place a preemption takes, and
 * how many keep theirs.
 *
 * Armada's requests to preempt the jobs of a node, an executor or a queue are
 * answered without a word of the jobs that may not be preempted, so berthctl
 * asks for the list of jobs before it sends them.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"

/* Which jobs are meant, as the request says it; NULL or none: any. */
struct placed_jobs {
    const char *executor, *node;
    struct cli_names queues, classes, pools;
    uint32_t taken_count, kept_count; /* answer */
};

/* Count them; false, with nothing said: the server does not say. */
bool placed_jobs_count(struct cli *cli, struct placed_jobs *jobs);

/* Say what was asked for of the jobs `what` ("on node") `name`, and how many of
 * them keep running. */
void placed_jobs_report(struct cli *cli, const struct placed_jobs *jobs,
                        const char *what, const char *name);
