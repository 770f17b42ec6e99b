/*
 * api - Berth's gRPC services: what main wires to a server.
 *
 *     client -> rpc -> api: who? may they? valid? -> command -> leader
 *                       \-> store, log, queues: queries and event streams
 *
 * Life: api_create(); api_methods() goes into the server's options; when the
 * server has stopped and was destroyed, api_destroy().  The inbox must still
 * answer what was posted (also at shutdown) before that.
 *
 * Threads: handlers run on the server's threads, answers of the leader on the
 * leader's, and two threads of the API's own feed streams that were waiting:
 * one those of events, one those of leases.  api_on_changed() is for the
 * projector's thread.
 */
#pragma once

#include "api/core/auth.h"
#include "api/core/call_note.h"
#include "api/core/rate.h"
#include "api/core/submit_rules.h"
#include "api/logs/log_query.h"
#include "base/clock.h"
#include "base/rng.h"
#include "control/command/command.h"
#include "control/command/forecasts.h"
#include "control/command/queue_table.h"
#include "elog/elog.h"
#include "rpc/rpc_server.h"
#include "store/store.h"
#include "wire/training/training_job.h"

enum {
    QUERY_ITEMS_DEFAULT_MAX = 500,
    WATCHERS_DEFAULT_MAX = 4000,
    LEASE_RECEIVE_BYTES_DEFAULT_MAX = 64 << 20,
    UNSTORED_BYTES_DEFAULT_MAX = 256 << 20,
};

/* What main reads from the configuration; borrowed as long as the API. */
struct api_config {
    struct submit_rules submit;
    struct auth_config auth;
    struct rate_limits rate;  /* of each caller who is no administrator */
    uint32_t query_items_max; /* ids in one query: queryapi.maxQueryItems */
    uint32_t watchers_max;    /* event streams open at once */
    size_t lease_receive_bytes_max; /* one message of an executor */
    size_t unstored_bytes_max; /* submissions that the store has not got yet;
                                  over it they are refused */
    uint32_t log_timeout_ms;   /* of an executor's answer with logs */
    struct str node_id_label;  /* pods are pinned by it */
    struct str priority_class_override; /* "": pods keep their class */
    /* Resource types that pods keep (supportedResourceTypes). */
    struct str resource_types[RULES_RESOURCES_MAX];
    uint32_t resource_type_count;   /* 0: all */
    struct str backup_dir;          /* copies are made here; "": no backups */
    struct training_rules training; /* what TrainingJobs are given */
};

/* Armada's defaults, no authenticator and no grants. */
void api_config_defaults(struct api_config *ret_config);

/* Whom the API works with; all outlive it. */
struct api_ports {
    const struct clock *clock;
    const struct rng *rng;
    struct inbox *inbox;
    struct queue_table *queues;
    struct queue_table *retry_policies;
    struct store *store;
    struct elog *log;
    struct forecasts *forecasts; /* NULL: none are made */
    /* Told of calls, on any thread, which it must not hold up; NULL: nobody
     * is. */
    api_note_fn *noted;
    void *ctx;
};

struct api;

/* The caller owns it.  NULL: no threads can be had. */
struct api *api_create(const struct api_config *config,
                       const struct api_ports *ports,
                       struct err *err) must_check;
/* Only after the server was destroyed and all commands were answered.  NULL
 * is fine. */
void api_destroy(struct api *api);
DEFINE_AUTO(api, api_destroy)

/* The table of methods for a server; belongs to the API. */
const struct rpc_method *api_methods(const struct api *api,
                                     uint32_t *ret_count);

/* Tell the API that a job set has new events: a store_changed_fn whose ctx is
 * the API. */
void api_on_changed(void *api, struct str queue, struct str job_set,
                    uint64_t seq);

/* Submit the runs of periodic jobs that are due, and wait for the leader's
 * answers.  For one thread, about once a second. */
void api_periodic_step(struct api *api);

/* Have trainers of TrainingJobs ask for so many CPUs for each of their GPUs
 * from now on; at first it is what the configuration's rules say. */
void api_set_cpu_per_gpu(struct api *api, int64_t milli);

/* Event streams open now. */
uint32_t api_watcher_count(struct api *api);

/* Submissions that the query store has not got yet: their jobs and bytes. */
void api_unstored(struct api *api, uint64_t *ret_job_count,
                  size_t *ret_byte_count);
