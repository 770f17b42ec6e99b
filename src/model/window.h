/*
 * window - a maintenance window: a time in which nodes start no jobs, and
 * before which they start only what surely ends by then.
 *
 * Times are in ms since 1970.  Pure.  Strings and arrays are borrowed.
 */
#pragma once

#include "model/requirement.h"

enum {
    WINDOWS_MAX = 256,
    WINDOW_NAMES_MAX = 1000,     /* of executors, of nodes and of pools */
    WINDOW_NAME_BYTES_MAX = 253, /* of such a name */
    WINDOW_REASON_BYTES_MAX = 512,
    WINDOW_BYTES_MAX = 64 << 10, /* of a window, encoded: of its records */
    WINDOW_REPEAT_S_MIN = 3600,  /* each time is a record, and a fold of all */
};

struct window_record {
    struct str name, reason;
    int64_t begin_ms, end_ms; /* 0 < begin < end */
    int64_t repeat_ms; /* at its end it is moved on by so long; 0: it goes */
    int64_t lead_ms;   /* so long before it what has no limit starts no more */
    /* Its nodes: all that is named must hold; without names it does. */
    const struct str *executors, *nodes, *pools; /* sorted */
    uint32_t executor_count, node_count, pool_count;
    const struct label *labels; /* sorted by key */
    uint32_t label_count;
};

/* A node, as windows ask about it. */
struct window_node {
    struct str executor, name, pool;
    const struct label *labels; /* sorted by key */
    uint32_t label_count;
};

/* Whether a window is about a node. */
bool window_record_covers(const struct window_record *window,
                          const struct window_node *node) must_check;
/* Whether what would start now, with this time limit (INT64_MAX: none), would
 * run into the window. */
bool window_record_bars(const struct window_record *window, int64_t now_ms,
                        int64_t limit_ms) must_check;
