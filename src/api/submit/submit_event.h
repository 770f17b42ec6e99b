/*
 * submit_event - an item of a submission, checked and completed, as the log
 * has it: an encoded armadaevents.SubmitJob without a digest.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include "api/submit/services.h"
#include "base/strbuf.h"
#include "berth/submission.pb-c.h"

/* What is not the item's own. */
struct submit_event {
    struct object_owner owner;
    struct str pod_spec;           /* encoded, completed */
    const struct pod_ports *ports; /* of it */
    const struct submit_rules *rules;
};

/* Append the encoding to `buf`; the arena is for scratch. */
void submit_event_put(struct strbuf *buf, const Berth__Submission__Item *item,
                      const struct submit_event *event, struct arena *arena);
