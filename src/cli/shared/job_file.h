/*
 * job_file - a file of jobs as the requests of a submission need it.
 *
 * Threads: one.
 */
#pragma once

#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

/* The jobs of one file. */
struct submission {
    char *queue, *job_set;
    Api__JobSubmitRequestItem **items;
    /* Of each, the client id that the file gives it; or NULL. */
    const char **names;
    size_t item_count;
    size_t accepted_count;
    /* Of the job that was accepted last; NULL: none was. */
    const char *accepted_id;
    /* To be said when the server has answered: of which arrays they are. */
    struct cli_names told;
    /* Standard output is for something else: what became of the jobs is
     * remarked on. */
    bool is_remarked;
    /* The server is only to check it. */
    bool is_checked;
    /* Some may ask for what the server accepts, as Armada does, but what can
     * never run: that is asked before they are submitted. */
    bool is_unusual;
    bool has_remarks; /* of the server, and they were said */
    /* They are submitted by a schedule; NULL: at once. */
    Berth__Api__PeriodicJob *periodic;
    /* All are the pods of this Kubernetes Job; NULL: they are a file's. */
    const char *job_name;
};

/* Read a file of jobs.  What it holds is in the arena.  CLI_INVALID, having
 * said so, when it breaks a rule; unknown keys are remarked on. */
enum cli_exit submission_read(struct cli *cli, const json_t *json,
                              struct submission *ret);
