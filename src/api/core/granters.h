/*
 * granters - who can grant what somebody lacks.
 *
 * A queue's verbs are granted in the queue, by whoever has create_queue;
 * permissions in auth.permissionGroupMapping, by who runs the server.
 */
#pragma once

#include "api/core/auth.h"
#include "base/strbuf.h"

enum { GRANTERS_SAID_MAX = 8 }; /* groups that a message names */

/* The groups whose members may change queues, in the arena; how many. */
uint32_t granters_list(const struct auth_config *config, struct arena *arena,
                       const struct str **ret_groups) must_check;

/* Add what to do about a lack of `permission` to a message; `verb` is what the
 * queue could grant instead, or VERB_NONE. */
void granters_say(const struct auth_config *config, enum permission permission,
                  enum queue_verb verb, struct strbuf *out);
