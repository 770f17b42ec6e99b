/*
 * context - the server that berthctl connects to, and the user: armadactl's
 * configuration file, with its `contexts` or the same keys at the top.
 *
 * Keys that only armadactl knows are ignored, so that one file serves both
 * programs.
 *
 * Threads: one.
 */
#pragma once

#include <jansson.h>

#include "base/arena.h"

/* One context; texts live in the arena it was read with. */
struct context {
    const char *name;                   /* "": none was named */
    const char *url;                    /* host:port */
    const char *user_name, *password;   /* basic; NULL: anonymous */
    const char *ca_file;                /* tlsCaFile; NULL: the system's */
    bool is_plain;                      /* no TLS */
    bool is_plain_forced, is_tls_asked; /* forceNoTls, tls */
};

/* The name of the server when nobody says otherwise. */
#define CONTEXT_URL_DEFAULT "localhost:50051"

/* Choose the context `name` (NULL: currentContext) from a configuration file
 * (NULL: there is none).  -ERR_NOT_FOUND if it does not exist, -ERR_INVALID if
 * the file makes no sense. */
int context_choose(const json_t *file, const char *name, struct arena *arena,
                   struct context *ret_context, struct err *err) must_check;

/* Take another server, with or without TLS as the context says of it: what is
 * sent in clear text to this machine is not to another. */
void context_set_url(struct context *context, const char *url);

/* The value of an `authorization` header for basic authentication. */
char *context_basic(const char *user_name, const char *password,
                    struct arena *arena) must_check;
