#include "model/periodic.h"

enum { MS_PER_S = 1000 };

static const char *const policy_names[] = {
    [PERIODIC_ALLOW] = "Allow",
    [PERIODIC_FORBID] = "Forbid",
    [PERIODIC_REPLACE] = "Replace",
};

static const char *const outcome_names[] = {
    [PERIODIC_NONE] = "",           [PERIODIC_SUBMITTED] = "Submitted",
    [PERIODIC_SKIPPED] = "Skipped", [PERIODIC_MISSED] = "Missed",
    [PERIODIC_REFUSED] = "Refused",
};

const char *periodic_policy_name(enum periodic_policy policy)
{
    ASSERT((size_t)policy < ARRAY_COUNT(policy_names));
    return policy_names[policy];
}

int periodic_policy_of_name(struct str name, enum periodic_policy *ret_policy)
{
    for (size_t i = 0; i < ARRAY_COUNT(policy_names); i++) {
        if (str_equal(name, str_of(policy_names[i])) ||
            (name.byte_count == 0 && i == PERIODIC_ALLOW)) {
            *ret_policy = (enum periodic_policy)i;
            return 0;
        }
    }
    return -ERR_INVALID;
}

const char *periodic_outcome_name(enum periodic_outcome outcome)
{
    ASSERT((size_t)outcome < ARRAY_COUNT(outcome_names));
    return outcome_names[outcome];
}

int64_t periodic_next_ms(const struct periodic_terms *terms, int64_t now_ms)
{
    int64_t next_s;

    return cron_next(&terms->cron, terms->zone, now_ms / MS_PER_S, &next_s)
               ? next_s * MS_PER_S
               : 0;
}

int64_t periodic_heal_ms(const struct periodic_terms *terms, int64_t due_ms,
                         int64_t last_ms, int64_t now_ms)
{
    if (due_ms <= now_ms || last_ms <= now_ms + PERIODIC_AHEAD_MS) {
        return 0;
    }
    int64_t next_ms = periodic_next_ms(terms, now_ms);
    return next_ms > 0 && next_ms < due_ms ? next_ms : 0;
}

/* The last moment that has come.  If the zone has changed since `due_ms` was
 * found, there may be none; then it is that. */
static int64_t last_moment_ms(const struct periodic_terms *terms,
                              int64_t due_ms, int64_t now_ms)
{
    int64_t last_s;

    return cron_last(&terms->cron, terms->zone, due_ms / MS_PER_S - 1,
                     now_ms / MS_PER_S, &last_s)
               ? last_s * MS_PER_S
               : due_ms;
}

static void pass(struct periodic_step *step, enum periodic_outcome outcome,
                 const char *text)
{
    step->what = PERIODIC_PASS;
    step->outcome = outcome;
    step->text = text;
}

struct periodic_step periodic_decide(const struct periodic_terms *terms,
                                     int64_t due_ms, int64_t now_ms,
                                     uint32_t live_run_count)
{
    struct periodic_step step = {
        .what = PERIODIC_SUBMIT,
        .moment_ms = last_moment_ms(terms, due_ms, now_ms),
        .next_ms = periodic_next_ms(terms, now_ms),
        .is_replacing = terms->policy == PERIODIC_REPLACE && live_run_count > 0,
    };
    bool is_blocked = terms->policy == PERIODIC_FORBID && live_run_count > 0;

    ASSERT(due_ms > 0 && due_ms <= now_ms);
    if (terms->deadline_ms > 0 &&
        now_ms - step.moment_ms > terms->deadline_ms) {
        if (is_blocked) {
            pass(&step, PERIODIC_SKIPPED,
                 "the run before it had not ended (concurrencyPolicy Forbid)");
        } else {
            pass(&step, PERIODIC_MISSED,
                 "startingDeadlineSeconds had passed when the server could "
                 "submit it");
        }
    } else if (is_blocked && terms->deadline_ms > 0) {
        step.what = PERIODIC_WAIT;
    } else if (is_blocked) {
        pass(&step, PERIODIC_SKIPPED,
             "the run before it had not ended (concurrencyPolicy Forbid)");
    } else if (live_run_count >= PERIODIC_RUNS_MAX && !step.is_replacing) {
        pass(&step, PERIODIC_SKIPPED,
             "too many runs before it have not ended (16)");
    }
    return step;
}
