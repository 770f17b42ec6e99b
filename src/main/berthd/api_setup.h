/*
 * api_setup - makes the options of the API from the configuration.
 */
#pragma once

#include "api/api.h"
#include "main/config/config.h"

enum { API_SECRET_BYTES = 49 };

/* What the server makes up: a user for the executor inside it, so that it
 * passes the same checks as any other executor, and a token (token_file.h); and
 * the user of this machine whose programs are its own, as root's are. */
struct api_local_user {
    uint32_t own_user_id;
    char name[64], password[API_SECRET_BYTES], token[API_SECRET_BYTES];
};

/* Draw a password and a token that nobody else knows. */
void api_local_user_make(const struct rng *rng,
                         struct api_local_user *ret_user);

/* The API's configuration; all lives in the arena or in `config`, and `local`
 * (borrowed) may execute jobs if the executor inside is on.  Backups are made
 * in `data_dir` (borrowed). */
struct api_config *api_setup(const struct config *config,
                             const struct api_local_user *local,
                             const char *data_dir,
                             struct arena *arena) must_check;
