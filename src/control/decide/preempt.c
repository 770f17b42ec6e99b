/* The reason of a preemption, as text for its events: how, for which job, by
 * which rule of model.md 6.6, and which queue was how far over its share. */
#include "control/decide/decide.h"
#include "control/state/state.h"

/* What a queue held of a pool when a batch was formed: many of its jobs may be
 * victims, and shares are a sum over all queues. */
static const struct held_share *held_share(struct control *c, uint32_t queue,
                                           struct str pool)
{
    uint32_t count = pools_pool_count(c->pools);
    struct sched_queue_stats stats;
    uint32_t p = 0;

    while (p < count && !str_equal(pools_pool_name(c->pools, p), pool)) {
        p++;
    }
    if (p == count) {
        return NULL;
    }
    struct held_share *held =
        &c->held_shares[(queue * 31 + p) % HELD_SHARES_MAX];
    ASSERT(held->form_no <= c->form_no); /* shares of batches to come */
    if (held->form_no != c->form_no || held->queue != queue ||
        held->pool != p) {
        pools_queue_stats(c->pools, queue, p, &stats);
        *held = (struct held_share){
            .form_no = c->form_no,
            .queue = queue,
            .pool = p,
            .actual = stats.actual_share,
            .due = stats.fair_share > stats.adjusted_share
                       ? stats.fair_share
                       : stats.adjusted_share,
        };
    }
    return held;
}

/* Who loses a gang for a share that it is larger than loses it again. */
static void put_gang_over_share(struct strbuf *text, struct control *c,
                                uint32_t job)
{
    struct held_gang *held = &c->held_gang;
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    if (view.gang_index == JOBS_NONE) {
        return;
    }
    if (held->form_no != c->form_no || held->gang != view.gang_index) {
        *held =
            (struct held_gang){.form_no = c->form_no, .gang = view.gang_index};
        held->is_gang_over_share =
            pools_gang_is_over_share(c->pools, job, &held->gang_over_share);
    }
    if (held->is_gang_over_share) {
        strbuf_addf(text,
                    "; its gang alone has %.2f%%: a lifetime "
                    "(berth.dev/lifetimeSeconds) would keep it",
                    held->gang_over_share.part * 100);
    }
}

static void put_rule(struct strbuf *text, struct control *c,
                     const struct sched_decision *decision)
{
    uint32_t queue = c->handles.items[decision->job].queue;
    struct str pool = pools_node_pool(c->pools, decision->node);
    const struct held_share *held = NULL;

    /* Who goes with its gang goes by the rule of the one it follows. */
    switch (decision->preemption == SCHED_PREEMPT_GANG ? decision->cause
                                                       : decision->preemption) {
    case SCHED_PREEMPT_URGENCY:
        strbuf_add_text(text, "; rule b: that one is more urgent");
        break;
    case SCHED_PREEMPT_FAIR_SHARE:
        held = held_share(c, queue, pool);
        if (held) {
            struct str name = intern_get(&c->queue_names, queue);
            strbuf_addf(text,
                        "; rule d: queue %.*s held %.2f%% of pool %.*s, its "
                        "share is %.2f%%",
                        STR_ARG(name), held->actual * 100, STR_ARG(pool),
                        held->due * 100);
            put_gang_over_share(text, c, decision->job);
        }
        break;
    case SCHED_PREEMPT_YIELD:
        strbuf_add_text(text, "; rule e: it was let past that one");
        break;
    case SCHED_PREEMPT_HOME:
        strbuf_add_text(text, "; rule a: it is a borrower there");
        break;
    case SCHED_PREEMPT_SURPLUS:
        strbuf_add_text(text, "; rule c: its gang has its minimum without it");
        break;
    case SCHED_PREEMPT_NONE:
    case SCHED_PREEMPT_GANG:
    case SCHED_PREEMPT_SCALED:
        break;
    }
}

/* Who reads of a gang that is scaled is to know that nothing has failed. */
static void put_what_follows(struct strbuf *text, struct control *c,
                             const struct sched_decision *decision)
{
    struct job_view view;

    if (decision->preemption != SCHED_PREEMPT_SURPLUS &&
        decision->preemption != SCHED_PREEMPT_SCALED) {
        return;
    }
    jobs_get(c->jobs, decision->job, &view);
    if (view.flags & JOB_FLAG_REQUEUE_PREEMPTED) {
        strbuf_add_text(text, "; this is no failure: it waits, and runs again "
                              "when its gang grows");
    }
}

struct str preemption_reason(struct control *c,
                             const struct sched_decision *decision)
{
    static const char *const how[] = {
        [SCHED_PREEMPT_NONE] = "due to the job failing to reschedule",
        [SCHED_PREEMPT_FAIR_SHARE] = "using fair share preemption",
        [SCHED_PREEMPT_URGENCY] = "using urgency preemption",
        [SCHED_PREEMPT_GANG] = "as its gang lost a member",
        [SCHED_PREEMPT_YIELD] = "as it was let past the job that it yields to",
        [SCHED_PREEMPT_HOME] = "as its place is needed at home",
        [SCHED_PREEMPT_SURPLUS] = "ScaledDown, as its gang gives a pod up",
        [SCHED_PREEMPT_SCALED] = "ScaledDown, as its gang shrinks",
    };
    auto_strbuf text = {0};
    struct job_view view;
    char id[ID_TEXT_BYTES_MAX];

    strbuf_addf(&text, "Preempted by scheduler %s", how[decision->preemption]);
    if (decision->for_job != SCHED_NONE &&
        jobs_is_live(c->jobs, decision->for_job)) {
        jobs_get(c->jobs, decision->for_job, &view);
        strbuf_addf(&text, " - preempting job %s", job_id_format(view.id, id));
    }
    put_rule(&text, c, decision);
    put_what_follows(&text, c, decision);
    return arena_str(&c->batch.arena, strbuf_str(&text));
}
