/*
 * log_fixture - a job, its run and their scope, and what a walk through a
 * payload has seen; for test_log_*.c.
 */
#pragma once

#include "armada/armadaevents.pb-c.h"
#include "armada/queue.pb-c.h"
#include "berth/log.pb-c.h"
#include "unit.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

/* Ids as texts. */
#define JOB_TEXT "01h2xcejqtf2nbrexx3vqjhp41"
#define RUN_TEXT "123e4567-e89b-12d3-a456-426614174000"

/* The job of JOB_TEXT. */
struct job_id log_job(void);

/* Of a job set. */
static const struct event_scope log_scope = {
    .queue = {"q", 1}, .job_set = {"set", 3}, .user = {"ann", 3}};

/* Items of a payload, in order; they borrow from the arena. */
enum { SEEN_MAX = 16 };

struct seen {
    struct log_item items[SEEN_MAX];
    uint32_t count;
};

/* For log_decode(): `ctx` is a struct seen. */
int log_remember(const struct log_item *item, void *ctx);

/* What becomes of an event on its way through a batch; it must come out as
 * the same bytes. */
struct event log_round_trip(const struct event *event, struct arena *arena);
