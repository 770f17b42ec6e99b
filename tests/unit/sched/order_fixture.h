/*
 * order_fixture - a queue Q that is ordered by the states of its applications,
 * in a world of its own; for test_sched_order*.c.
 */
#pragma once

#include "world_fixture.h"

/* Times in ms. */
enum {
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    ONE_ROUND = 1 << 20,
};

/* What Q is. */
static const struct queue_record ORDER_BY_STATE = {.ordering =
                                                       QUEUE_BY_STATEAWARE};

/* The world, with Q; for cmocka. */
int order_setup(void **state);
/* Its one node. */
void order_node(struct world *world, int64_t cores);
/* An application asks for one more core. */
uint32_t order_ask(struct world *world, const char *application,
                   int64_t submitted_ms);
/* A fast round. */
void order_round(struct world *world, int64_t now_ms);
/* What is known of an application of Q; its state NEW when it is unknown. */
struct sched_application order_app(const struct world *world, const char *id,
                                   int64_t now_ms);
/* The state of an application of Q. */
enum sched_app_state order_state_of(const struct world *world, const char *id,
                                    int64_t now_ms);
/* Whether a job has a lease. */
bool order_has_node(const struct world *world, uint32_t job);
