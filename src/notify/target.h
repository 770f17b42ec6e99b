/*
 * target - whom to tell that jobs and job sets have ended, and of which ends.
 *
 * Targets are the administrator's: a job can name one that is there, and can
 * bring none of its own (docs/security.md).
 *
 * Pure.  All is borrowed.
 */
#pragma once

#include "base/str.h"
#include "store/store.h"

enum {
    NOTIFY_TARGETS_MAX = 32,
    NOTIFY_NAME_BYTES_MAX = 63,
    NOTIFY_WORDS_MAX = 64, /* of a command */
};

/* What has ended, as bits. */
enum notify_event {
    NOTIFY_JOB = 1,
    NOTIFY_JOB_SET = 2,
};

struct notify_target {
    struct str name; /* unique, a word */
    /* One of them: http:// or https://, or the words of a program. */
    struct str url;
    const struct str *command;
    uint32_t command_count;
    struct str ca_file;       /* "": the machine's authorities */
    struct str secret;        /* bytes of the key; "": nothing is signed */
    const struct str *queues; /* none: all */
    uint32_t queue_count;
    uint32_t events;    /* enum notify_event, as bits */
    uint32_t states;    /* 1 << enum stored_job_state; 0: all */
    bool is_on_request; /* only of jobs that name it */
    int64_t timeout_ms; /* of one attempt */
};

/* Whether a target wants to hear of it, as far as its configuration says. */
bool notify_target_wants(const struct notify_target *target,
                         enum notify_event event, struct str queue,
                         enum stored_job_state state) must_check;

/* Whether a list as jobs write it ("chat, pager") has the target's name. */
bool notify_target_is_named(const struct notify_target *target,
                            struct str list) must_check;

/* Whether it can be the name of a target: 1 to NOTIFY_NAME_BYTES_MAX letters,
 * digits, '-', '_' and '.'. */
bool notify_is_name(struct str text) must_check;
