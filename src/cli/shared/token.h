/*
 * token - the secret by which a server on this machine knows its own user
 * (main/berthd/token_file.h).
 */
#pragma once

#include "base/arena.h"

/* The value of an `authorization` header for a server at `url`: the token that
 * a data directory has for it, in the working directory (berth-data) or in
 * /var/lib/berth.  NULL: the server is on another machine, or there is none
 * that is ours alone. */
char *token_find(const char *url, struct arena *arena) must_check;
