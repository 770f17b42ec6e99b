/*
 * log_layout - how each event lies in the log, as tables.
 *
 * A layout lists the fields of one protobuf message and where in `struct
 * event` each goes; decoder and encoder both walk it, so that they cannot
 * disagree.  Numbers are those of armada-api.md 6.4 and proto/berth/log.proto.
 *
 * Internal to log_codec.  Threads: the tables are constant.
 */
#pragma once

#include "model/event.h"

/* How a field goes into a member. */
enum slot_kind {
    SLOT_STR,        /* struct str */
    SLOT_U32,        /* uint32_t */
    SLOT_I32,        /* int32_t */
    SLOT_ENUM,       /* an enum, 0..`other`; what is beyond reads as 0 */
    SLOT_I64,        /* int64_t */
    SLOT_BOOL,       /* bool */
    SLOT_TRUE,       /* no member: written as true, not read */
    SLOT_JOB,        /* struct job_id; without one the event means nothing */
    SLOT_RUN,        /* struct run_id; likewise */
    SLOT_JOB_MAYBE,  /* struct job_id, or none */
    SLOT_LIST,       /* array of struct str, and at `other` its count */
    SLOT_SET_STATES, /* enum state_set, as armadaevents.JobState */
    SLOT_API_STATES, /* enum state_set, as api.JobState */
    SLOT_MESSAGE,    /* a message whose first occurrence goes into `inner` */
    SLOT_CHOICE,     /* the like, and the member becomes its number */
    SLOT_WHOLE,      /* struct str: the message itself; stands first */
};

struct layout;

/* One field.  Offsets are into struct event. */
struct slot {
    uint16_t number;
    uint8_t kind;
    uint16_t offset;
    uint16_t other;
    const struct layout *inner;
};

/* One message. */
struct layout {
    const struct slot *slots;
    uint32_t slot_count;
};

/* The layout of an event's message, or NULL for a type that is not known. */
const struct layout *layout_of(uint32_t event_type);

/* The member of `event` that a slot speaks of. */
static inline void *slot_member(struct event *event, const struct slot *slot)
{
    return (char *)event + slot->offset;
}

/* The same for reading. */
static inline const void *slot_member_const(const struct event *event,
                                            const struct slot *slot)
{
    return (const char *)event + slot->offset;
}
