/*
 * lease_fixture - the API behind a real server, with a leader that says what an
 * executor is to do; for test_lease*.c.
 */
#pragma once

#include "api_fixture.h"
#include "armada/executorapi.pb-c.h"
#include "control/command/session.h"

/* What the leader of these tests has to say, and what it heard. */
struct leader_says {
    struct job_id jobs[4];
    uint32_t job_count;
    struct run_id cancel; /* none: no cancels */
    struct exchange_request heard;
    _Atomic uint32_t exchange_count; /* the test waits for these */
    uint32_t run_count;
    struct exchange_session *session;
    _Atomic uint32_t session_end_count;
    enum command_result result;
    /* What it does when the test next waits for it (fixture_settle). */
    struct job_id to_push;
    bool is_to_release;
};

/* What the leader does with a command; on its thread. */
void lease_on_exchange(struct fixture *f, struct command *command);
/* A fixture with such a leader and a queue q. */
void lease_begin(struct fixture *f, struct leader_says *says);
/* Submit a job to q. */
struct job_id lease_submit(struct fixture *f);
/* Open a lease stream and say this, without closing our side. */
struct rpc_stream *lease_ask(struct fixture *f,
                             const Executorapi__LeaseRequest *request);
/* What comes next on it; NULL: it has ended. */
Executorapi__LeaseStreamMessage *lease_next(struct fixture *f,
                                            struct rpc_stream *stream);
