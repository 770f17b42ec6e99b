/*
 * job_query - what the queries of the service Jobs share: a bound on each
 * query, and the readers that it borrows.
 *
 * Threads: one thread uses a query.
 */
#pragma once

#include "api/core/api_call.h"
#include "api/core/reader_pool.h"
#include "api/core/view.h"
#include "armada/job.pb-c.h"
#include "store/store.h"

/* One query: a call and the readers that it borrowed. */
struct job_query {
    struct api_call *call;
    struct arena *arena; /* the call's */
    struct readers *readers;
    struct err err;
};

/* Begin a query of `count` ids, which the request calls `ids`; false: the call
 * is over. */
bool job_query_begin(struct job_query *query, struct api_call *call,
                     size_t count, const char *ids) must_check;

/* Find a job that the caller may see: as store_job(), and 0 if they may
 * not. */
int job_query_find(struct job_query *query, struct job_id id,
                   struct stored_job *ret_job) must_check;

/* End a query: with the reply, or (`rc` < 0) with what the store failed
 * with. */
void job_query_end(struct job_query *query, int rc,
                   const ProtobufCMessage *reply);

/* A state of a job, as clients know it. */
Api__JobState job_query_state(enum stored_job_state state) must_check;
