/*
 * granters - who can grant a permission that a caller lacks.
 *
 * Callers with create_queue grant a queue's verbs in the queue; the operator of
 * the server grants permissions in auth.permissionGroupMapping.
 *
 * Pure: the configuration is only read.  Threads: any.
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
