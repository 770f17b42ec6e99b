/*
 * depends - the other jobs that the jobs of a request wait for: annotation
 * berth.dev/dependsOn, as ids that the leader can look up.
 *
 *     TARGET[:WANT],...     TARGET   a job's id, or client/CLIENT_ID
 *                           WANT     succeeded (default), ended or failed
 *
 * A job may only depend on existing jobs of the same queue, or on earlier jobs
 * of the request, so there can be no cycles.  A dependency that is already met
 * is dropped; one that can no longer be met is refused.
 *
 * Threads: any; the readers are the caller's.
 */
#pragma once

#include "api/core/reader_pool.h"
#include "api/core/refusal.h"
#include "base/arena.h"
#include "berth/submission.pb-c.h"
#include "model/digest.h"

/* One job that an item waits for. */
struct depend {
    uint32_t item;    /* one more than that of the earlier item; 0: `on` */
    struct job_id on; /* a job that was submitted before */
    bool is_known;    /* the store has it, and it had not ended there */
    enum job_want want;
};

/* Those of one item. */
struct depends {
    struct depend *items;
    uint32_t count;
};

/* Whether any item says that it waits for others. */
bool depends_are_given(const Berth__Submission__Request *request);

/* Find them, by item, in the arena.  -ERR_INVALID with the refusal, or what
 * the store failed with. */
int depends_resolve(const Berth__Submission__Request *request,
                    struct readers *readers, struct arena *arena,
                    const struct depends **ret_depends,
                    struct refusal *refusal) must_check;
