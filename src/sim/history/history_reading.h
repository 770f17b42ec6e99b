/*
 * history_reading - a log while a history is read from it; for history_read.c
 * and history_jobs.c only.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "sim/history/history_private.h"
#include "wire/log/log_codec.h"

/* What is known of a job's present run while the log is read. */
struct reading_job {
    int64_t leased_ms, began_ms; /* -1: not */
};

struct reading {
    struct history *history;
    struct err *err;
    struct arena scratch; /* of a record */
    int64_t now_ms;
    uint64_t seq;
    struct map job_by_id;
    struct intern kinds, queues, executors, nodes;
    VEC(struct reading_job) runs; /* by job */
    uint32_t request;
    uint64_t request_key; /* of the last submission: record and sequence */
    double start_ms_sum;
    uint64_t start_count;
};

/* A queue by its name, made when new. */
uint32_t history_queue_of(struct reading *reading, struct str name);
/* A job was submitted; beyond HISTORY_JOBS_MAX, or where its class fits
 * nowhere, it is left out. */
void history_add_job(struct reading *reading, const struct log_item *item);
/* Note what an event says of a job and its run. */
void history_note_job(struct reading *reading, const struct event *event);
