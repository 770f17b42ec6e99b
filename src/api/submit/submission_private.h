/*
 * submission_private - what the files that build one command share:
 * submission.c, and submission_group.c for groups of pods.
 */
#pragma once

#include "api/submit/services.h"
#include "api/submit/submission.h"

enum { SUBMISSION_RANDOM_BYTES = 10 }; /* of a job's id */

/* What pod specs become beside the rules. */
struct pod_use {
    int64_t lifetime_ms; /* of the job, part of its class_key */
    bool is_member;      /* of a group: its environment tells it its place */
};

/* A pod spec that has been checked and completed. */
struct done_pod {
    struct str raw;     /* as it came; p is NULL before the first */
    struct str encoded; /* completed */
    struct pod_use use;
    struct str class_key;      /* its packed requirement */
    struct str priority_class; /* of it */
    struct pod_ports ports;
};

/* The building of one command. */
struct submission_builder {
    const Berth__Submission__Request *request;
    const struct submission_context *context;
    struct command *command;
    struct refusal *refusal;
    const char *owner;           /* of the context, as a string */
    struct arena scratch;        /* for one pod spec */
    struct arena member;         /* for one job of a group */
    struct arena kept;           /* for the request */
    struct done_pod pod;         /* the last one */
    struct strbuf submit, event; /* of one job */
    struct strbuf digest;
    struct strbuf terms; /* packed, of its gang */
    struct strbuf waits; /* packed, of one job */
    uint32_t item;       /* the one that is built */
    struct job_id *jobs; /* by item: its first job */
    uint8_t random[SUBMISSION_RANDOM_BYTES];
};

/* Check and complete a pod spec unless it is the one before; it is in
 * `builder->pod` then.  -ERR_INVALID with the refusal. */
int submission_take_pod(struct submission_builder *builder, struct str raw,
                        struct pod_use use) must_check;

/* The next id: those of one request count up from a random one, so that their
 * order is that of the items. */
struct job_id submission_next_job_id(struct submission_builder *builder);

/* The digest of a job, in builder->digest; its gang is that of its
 * annotations, or the group that it is a member of. */
void submission_put_digest(struct submission_builder *builder,
                           const Berth__Submission__Item *item,
                           const struct gang *gang,
                           const struct pod_group *group,
                           const struct pod_member *member);

/* The finished job, whose digest is in builder->digest. */
struct submit_item submission_make_job(struct submission_builder *builder,
                                       const Berth__Submission__Item *item,
                                       struct job_id job);

/* The jobs of a group, whose id is `gang_id`, or if that is "" the first
 * job's.  -ERR_INVALID with the refusal; submission_group.c. */
int submission_put_group(struct submission_builder *builder,
                         const Berth__Submission__Item *item,
                         const struct pod_group *group, struct str gang_id,
                         struct submit_item *ret_items) must_check;
