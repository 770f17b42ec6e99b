/*
 * failure_class - names a failed pod's category by the executor's rules
 * (model/failure.h), for its reports.
 *
 * Threads: one owner.
 */
#pragma once

#include "executor/runtime.h"
#include "model/failure.h"

struct failure_class {
    struct str category, subcategory; /* borrowed from the rules; "": none */
    bool is_default;                  /* no rule matched */
};

struct failure_classes;

/* Takes up `rules`, which are borrowed until failure_classes_destroy().
 * NULL, with a text: a pattern of theirs cannot be used. */
struct failure_classes *
failure_classes_create(const struct failure_rules *rules,
                       struct err *err) must_check;

/* Free it.  NULL is fine. */
void failure_classes_destroy(struct failure_classes *classes);
DEFINE_AUTO(failure_classes, failure_classes_destroy)

/* The names that the rules give to a pod that failed.  What the executor did
 * or found itself (it stopped, lost or refused the pod; the node is lost, or
 * did not take it) is not theirs to name: the server decides by Armada's names
 * for that.  False: no names are given. */
bool failure_classify(const struct failure_classes *classes,
                      const struct runtime_status *status,
                      struct failure_class *ret_class);
