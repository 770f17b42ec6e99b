/* How long the work on a course may go on. */
#include "control/state/state.h"
#include "control/what_if/private.h"

int what_if_check_stop(const struct what_if *what_if, struct err *err)
{
    const bool *is_stopping = what_if->bounds.is_stopping;

    return is_stopping && __atomic_load_n(is_stopping, __ATOMIC_RELAXED)
               ? err_set(err, -ERR_UNAVAILABLE, "the server is stopping")
               : 0;
}

int what_if_check(struct what_if *what_if, struct err *err)
{
    const struct clock *clock = what_if->bounds.clock;

    int64_t most_ms = what_if->bounds.work_ms_max;
    uint64_t most_ns =
        (uint64_t)(most_ms ? most_ms : WHAT_IF_WORK_MS_MAX) * NS_PER_MS;

    what_if->is_cut |=
        clock && clock->mono_ns(clock) - what_if->work_began_ns > most_ns;
    int rc = what_if_check_stop(what_if, err);
    if (rc == 0 && what_if->is_cut) {
        rc = err_set(err, -ERR_LIMIT,
                     "the work on this what-if takes more than %d ms; ask for "
                     "fewer changes, or when fewer jobs wait",
                     WHAT_IF_WORK_MS_MAX);
    }
    return rc;
}
