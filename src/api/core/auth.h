/*
 * auth - authenticates callers and checks their permissions (armada-api.md 4).
 *
 * Authenticators are asked in order.  One that sees no credentials of its
 * kind passes the call on; one that sees bad ones ends it.  Basic and
 * anonymous are here; others plug in as `struct authenticator`.
 *
 * Callers without credentials are anonymous.  Over loopback the server knows
 * the user of their socket: its own user, but for its jobs, and root are
 * administrators, and so are callers with the server's token.  All others are
 * in the group `everyone` and, if their user is known, in `uid:N`.
 *
 * A principal may do something if one of its groups has the permission, or if
 * a queue's own permissions say so; every principal is in group `everyone`.
 *
 * Threads: any, once made.
 */
#pragma once

#include <pthread.h>

#include "api/core/auth_attempts.h"
#include "armada/queue.pb-c.h"
#include "base/arena.h"

enum {
    AUTHENTICATORS_MAX = 8,
    AUTH_HEADER_BYTES_MAX = 16 << 10,
};

/* What may be granted to groups. */
enum permission {
    PERMISSION_NONE, /* needs no permission but to be somebody */
    PERMISSION_SUBMIT_ANY_JOBS,
    PERMISSION_CANCEL_ANY_JOBS,
    PERMISSION_PREEMPT_ANY_JOBS,
    PERMISSION_REPRIORITIZE_ANY_JOBS,
    PERMISSION_WATCH_ALL_EVENTS,
    PERMISSION_CREATE_QUEUE,
    PERMISSION_DELETE_QUEUE,
    PERMISSION_CORDON_QUEUE,
    PERMISSION_CORDON_NODES,
    PERMISSION_EXECUTE_JOBS,
    PERMISSION_UPDATE_EXECUTOR_SETTINGS,
    PERMISSION_CREATE_RETRY_POLICY,
    PERMISSION_UPDATE_RETRY_POLICY,
    PERMISSION_DELETE_RETRY_POLICY,
    PERMISSION_BACKUP, /* from here on not Armada's */
    PERMISSION_CREATE_POOL,
    PERMISSION_DELETE_POOL,
    PERMISSION_EXEC_ANY_JOBS, /* run programs in them */
    PERMISSION_COUNT,
};

/* What a queue may grant to users and groups. */
enum queue_verb {
    VERB_NONE,
    VERB_SUBMIT,
    VERB_CANCEL,
    VERB_PREEMPT,
    VERB_REPRIORITIZE,
    VERB_WATCH, /* all reading: jobs, specs, events, logs */
    /* Run programs in jobs.  Who has all of the above owns the queue, and has
     * this one without being given it: Armada's clients take no queue with a
     * verb that they do not know. */
    VERB_EXEC,
    VERB_COUNT,
};

/* Somebody who calls.  Strings live in the call's arena or the config. */
struct principal {
    struct str name;
    struct str claimed; /* the user whose password was wrong: not let in */
    const struct str *groups;
    uint32_t group_count;
    const struct str *executors; /* that it may act for */
    uint32_t executor_count;     /* 0: for any */
    bool is_first_login;         /* by a password that was not right before */
    bool is_administrator;       /* has every permission; set by
                                    auth_authenticate() */
    bool is_anonymous;           /* the name is nobody's: owns nothing by it */
};

enum auth_answer {
    AUTH_OK,       /* the principal is filled in */
    AUTH_NOT_MINE, /* no credentials of this kind: ask the next */
    AUTH_BAD,      /* credentials of this kind, but wrong: the end */
    AUTH_TOO_MANY, /* of them were wrong: they are not looked at */
};

/* What a call says of who calls. */
struct auth_claim {
    struct str authorization; /* the header's value; p NULL: there is none */
    struct str address;       /* of the other end, without its port */
    int64_t now_ms;           /* of a clock that is not set */
    bool has_user;            /* it comes from this machine, and from: */
    uint32_t user_id;
    bool is_outside_jobs; /* what calls is no job of that user */
};

