/*
 * api_setup - makes the options of the API from the configuration.
 */
#pragma once

#include "api/api.h"
#include "main/config/config.h"

/* A user that the server makes up for the executor inside it, so that it
 * passes the same checks as any other executor. */
struct api_local_user {
    char name[64], password[64];
};

/* Draw a password that nobody else knows. */
void api_local_user_make(const struct rng *rng,
                         struct api_local_user *ret_user);

/* The API's configuration; all lives in the arena or in `config`, and `local`
 * (borrowed; NULL: none) may execute jobs.  Backups are made in `data_dir`
 * (borrowed). */
struct api_config *api_setup(const struct config *config,
                             const struct api_local_user *local,
                             const char *data_dir,
                             struct arena *arena) must_check;
