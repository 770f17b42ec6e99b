/*
 * pod_advice - what Armada's rules let a pod ask for, though it cannot run, or
 * not as it is meant.
 *
 * Submissions of Armada's clients are accepted all the same, and such a job is
 * rejected or fails later; this is for who asks beforehand (CheckJobs).
 *
 * Threads: that of the call whose pods they are.
 */
#pragma once

#include "api/core/submit_rules.h"
#include "api/submit/pod_view.h"

enum { POD_REMARKS_MAX = 8 };

/* What has been remarked on, each text once; zeroed to begin with, but for the
 * arena, in which the texts are. */
struct pod_remarks_made {
    struct arena *arena;
    const char *items[POD_REMARKS_MAX];
    uint32_t count;
};

/* Look at a valid pod.  -ERR_INVALID with the refusal: it can never run. */
int pod_advice_make(const struct pod_view *pod,
                    const struct submit_rules *rules,
                    struct pod_remarks_made *remarks,
                    struct refusal *refusal) must_check;
