/*
 * pod_remarks - remarks on parts of a job's pod spec that Berth ignores, or
 * that only some runtimes take.
 *
 * The server refuses requirements that it cannot meet, such as required
 * affinity to other pods.  The rest are preferences or settings of a cluster:
 * the job is submitted, and its owner is told.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"

/* What a file's owner knows already: a bit for each kind of remark.  Zeroed to
 * begin with. */
struct pod_remarks {
    uint32_t made;
    /* A pod requests something unusual, or has a container without a command:
     * only the server knows whether it can run. */
    bool is_unusual;
};

/* Remark on what job `index` of a file asks for in vain, each kind once. */
void pod_remarks_make(struct pod_remarks *remarks, struct cli *cli,
                      const json_t *job, size_t index);
