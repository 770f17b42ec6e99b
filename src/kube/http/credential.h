/*
 * credential - who we are to an API server, now: a token that stands in the
 * kubeconfig, one in a file that is replaced now and then, or what an exec
 * plugin has printed.
 *
 * A plugin runs beside us: credential_get() says that it is under way until it
 * has ended, and credential_fd() becomes readable then.  It has
 * CREDENTIAL_EXEC_MS_MAX, and may print CREDENTIAL_BYTES_MAX.  A failure is
 * kept for CREDENTIAL_RETRY_MS, so that a plugin that fails is not run for each
 * request.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/clock.h"
#include "kube/config/kube_config.h"

enum {
    CREDENTIAL_FILE_MS = 60000, /* a token file is read again after that */
    CREDENTIAL_EXEC_MS_MAX = 60000,
    CREDENTIAL_RETRY_MS = 5000,
    CREDENTIAL_EARLY_MS = 30000, /* before it expires a new one is fetched */
    CREDENTIAL_BYTES_MAX = 1 << 20,
};

/* What goes with a request; valid until the next call. */
struct credential_now {
    struct str token;            /* "": none */
    struct str certificate, key; /* PEM; "": none */
    uint64_t version;            /* another one: another credential */
};

struct credential;

/* Of this configuration, which is borrowed. */
struct credential *credential_create(const struct kube_config *config,
                                     const struct clock *clock) must_check;
/* Free it; a plugin that runs is killed. */
void credential_destroy(struct credential *credential);

/* 0: here it is; 1: a plugin is under way; else why there is none: -ERR_IO,
 * -ERR_INVALID, -ERR_LIMIT, -ERR_NOT_FOUND, -ERR_UNAVAILABLE. */
int credential_get(struct credential *credential,
                   struct credential_now *ret_now, struct err *err) must_check;
/* The server did not take it: get another one if there may be one. */
void credential_reject(struct credential *credential, uint64_t version);
/* Readable when a plugin under way has printed or ended; -1: none is. */
int credential_fd(const struct credential *credential);
