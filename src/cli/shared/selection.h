/*
 * selection - the jobs that a command is about: those whose ids are named, or
 * those that match its options.
 *
 * Threads: one.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

enum {
    SELECTION_JOBS_MAX = 100000, /* that one command is about */
    SELECTION_PAGE_MAX = 1000,   /* in one request */
};

/* The label that holds a job's name. */
#define SELECTION_NAME_LABEL "berth.dev/name"

/* Of the jobs of an array: its id, and the job's index in it. */
#define SELECTION_ARRAY_LABEL "berth.dev/array"
#define SELECTION_INDEX_LABEL "berth.dev/arrayIndex"

/* Options of commands that take a selection; see selection_find(). */
#define SELECTION_FILTER_OPTIONS                                               \
    {"queue", 'q', OPTION_TEXT, "NAME", "only jobs of this queue"},            \
        {"job-set", 'j', OPTION_TEXT, "NAME", "only jobs of this job set"},    \
        {"name", 0, OPTION_TEXT, "NAME",                                       \
         "only jobs of this name (label " SELECTION_NAME_LABEL ")"},           \
        {"label", 'l', OPTION_LIST, "K=V,...", "only jobs with these labels"}, \
    {                                                                          \
        "me", 0, OPTION_FLAG, NULL, "only jobs that you submitted"             \
    }

/* Jobs, each once, in the arena. */
struct selection {
    Berth__Api__JobSummary **jobs;
    size_t count;
    const char *event_id; /* of the moment that all of this was so, or before */
};

/* Put what the options say into a request for a list of jobs.  CLI_USAGE,
 * having said so. */
enum cli_exit selection_filter(struct cli *cli,
                               Berth__Api__ListJobsRequest *request);

/* Whether an option says which jobs are meant. */
bool selection_is_given(const struct cli *cli);

/* Whether a text is a job's id. */
bool selection_is_id(const char *text);

/* The jobs of these ids, or without any, those that match the options and are
 * in one of `states` (none: in any).  CLI_NOT_FOUND, having said so, if there
 * is none, or not each that is named; CLI_USAGE if neither ids nor options say
 * which. */
enum cli_exit selection_find(struct cli *cli, char **ids, size_t id_count,
                             const Api__JobState *states, size_t state_count,
                             struct selection *ret);

/* The jobs of these ids, which are all there; codes as above. */
enum cli_exit selection_by_ids(struct cli *cli, char **ids, size_t count,
                               struct selection *ret);

/* What can no longer change: succeeded, failed, cancelled, ... */
bool selection_has_ended(Api__JobState state);
