/*
 * pools_fixture - a leader with pools as objects, nodes in them, and jobs that
 * go there; for test_pools*.c.
 */
#pragma once

#include "armada/queue.pb-c.h"
#include "leader_stage.h"
#include "unit.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"

/* A leader that leads; for cmocka. */
int pools_setup(void **state);
/* Check and free it; for cmocka. */
int pools_teardown(void **state);
/* Set a pool, and wait for the answer. */
void pools_put(struct stage *s, const struct pool_record *record);
/* Delete a pool, likewise. */
void pools_drop(struct stage *s, const char *name);
/* All pools as text: "default a b". */
void pools_assert_all(struct stage *s, const char *expected);
/* The leader goes and comes again: all is as it was. */
void pools_restart(struct stage *s);
/* Nodes n0, n1, ... of 10 cpu, each with the label of its pool; "": none.  The
 * last may have more. */
void pools_offer_up_to(struct stage *s, const char *const *labels,
                       uint32_t count, int64_t last_cpu_milli);
/* A pool that selects the label of its name. */
void pools_select(struct stage *s, const char *name, bool is_sharing_off);
/* Jobs of a pool that are requeued when they are preempted; the last one. */
struct job_id pools_submit_of(struct stage *s, const char *pool,
                              const char *priority_class, uint32_t count);
/* Of class armada-default. */
struct job_id pools_submit(struct stage *s, const char *pool, uint32_t count);
/* Let rounds pass until nothing moves any more. */
void pools_settle(struct stage *s);
/* How a pool stands; borrowed until the next answer. */
struct pool_row pools_row(struct stage *s, const char *name);
/* How many jobs run in a pool: its own, and borrowers. */
void pools_assert_runs(struct stage *s, const char *pool, uint32_t own,
                       uint32_t foreign);
