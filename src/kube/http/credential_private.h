/*
 * credential_private - what the files of the credential share.
 *
 * Threads: one owner.
 */
#pragma once

#include <sys/types.h>

#include "base/strbuf.h"
#include "kube/http/credential.h"

struct credential {
    const struct kube_config *config;
    const struct clock *clock;
    struct strbuf token, certificate, key;
    uint64_t version;
    bool is_got;        /* there is one */
    int64_t due_ms;     /* wall clock: when to get it again */
    int64_t retry_ms;   /* monotonic: a plugin not before that; 0: at once */
    struct err failure; /* the last one; "" if it is over */
    int failure_rc;
    /* The plugin that runs. */
    pid_t pid;           /* 0: none */
    int epoll_fd;        /* has `fd` */
    int fd;              /* its standard output, then itself; -1 */
    bool is_read;        /* all that it prints */
    int64_t deadline_ms; /* monotonic */
    struct strbuf printed;
};

/* credential.c */

/* The time of the wall clock and that of one that nobody sets, in ms. */
int64_t credential_now_ms(const struct credential *credential);
int64_t credential_mono_ms(const struct credential *credential);
/* Keep a failure for a while, and what there was before if it still is good;
 * returns rc. */
int credential_fail(struct credential *credential, int rc,
                    const struct err *err);
/* Keep what was got (copied), until this time of the wall clock. */
void credential_take(struct credential *credential, struct str token,
                     struct str certificate, struct str key, int64_t due_ms);
/* -ERR_INVALID: no header takes it; the text says where it stood. */
int credential_check_token(struct str token, const char *where,
                           struct err *err) must_check;

/* credential_plugin.c: the exec plugin of the configuration. */

/* Run it: 1, or why it cannot be run. */
int plugin_begin(struct credential *credential, struct err *err) must_check;
/* Go on with it: 1 while it runs, 0 when its credential was taken, or why there
 * is none. */
int plugin_go_on(struct credential *credential, struct err *err) must_check;
/* The plugin is done with, if it has ended or is killed: its wait status; < 0:
 * it still runs, or how it ended is not known. */
int plugin_end(struct credential *credential, bool is_killed);
