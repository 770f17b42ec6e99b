/*
 * credential - who we are to an API server, now: a token that stands in the
 * kubeconfig, one in a file that is replaced now and then, or what an exec
 * plugin has printed.
 *
 * A plugin runs beside us, in a process group of its own: credential_get() says
 * that it is under way until it has ended.  It has CREDENTIAL_EXEC_MS_MAX, and
 * may print CREDENTIAL_BYTES_MAX; beyond either its group is killed.  It is not
 * run again within CREDENTIAL_RETRY_MS, whether it failed, what it printed has
 * expired or the server refuses it: nobody makes us run it for each request.
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
/* The server did not take it: get another one if there may be one.  What a
 * plugin has printed just now stays. */
void credential_reject(struct credential *credential, uint64_t version);
/* Go on with a plugin that is under way. */
void credential_drive(struct credential *credential);
/* Whether one is under way. */
bool credential_is_fetching(const struct credential *credential);
/* Readable when credential_drive() has something to do; always the same
 * descriptor, -1 if none could be had. */
int credential_fd(const struct credential *credential);
