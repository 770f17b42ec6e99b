/* Jobs whose executor does not report. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

enum { MS_PER_S = 1000 };

/* The executor of a job's run if it is silent, or NULL. */
static const struct control_executor *silent_one(const struct control *c,
                                                 const struct job_view *view)
{
    const struct control_executor *executor =
        view->has_run ? control_find_executor(c, view->run.executor_id) : NULL;

    return executor && executor_is_silent(c, executor) ? executor : NULL;
}

void silent_put(struct strbuf *buf, const struct control *c,
                const struct job_view *view)
{
    const struct control_executor *executor = silent_one(c, view);

    if (!executor) {
        return;
    }
    strbuf_addf(buf,
                "%s executor %.*s, which last reported %" PRId64
                " s ago. If it is silent for %" PRId64
                " s (executorLostTimeout), the run is lost.\n",
                view->state == JOB_LEASED ? "The lease waits for"
                                          : "There are no reports from",
                STR_ARG(executor->id),
                executor_silent_ms(c, executor) / MS_PER_S,
                c->policy->policy.executor_lost_timeout_ms / MS_PER_S);
}

void silent_put_json(struct strbuf *buf, const struct control *c,
                     const struct job_view *view)
{
    const struct control_executor *executor = silent_one(c, view);

    if (executor) {
        strbuf_addf(buf, ",\"executorSilentMs\":%" PRId64,
                    executor_silent_ms(c, executor));
    }
}
