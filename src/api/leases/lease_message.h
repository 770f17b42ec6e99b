/*
 * lease_message - the messages of a lease stream (armada-api.md 6.1, 6.2).
 *
 * A lease is the stored job with a few edits.  They are made on the bytes:
 * protobuf lets a later field win over an earlier one and adds up maps, so an
 * edit is an addition, and the rest of the pod spec survives byte for byte.
 * Only resource types that executors must not see cost a decoding.
 *
 * Pure but for memory.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/command.h"

/* What the edits need to know. */
struct lease_edits {
    struct str node_id_label;           /* pods are pinned by it */
    struct str priority_class_override; /* "": the job's own stays */
    const struct str *resource_types;   /* that pods keep */
    uint32_t resource_type_count;       /* 0: all */
};

/* Append a LeaseStreamMessage with a lease of `submit_job`, the stored
 * armadaevents.SubmitJob.  -ERR_CORRUPT: it is none. */
int lease_message_put(struct strbuf *buf, const struct exchange_lease *lease,
                      struct str submit_job, const struct lease_edits *edits,
                      struct err *err) must_check;

/* Append one that names runs to cancel. */
void lease_message_put_cancels(struct strbuf *buf, const struct run_id *runs,
                               uint32_t run_count);

/* Append one that ends a conversation of one request. */
void lease_message_put_end(struct strbuf *buf);

/* Append a sign of life: so many requests were taken in. */
void lease_message_put_heartbeat(struct strbuf *buf, uint64_t request_count);
