/*
 * array - jobs that differ only in an index: the key `array` of a file's jobs,
 * and Kubernetes' Indexed Jobs.
 *
 * berthctl writes them out: the server gets a job for each member, whose
 * containers find the index in BERTH_ARRAY_INDEX and JOB_COMPLETION_INDEX, and
 * which has it in the label berth.dev/arrayIndex.  Members of an array have its
 * id in the label berth.dev/array.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"
#include "cli/shared/selection.h"

enum {
    ARRAY_MEMBERS_MAX = 10000, /* of one array */
    ARRAY_INDEX_MAX = 99999999,
    ARRAY_LIMIT_MAX = 1000000,
};

/* What the members of an array share. */
struct array_terms {
    const char *id;
    int64_t limit; /* of members at once; 0: none */
};

/* A new array without a limit; its id is in the arena. */
struct array_terms array_begin(struct cli *cli);

/* Let a job be one of the array, whatever its index. */
void array_join(json_t *job, const struct array_terms *terms);

/* Whether any job of the file has the key. */
bool array_is_used(const json_t *file);

/* Make a file without the key, each array written out; the caller lets it go.
 * CLI_INVALID, having said so, if a key makes no sense.  `ret_told`, in the
 * arena: a line about each array, to be said when the server has it. */
enum cli_exit array_expand(struct cli *cli, const json_t *file,
                           json_t **ret_file, struct cli_names *ret_told);

/* A job as the member of that index; a new reference. */
json_t *array_member(const json_t *job, json_int_t index,
                     const struct array_terms *terms);
