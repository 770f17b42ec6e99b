/*
 * submission - from the bytes of a JobSubmitRequest to the jobs that the
 * leader appends: decode, validate, complete, encode (armadaevents.SubmitJob
 * with its digest), each job once.
 *
 * The hot path of the server: one arena per request, no JSON, and a pod spec
 * whose bytes are those of the item before it is not looked at again.
 *
 * Threads: any; nothing is shared.
 */
#pragma once

#include "api/core/refusal.h"
#include "api/core/submit_rules.h"
#include "api/submit/depends.h"
#include "api/submit/pod_advice.h"
#include "api/submit/pod_group.h"
#include "base/rng.h"
#include "berth/submission.pb-c.h"
#include "control/command/command.h"

/* Who submits, and by which rules. */
struct submission_context {
    const struct submit_rules *rules;
    const struct rng *rng;
    struct str owner; /* the caller's name */
    int64_t now_ms;
    struct str default_pool;       /* the queue's; "": it has none */
    const struct depends *depends; /* by item; NULL: none waits for others */
    /* Where the jobs are only checked, and told what Armada would accept, too:
     * pod_advice.h; else NULL. */
    struct pod_remarks_made *remarks;
};

/* Decode a request, strictly; it lives in the arena and borrows nothing.
 * -ERR_CORRUPT, -ERR_LIMIT with the text. */
int submission_decode(struct str bytes, struct arena *arena,
                      Berth__Submission__Request **ret_request,
                      struct err *err) must_check;

/* Check a decoded request by all rules and fill in `command` (fresh, of kind
 * COMMAND_SUBMIT).  The request's messages are changed on the way; the
 * command borrows nothing of it.  -ERR_INVALID with the refusal. */
int submission_build(Berth__Submission__Request *request,
                     const struct submission_context *context,
                     struct command *command,
                     struct refusal *refusal) must_check;

/* The same for a request of one item whose jobs are those of `group`: their
 * pod specs are the group's templates, and all else is the item's.  The
 * gang's id is `gang_id`, or if that is "" the first job's. */
int submission_build_group(Berth__Submission__Request *request,
                           const struct pod_group *group, struct str gang_id,
                           const struct submission_context *context,
                           struct command *command,
                           struct refusal *refusal) must_check;
