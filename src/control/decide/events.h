/*
 * events - a command with sequences from outside, while events.c looks through
 * it; events_refuse.c and periodic.c tell which events could not be applied.
 *
 * Private to these three.
 */
#pragma once

#include "control/decide/decide.h"
#include "control/state/state.h"

/* A command while its sequences are looked through. */
struct looking {
    struct control *c;
    const struct command *command;
    uint32_t event_count, late_count;
    enum command_result result;
    const char *text; /* NULL: nothing is wrong */
    bool must_wait;   /* it changes pools while some are being planned */
    enum object_wish object_wish;
    struct err err;
};

/* Note why the command is refused; true. */
bool events_refuse(struct looking *l, enum command_result result,
                   const char *text);
/* What could not be applied is not appended. */
bool events_is_refused(struct looking *l, const struct event_scope *scope,
                       const struct event *event);
/* The same of an event about a periodic job; periodic.c. */
bool periodic_is_amiss(struct looking *l, const struct event_scope *scope,
                       const struct event *event);