/* One way to tell who calls. */
struct authenticator {
    enum auth_answer (*authenticate)(struct authenticator *authenticator,
                                     const struct auth_claim *claim,
                                     struct arena *arena,
                                     struct principal *ret_principal,
                                     struct err *err);
    void *ctx;
};

/* One who calls with a password. */
struct basic_user {
    struct str name;
    struct str password; /* in clear; "": by its hash (wire/text/password.h) */
    struct str password_hash;
    const struct str *groups;
    uint32_t group_count;
    const struct str *executors; /* that it may act for; none: that of its
                                    own name */
    uint32_t executor_count;
};

/* The groups that have a permission. */
struct permission_grant {
    const struct str *groups;
    uint32_t group_count;
};

/* What main reads from the configuration; borrowed as long as the auth. */
struct auth_config {
    bool is_anonymous_allowed;
    /* Of those who are anonymous, administrators are: this user of the
     * machine and root, and who knows the token ("": nobody). */
    bool has_own_user;
    uint32_t own_user_id;
    struct str token;
    struct permission_grant administrators; /* auth.administratorGroups */
    const struct basic_user *users;         /* basicAuth.users */
    uint32_t user_count;
    /* permissionGroupMapping, by permission */
    struct permission_grant grants[PERMISSION_COUNT];
};

struct auth {
    const struct auth_config *config;
    pthread_mutex_t lock; /* of `known` */
    /* By user: the password that matched its hash last, for which a call does
     * not wait some ten milliseconds again; owned. */
    struct str *known;
    struct attempts attempts;
    struct authenticator authenticators[AUTHENTICATORS_MAX]; /* in order */
    uint32_t authenticator_count;
};

/* The authenticators that the configuration asks for; `seed` is not to be
 * guessed. */
void auth_init(struct auth *auth, const struct auth_config *config,
               uint64_t seed);
/* Free what it has learned. */
void auth_fini(struct auth *auth);

/* Whether anybody can call at all; a server must not start otherwise. */
bool auth_has_method(const struct auth *auth);

/* Whether `is_outside_jobs` of a claim of that user matters. */
bool auth_minds_jobs(const struct auth *auth, uint32_t user_id);

/* Tell who calls.  -ERR_INVALID with a text for people: nobody we know.
 * -ERR_LIMIT: the address has tried too many wrong passwords. */
int auth_authenticate(struct auth *auth, const struct auth_claim *claim,
                      struct arena *arena, struct principal *ret_principal,
                      struct err *err) must_check;

/* Who somebody is now, who called before: of a user the groups that the
 * configuration gives it now, of who was anonymous those of then.  -ERR_INVALID
 * with a text for people: nobody we know any more. */
int auth_recall(const struct auth *auth, const struct principal *before,
                struct arena *arena, struct principal *ret_principal,
                struct err *err) must_check;

/* Whether the principal is an administrator, or one of its groups has the
 * permission. */
bool auth_has_permission(const struct auth *auth,
                         const struct principal *principal,
                         enum permission permission);

/* Whether the principal may act for the executor of that id, given that it may
 * act for executors at all. */
bool auth_may_act_for(const struct principal *principal,
                      struct str executor_id);

/* Whether the queue itself grants the verb to the principal; administrators
 * are not asked for here. */
bool auth_queue_grants(const Api__Queue *queue,
                       const struct principal *principal, enum queue_verb verb);

/* Whether the queue grants every verb of Armada's to the principal, as to its
 * owners. */
bool auth_queue_is_owner(const Api__Queue *queue,
                         const struct principal *principal);

/* The verb of a name as people write it: `view` is VERB_WATCH, too.
 * VERB_COUNT: no verb. */
enum queue_verb queue_verb_of_name(struct str name);

/* The name as configurations and texts write it ("submit_any_jobs"). */
const char *permission_name(enum permission permission);

/* The permission of a name, or PERMISSION_COUNT. */
enum permission permission_of_name(struct str name);

/* The name as queues write it ("submit"). */
const char *queue_verb_name(enum queue_verb verb);

/* Whether a grant names one of the groups of a user. */
bool auth_is_granted(const struct permission_grant *grant,
                     const struct principal *principal);
