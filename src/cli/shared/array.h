/*
 * array - jobs that differ only in an index: the key `array` of a file's jobs,
 * and Kubernetes' Indexed Jobs.
 *
 * berthctl writes them out: the server gets a job for each member, whose
 * containers find the index in BERTH_ARRAY_INDEX and JOB_COMPLETION_INDEX, and
 * which has it in the label berth.dev/arrayIndex.
 */
#pragma once

#include "cli/shared/command.h"

enum {
    ARRAY_MEMBERS_MAX = 10000, /* of one array */
    ARRAY_INDEX_MAX = 99999999,
};

/* Whether any job of the file has the key. */
bool array_is_used(const json_t *file);

/* Make a file without the key, each array written out; the caller lets it go.
 * CLI_INVALID, having said so, if a key makes no sense. */
enum cli_exit array_expand(struct cli *cli, const json_t *file,
                           json_t **ret_file);

/* A job as the member of that index; a new reference. */
json_t *array_member(const json_t *job, json_int_t index);
