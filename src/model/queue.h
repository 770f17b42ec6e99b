/*
 * queue - a tenant: the unit between which resources are shared.
 *
 * Permissions are not here: only the API looks at them, on the message that
 * the client sent.  Pure; strings and arrays are borrowed.
 */
#pragma once

#include "base/str.h"

enum {
    QUEUES_MAX = 1 << 20,
    QUEUE_NAME_BYTES_MAX = 1024,
    QUEUE_LIMITS_MAX = 256,
    FRACTION_ONE_PPM = 1000000,
    PRIORITY_FACTOR_ONE_MICRO = 1000000,
};

/* At most `fraction_ppm` millionths of a pool's `resource` for the queue's
 * jobs of one priority class; pool "" stands for every pool. */
struct queue_limit {
    struct str priority_class;
    struct str pool;
    struct str resource;
    int64_t fraction_ppm;
};

struct queue_record {
    struct str name;
    int64_t priority_factor_micro; /* >= 10^6; the weight is its inverse */
    bool is_cordoned;
    const struct queue_limit *limits;
    uint32_t limit_count;
};
