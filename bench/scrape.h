/*
 * scrape - how long Prometheus waits for /metrics of a server with many queues
 * and nodes, and how much it reads.
 */
#pragma once

#include "rpc/rpc_channel.h"

enum { SCRAPE_NODES = 10000, SCRAPE_QUEUES = 1000 };

/* Make the queues, start two jobs of each on nodes that are already coming,
 * wait until all are leased, then read /metrics of `http` (HOST:PORT) often:
 * `ret_ms` is the median time, `ret_bytes` how long the last answer was.
 * Aborts with a message if something fails. */
void scrape_measure(struct rpc_channel *channel, const char *http,
                    double *ret_ms, double *ret_bytes);
