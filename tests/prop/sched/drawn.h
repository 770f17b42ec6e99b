/*
 * drawn - what several properties draw for jobs of a world (world.h).
 */
#pragma once

#include "prop.h"
#include "world.h"

/* One of the world's classes; not the default one once in `odds` times. */
const char *drawn_class(struct tape *tape, int odds);

/* How terms are drawn. */
struct drawn_terms {
    int sub_group_count_max;
    int capped_in;     /* a sub-group has a cap on hops once in so many times */
    bool may_wait_out; /* which may end after a wait */
};
/* Terms of a gang: sub-groups that may grow, whole nodes, a freezing window. */
void drawn_terms(struct tape *tape, const struct drawn_terms *how,
                 struct gang_terms *ret_terms);
