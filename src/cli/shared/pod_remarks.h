/*
 * pod_remarks - remarks on what a job's pod asks for and Berth does not do.
 *
 * The server refuses what would make the job another one, such as required
 * affinity to other pods.  What is left is soft or belongs to a cluster, so
 * the job is submitted, and its owner should know.
 */
#pragma once

#include "cli/shared/command.h"

/* What a file's owner knows already: a bit for each kind of remark.  Zeroed to
 * begin with. */
struct pod_remarks {
    uint32_t made;
};

/* Remark on what job `index` of a file asks for in vain, each kind once. */
void pod_remarks_make(struct pod_remarks *remarks, struct cli *cli,
                      const json_t *job, size_t index);
