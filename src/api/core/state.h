/*
 * state - what the API keeps between calls.  Internal to it.
 *
 * Threads: the server's threads, the leader's and the projector's.  All is made
 * before the first call and only read after that, but for what is atomic here
 * and what has a lock of its own: `auth`, `rate`, `readers`, `specs`, the
 * time zones and the hubs.
 */
#pragma once

#include <stdatomic.h>

#include "api/api.h"
#include "api/core/event_hub.h"
#include "api/core/leader_questions.h"
#include "api/core/rate.h"
#include "api/core/reader_pool.h"
#include "api/core/spec_cache.h"

enum { RANDOM_ID_BYTES = 16 };

/* Of api.c. */
struct bound_method;
/* Of api_call.h. */
struct method;
/* Of exec/exec_table.h. */
struct exec_table;
/* Of logs/log_hub.h. */
struct log_hub;

struct api {
    const struct api_config *config;
    struct api_ports ports;
    struct auth auth;
    struct rate rate; /* of callers who are no administrators */
    struct leader_questions questions; /* likewise */
    struct reader_pool *readers;       /* owned */
    struct log_hub *log_hub;           /* owned; of executors' log streams */
    struct exec_table *exec_table;     /* owned; of sessions in jobs */
    struct spec_cache *specs;    /* owned; what the store has not got yet */
    struct event_hub *hub;       /* owned; of event streams */
    struct event_hub *lease_hub; /* owned; of lease streams */
    _Atomic int behind_count;    /* lease streams that await the projector */
    const struct method *table;  /* of methods.h, [method_count] */
    struct rpc_method *methods;  /* owned, [method_count] */
    struct bound_method *bound;  /* owned, [method_count] */
    uint32_t method_count;
    pthread_mutex_t zones_lock;        /* of periodic/zones.h */
    uint64_t periodic_healed_ns;       /* of the thread of periodic jobs */
    bool is_backup_copying;            /* atomic */
    atomic_int backup_count;           /* of them, each with a thread */
    _Atomic int64_t cpu_per_gpu_milli; /* in force: of TrainingJobs */
};
