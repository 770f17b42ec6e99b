/*
 * gang_terms - the terms of a PodGroup or TrainingJob, apart from its pods: its
 * sub-groups, and how they may grow and shrink (model.md 2.11, 4, 6.2).
 *
 * Every pod is a job, a member of the gang, and says of which sub-group it is
 * (digest.h); members are told apart by their ids, whose order is that of
 * their making.  All members that there may ever be are submitted at once:
 * those above the minimum wait until the gang grows.  A gang by Armada's
 * annotations has no terms: its members beyond the minimum are failed when it
 * starts.
 *
 * The packed form is canonical, and equal for all members: gangs with equal
 * terms have equal bytes.  It is logged: the first number is a format
 * version, which only grows.
 *
 * Pure.  Strings are borrowed from whatever the terms were made from.
 */
#pragma once

#include "model/pack.h"

enum {
    GANG_TERMS_VERSION = 1,
    SUB_GROUPS_MAX = 16, /* of a gang */
    SUB_GROUP_NAME_BYTES_MAX = 63,
    GANG_LEVELS_MAX = 8, /* of a pool's topology */
    HOPS_MAX = 2 * GANG_LEVELS_MAX,
    HOPS_ANY = UINT32_MAX,              /* as many as there are in the pool */
    FREEZING_BY_POLICY = -1,            /* a window: as the policy has it */
    REPLACE_TIMEOUT_MS = 5 * 60 * 1000, /* of a group that says none */
    /* The longest of each time that terms may say, however they are written:
     * as annotations, a podGroup or a TrainingJob. */
    GANG_SECONDS_MAX = 366 * 86400,
};

/* Pods that are alike. */
struct sub_group {
    struct str name;
    uint32_t min_count;   /* fewer do not run, or all of the gang goes */
    uint32_t max_count;   /* members that were submitted; >= min_count, >= 1 */
    uint32_t hops_max;    /* between any two of its pods, or HOPS_ANY */
    int64_t hops_wait_ms; /* having waited so long, any number; 0: never */
    bool is_auxiliary;    /* goes when the others have ended, and says nothing
                             of how the gang ended */
};

/* Why members that are left when their gang has succeeded are cancelled: it is
 * no failure of theirs, and clients know it by this text. */
#define GANG_SUCCEEDED_REASON "The group has succeeded"

/* What kind of object the members were made from; it says when the gang has
 * succeeded or failed.  Append, never renumber: these are logged. */
enum gang_kind {
    GANG_POD_GROUP = 0,        /* failed with the first member that failed */
    GANG_TRAINING = 1,         /* likewise; a TrainingJob */
    GANG_TRAINING_TOLERANT = 2 /* failed when all of its members have */
};

struct gang_terms {
    enum gang_kind kind;
    bool has_exclusive_nodes;   /* its nodes serve nobody else meanwhile */
    int64_t freezing_window_ms; /* not scaled again for so long; 0: none; or
                                   FREEZING_BY_POLICY */
    int64_t replace_timeout_ms; /* below its minimum for so long it goes */
    struct sub_group sub_groups[SUB_GROUPS_MAX];
    uint32_t sub_group_count; /* >= 1 */
};

/* Append the packed form. */
void gang_terms_pack(struct strbuf *buf, const struct gang_terms *terms);

/* Read a packed form; strings point into `bytes`.
 * -ERR_CORRUPT: not one, or counts that contradict the above;
 * -ERR_VERSION: of a newer release. */
int gang_terms_unpack(struct str bytes,
                      struct gang_terms *ret_terms) must_check;
