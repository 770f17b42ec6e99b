/* Why a job waits, as sentences. */
#include "control/explain/explain.h"

#include <inttypes.h>

#include "control/state/state.h"

enum { MILLI = 1000 };

const char *moment_put(int64_t ms, char text[WIRE_RFC3339_TEXT_BYTES_MAX])
{
    return wire_rfc3339_format(ms / MILLI, (int32_t)(ms % MILLI) * NS_PER_MS, 3,
                               text);
}

/* When it may be preempted for that: one that is kept goes only for who has
 * too little. */
static void put_gang_over_share_time(struct strbuf *buf,
                                     const struct sched_gang_over_share *o)
{
    int64_t after_ms =
        o->lifetime_ms > o->protected_ms ? o->lifetime_ms : o->protected_ms;

    if (after_ms > 0) {
        strbuf_addf(buf, "%" PRId64 " s after its start", after_ms / MILLI);
    } else {
        strbuf_add_text(buf, "at any time");
    }
    if (o->protected_ms > 0) {
        strbuf_add_text(buf,
                        " if one of them has less than half of what it is due, "
                        "or sooner if its queue runs other work as well");
    }
    strbuf_add_text(buf, after_ms > 0 ? ". A longer lifetime" : ". A lifetime");
}

/* That its gang is above its queue's share whenever it runs. */
static void put_gang_over_share(struct strbuf *buf,
                                const struct waiting *waiting, bool runs)
{
    const struct sched_gang_over_share *o = &waiting->gang_over_share;

    if (!waiting->is_gang_over_share) {
        return;
    }
    strbuf_addf(buf,
                "%s gang of %u has %.4g%% of pool %.*s, but its queue may keep "
                "only %.4g%% while other queues want their shares. The whole "
                "gang %s preempted for them ",
                runs ? "Its" : "Once it starts, its", o->member_count,
                o->part * 100, STR_ARG(o->pool), o->kept * 100,
                runs ? "may be" : "may then be");
    put_gang_over_share_time(buf, o);
    strbuf_add_text(
        buf,
        " (annotation berth.dev/lifetimeSeconds) protects it for that long.\n");
}

static void put_waiting(struct strbuf *buf, struct control *c,
                        const struct waiting *waiting)
{
    strbuf_addf(buf, "%s\n", explain_wait_text(waiting->why.wait));
    explain_put_details(buf, c, &waiting->why);
    waiting_put_text(buf, c, waiting);
}

void explain_put_job(struct strbuf *buf, struct control *c, uint32_t job,
                     const struct waiting *waiting)
{
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    jobs_get(c->jobs, job, &view);
    strbuf_addf(buf, "Job %s of queue %.*s is %s.\n",
                job_id_format(view.id, id), STR_ARG(view.queue),
                job_state_name(view.state));
    pool_put_home(buf, c, job, view.has_run);
    if (view.has_run) {
        strbuf_addf(buf, "Run %u is on node %.*s of executor %.*s.\n",
                    view.run_count, STR_ARG(view.run.node_name),
                    STR_ARG(view.run.executor_id));
        silent_put(buf, c, &view);
        promise_put_yielding(buf, c, waiting);
    } else {
        put_waiting(buf, c, waiting);
    }
    put_gang_over_share(buf, waiting, view.has_run);
}
