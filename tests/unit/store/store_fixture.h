/*
 * store_fixture - a store of its own for each test, and the events of jobs that
 * it is given; for test_store*.c.
 */
#pragma once

#include "store_world.h"
#include "unit.h"

/* When job 0 was submitted, in ms. */
enum { T0 = 1000000 };

/* The id of job `n`. */
struct job_id store_job_at(int64_t n);
/* Job `n` is submitted to a job set of queue q. */
void store_submit_as(struct store_world *world, int64_t n, const char *set,
                     const char *client_id, const char *uri);
/* To job set "set". */
void store_submit_plain(struct store_world *world, int64_t n);
/* An event about job `n`; its first run if it has one. */
struct event store_event_about(enum event_type type, int64_t n, int64_t at_ms);
/* Add an event of that job set. */
void store_add_event(struct store_world *world, struct event event);
/* Job `n` is leased. */
void store_add_lease(struct store_world *world, int64_t n, uint32_t attempt,
                     int64_t at_ms);
/* The job as the store has it. */
struct stored_job store_job_of(struct store_world *world, int64_t n,
                               struct arena *arena);

#define assert_str(s, text) assert_true(str_equal((s), str_of(text)))

/* A store; for cmocka. */
int store_set_up(void **state);
/* Free it; for cmocka. */
int store_tear_down(void **state);
