/*
 * loop_fixture - the executor's loop over a fake runtime and a server of a few
 * lines, on a clock that the test moves.
 */
#pragma once

#include "executor/fake/fake.h"
#include "executor/loop/executor.h"
#include "server.h"
#include "support.h"

/* One executor; the test starts it. */
struct loop_fixture {
    struct test_clock clock;
    struct server server;
    struct fake_options fake;
    struct executor_options options;
    struct runtime *runtime;
    struct executor *executor;
};

/* What stands before the fake runtime's create, stop and ack. */
struct loop_stub {
    const struct runtime_ops *real;
    int create_count, ack_count;
    bool has_long_grace;   /* a pod goes on until loop_end_stopped() */
    struct run_id stopped; /* the last that was told to end meanwhile */
};
extern struct loop_stub loop_stub;
/* The grace of the pod that was told to end is over. */
void loop_end_stopped(struct loop_fixture *fixture);

/* For cmocka: the fixture is `*state`, its options may be changed. */
int loop_set_up(void **state);
/* See above. */
int loop_tear_down(void **state);
/* Open the runtime anew, with the options as they are now. */
void loop_open(struct loop_fixture *fixture);
/* Make the executor. */
void loop_start(struct loop_fixture *fixture);
/* Step until `ms` have passed, moving the clock to each wake. */
void loop_run_for(struct loop_fixture *fixture, int64_t ms);
/* What the server was told of a job, a letter each. */
const char *loop_events_of(const struct loop_fixture *fixture, uint32_t job);

/* A test that has the fixture. */
#define LOOP_TEST(name) \
    cmocka_unit_test_setup_teardown(name, loop_set_up, loop_tear_down)
