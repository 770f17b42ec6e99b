/*
 * annotations - reads the annotations of a job: its gang, its pool, and what
 * happens when it loses its place (armada-api.md 3.3).
 *
 * Our own (those of berth.dev/) may also be written with Armada's prefix
 * (model.md 6.2); if both are given, ours counts.
 *
 * A gang whose annotations say how to place it has terms (gang_terms.h): it is
 * a PodGroup of one sub-group.  Other gangs are as Armada's.
 *
 * Pure.  Strings are borrowed from the item.
 */
#pragma once

#include "api/core/refusal.h"
#include "api/core/submit_rules.h"
#include "berth/submission.pb-c.h"
#include "model/digest.h"

#define ANNOTATION_GANG_ID "armadaproject.io/gangId"
#define ANNOTATION_GANG_CARDINALITY "armadaproject.io/gangCardinality"
#define ANNOTATION_GANG_MINIMUM "armadaproject.io/gangMinimumCardinality"
#define ANNOTATION_GANG_UNIFORMITY "armadaproject.io/gangNodeUniformityLabel"
#define ANNOTATION_FAIL_FAST "armadaproject.io/failFast"
#define ANNOTATION_PRICE_BAND "armadaproject.io/priceBand"
#define ANNOTATION_EXTERNAL_JOB_URI "armadaproject.io/externalJobUri"
#define ANNOTATION_POOL "armadaproject.io/pool"
/* Of the ai-scheduler, for pools that are objects; it goes first, and unless
 * onPreemption says otherwise such a job is requeued when it is preempted. */
#define ANNOTATION_POOL_OBJECT "resource.aibee.cn/pool"
#define ANNOTATION_ON_PREEMPTION "berth.dev/onPreemption"
#define ANNOTATION_ON_EXECUTOR_LOST "berth.dev/onExecutorLost"
#define ANNOTATION_LIFETIME "berth.dev/lifetimeSeconds"
#define ANNOTATION_NODE_RESERVATION "berth.dev/nodeReservation"
#define ANNOTATION_MAX_HOPS "berth.dev/maxHops"
#define ANNOTATION_HOLD "berth.dev/hold"
#define ANNOTATION_BEGIN_TIME "berth.dev/beginTime"
#define ANNOTATION_MAX_WAIT "berth.dev/maxWaitSeconds"
#define ANNOTATION_RETRY_POLICY "berth.dev/retryPolicy"
#define ANNOTATION_TURN_GROUP "berth.dev/concurrencyGroup"
#define ANNOTATION_TURN_LIMIT "berth.dev/concurrencyLimit"
#define ANNOTATION_DEPENDS_ON "berth.dev/dependsOn"
/* Targets of notifications, by name. */
#define ANNOTATION_NOTIFY "berth.dev/notify"
/* Where in its containers a job leaves files that are kept. */
#define ANNOTATION_OUTPUT_PATH "berth.dev/outputPath"
/* Files that it brings (wire/text/input_files.h). */
#define ANNOTATION_INPUT_FILES "berth.dev/inputFiles"
#define ANNOTATION_FREEZING_WINDOW "berth.dev/freezingWindowSeconds"
/* Of YuniKorn and Spark (model.md 3.2). */
#define ANNOTATION_APP_ID "yunikorn.apache.org/app-id"
#define LABEL_APP_ID "applicationId"
#define LABEL_SPARK_APP "spark-app-selector"
#define TAG_STATEAWARE_OFF "application.stateaware.disable"
#define LABEL_STATEAWARE_OFF "disableStateAware"

/* Of the fake runtime (executor/fake/fake.h). */
#define ANNOTATION_FAKE_RUN_MS "berth.dev/fakeRunMs"
#define ANNOTATION_FAKE_EXIT_CODE "berth.dev/fakeExitCode"

enum {
    LIFETIME_S_MAX = 366 * 86400,
    TURN_LIMIT_MAX = 1000000,
    TURN_GROUP_BYTES_MAX = 63,
    OUTPUT_PATH_BYTES_MAX = 900,
};

/* A job's gang as it says itself. */
struct gang {
    bool is_gang;          /* has a gang id */
    struct str id;         /* "" outside gangs */
    uint32_t cardinality;  /* >= 1; 1: treated as an ordinary job */
    uint32_t minimum;      /* 1..cardinality */
    struct str uniformity; /* node label; "": none */
    /* What it says as a PodGroup does; false: nothing. */
    bool has_terms;
    bool has_exclusive_nodes;
    uint32_t hops_max; /* or HOPS_ANY */
    int64_t freezing_window_ms;
};

/* The value of an annotation; p is NULL when there is none. */
struct str annotation_find(const Berth__Submission__Item *item,
                           const char *key);

/* The same of one of ours, in either spelling. */
struct str annotation_find_own(const Berth__Submission__Item *item,
                               const char *key);

/* Read the gang annotations.  -ERR_INVALID with the detail of R2's text. */
int annotations_gang(const Berth__Submission__Item *item, struct gang *ret_gang,
                     struct refusal *refusal) must_check;

/* The terms of a gang that has some. */
void annotations_terms(const struct gang *gang, struct gang_terms *ret_terms);

/* Refuse what only gangs can say, with the reason why this item cannot. */
int annotations_check_no_terms(const Berth__Submission__Item *item,
                               const char *why,
                               struct refusal *refusal) must_check;

/* Check those that are not about gangs and are ours: each is known, and what it
 * says is one of the words known. */
int annotations_check_own(const Berth__Submission__Item *item,
                          struct refusal *refusal) must_check;

/* Check that a job names only targets of notifications that there are. */
int annotations_check_notify(const Berth__Submission__Item *item,
                             const struct submit_rules *rules,
                             struct refusal *refusal) must_check;

/* The lifetime that a job asks for, in ms or a LIFETIME_; the annotation has
 * passed annotations_check_own(). */
int64_t annotations_lifetime_ms(const Berth__Submission__Item *item);

/* The application that all items name, which is the job set of a request that
 * has none; "": they do not name one. */
struct str annotations_job_set(const Berth__Submission__Request *request);

/* Fill in what of a digest comes from annotations that passed the checks. */
void annotations_digest(const Berth__Submission__Item *item,
                        const struct gang *gang, struct job_digest *digest);

/* One of ours as the item has it: with which prefix. */
const char *annotation_name(const Berth__Submission__Item *item,
                            const char *key);

/* Seconds of an annotation in ms; 0 without it, or if it makes no sense. */
int64_t annotation_max_wait_ms(const Berth__Submission__Item *item);
/* A moment of an annotation; 0 without it, or if it makes no sense. */
int64_t annotation_begin_ms(const Berth__Submission__Item *item);
/* How many jobs of its group may run at once; 0 without it, or if it makes no
 * sense. */
uint32_t annotation_turn_limit(const Berth__Submission__Item *item);
