/*
 * change_text - the texts by which command lines name changes of a what-if:
 *
 *     --set queue.NAME.weight=2
 *     --set class.NAME.priority=500
 *     --set class.NAME.limit.RESOURCE=0.5
 *     --add-nodes 2=NODE
 *
 * Only the form is checked here: whoever makes the change knows the queues,
 * classes and nodes, and which weights and fractions there are.
 *
 * Pure.  What is read points into the text.
 */
#pragma once

#include "base/base.h"
#include "base/str.h"

enum { CHANGE_NODES_MAX = 100000 };

enum change_kind { CHANGE_WEIGHT, CHANGE_PRIORITY, CHANGE_LIMIT };

/* What one --set says. */
struct change_set {
    enum change_kind kind;
    struct str name;     /* of a queue (CHANGE_WEIGHT), or a class; not "" */
    struct str resource; /* CHANGE_LIMIT; not "" */
    double value;        /* finite; CHANGE_PRIORITY: an int32_t */
};

/* Read one --set.  -ERR_INVALID says what --set takes. */
int change_read_set(const char *text, struct change_set *ret_set,
                    struct err *err) must_check;
/* Say that --set does not take this text: -ERR_INVALID. */
int change_refuse_set(const char *text, struct err *err);

/* So many more nodes like another. */
struct change_nodes {
    uint32_t count;   /* 1 to CHANGE_NODES_MAX */
    const char *like; /* "": it does not say which */
};

/* Read one --add-nodes.  -ERR_INVALID says what it takes. */
int change_read_nodes(const char *text, struct change_nodes *ret_nodes,
                      struct err *err) must_check;
