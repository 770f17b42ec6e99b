/*
 * failure - the rules by which an executor names a failed pod's category and
 * subcategory, Armada's errorCategories (armada-api.md 2.3).
 *
 * Pure; strings and arrays are borrowed.
 */
#pragma once

#include "base/str.h"

enum {
    FAILURE_NAME_BYTES_MAX = 63, /* Armada's store holds no longer ones */
};

/* What a rule looks at. */
enum failure_sign {
    FAILURE_EXIT_CODE,           /* of a container that failed */
    FAILURE_TERMINATION_MESSAGE, /* of a container that failed */
    FAILURE_POD_ERROR,           /* why the pod could not run or was ended */
    FAILURE_CONDITION,           /* any of `conditions` */
};

/* A set of these is what a rule names in onConditions. */
enum failure_condition {
    FAILURE_OOM_KILLED = 1,
    FAILURE_EVICTED = 2,
    FAILURE_DEADLINE_EXCEEDED = 4,
};

struct failure_rule {
    struct str category, subcategory; /* that it gives */
    struct str container; /* only this one's exit and message; "": any */
    enum failure_sign sign;
    const int32_t *exit_codes; /* sorted; without 0 */
    uint32_t exit_code_count;
    bool is_not_in;     /* any other exit code */
    struct str pattern; /* of a message: wire/text/pattern.h */
    uint32_t conditions;
};

/* The first rule that matches gives its names; where none does, the defaults
 * hold. */
struct failure_rules {
    const struct failure_rule *items;
    uint32_t count;
    struct str default_category, default_subcategory; /* "": none */
};
