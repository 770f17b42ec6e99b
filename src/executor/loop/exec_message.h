/*
 * exec_message - what server and shim say to each other in a session, from one
 * language into the other: messages of berth.api.Berth/ServeExec and frames
 * (exec_frame.h).  Neither is believed.
 *
 * Pure.  Threads: no state.
 */
#pragma once

#include "executor/files/exec_frame.h"

/* An encoded ExecInput as frames, appended; `is_first`: it is the one that says
 * what is wanted.  -ERR_INVALID: it makes no sense, and why. */
int exec_message_to_frames(struct str bytes, bool is_first,
                           struct strbuf *frames, struct err *err) must_check;
/* A frame of the shim's as an encoded ExecOutput, appended.  -ERR_INVALID. */
int exec_message_of_frame(const struct exec_frame *frame,
                          struct strbuf *bytes) must_check;
/* The message that ends a session for want of a shim. */
void exec_message_broken(const char *reason, struct strbuf *bytes);
