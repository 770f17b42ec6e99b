/* Why a job waits, as sentences. */
#include "control/explain/explain.h"

#include <inttypes.h>

#include "control/explain/amounts.h"
#include "control/state/state.h"

enum { MILLI = 1000 };

static const char *const exclusion_texts[SCHED_EXCLUSIONS] = {
    [SCHED_EXCLUDED_POOL] = "belong to another pool",
    [SCHED_EXCLUDED_EXECUTOR] = "belong to an executor that gets no new jobs",
    [SCHED_EXCLUDED_UNSCHEDULABLE] = "are cordoned or gone",
    [SCHED_EXCLUDED_QUARANTINED] =
        "are in quarantine because too many jobs failed there",
    [SCHED_EXCLUDED_TAINT] = "have a taint that the job does not tolerate",
    [SCHED_EXCLUDED_SELECTOR] = "do not match the node selector",
    [SCHED_EXCLUDED_AFFINITY] = "do not match the node affinity",
    [SCHED_EXCLUDED_AVOIDED] = "already failed this job",
    [SCHED_EXCLUDED_UNIFORMITY] = "lack the gang's node label",
    [SCHED_EXCLUDED_FAR] =
        "are in another cluster than its gang, or too far from it",
    [SCHED_EXCLUDED_TOO_SMALL] = "are too small even when empty",
    [SCHED_EXCLUDED_FULL] = "do not have enough free",
    [SCHED_EXCLUDED_RESERVED] = "are reserved for a job that it would delay",
    [SCHED_EXCLUDED_HELD] = "are reserved exclusively for one group",
};

static const char *const wait_texts[] = {
    [SCHED_WAIT_NOT] = "It has a node.",
    [SCHED_WAIT_TURN] = "It fits. The next round decides about it.",
    [SCHED_WAIT_GANG] = "Its gang is not complete.",
    [SCHED_WAIT_QUEUE_CORDONED] = "Its queue is cordoned or was deleted.",
    [SCHED_WAIT_NO_NODES] = "Its pools have no nodes.",
    [SCHED_WAIT_NEVER_FITS] = "It does not fit on any node, even an empty one.",
    [SCHED_WAIT_CAPACITY] = "Every node where it could run is full. It fits "
                            "once other jobs have ended.",
    [SCHED_WAIT_GANG_CAPACITY] = "Too few members of its gang fit at once.",
    [SCHED_WAIT_QUEUE_LIMIT] =
        "Its queue has reached its limit for this priority class.",
    [SCHED_WAIT_RATE] =
        "The limit on job starts per second, over all queues, is reached.",
    [SCHED_WAIT_QUEUE_RATE] =
        "Its queue has reached its limit on job starts per second.",
    [SCHED_WAIT_RESOURCE_RATE] = "The pool has reached its limit on resources "
                                 "for new jobs in this period.",
    [SCHED_WAIT_LOOKBACK] =
        "Too many jobs of its queue are ahead of it (maxQueueLookback).",
    [SCHED_WAIT_APP_STARTING] = "Its queue starts one application at a time.",
    [SCHED_WAIT_APP_TURN] = "Another application of its queue starts before "
                            "its own.",
    [SCHED_WAIT_APP_LIMIT] =
        "Its queue already runs as many applications as its limit allows.",
    [SCHED_WAIT_APP_NEED] = "An older application of its queue needs the "
                            "resources that it would take.",
    [SCHED_WAIT_ADMITTED] = "It is admitted: it starts as soon as there is "
                            "room, before all jobs behind it.",
    [SCHED_WAIT_RESERVED] = "It is admitted, and nodes are reserved for it.",
    [SCHED_WAIT_PASSED] = "Wherever it fits, it would delay an admitted job.",
    [SCHED_WAIT_OVER_SHARE] = "It would put its queue too far above its share "
                              "with work that cannot be preempted.",
    [SCHED_WAIT_BUDGET] =
        "Its queue has too little excess budget left for work above its share.",
    [SCHED_WAIT_FLOATING] = "Its pools have too little left of a resource that "
                            "is not tied to a node.",
    [SCHED_WAIT_TOPOLOGY] =
        "Too few members of a sub-group fit as close together as it requires.",
    [SCHED_WAIT_QUOTA] = "It, or the members that its gang must start at once, "
                         "would exceed its queue's quota.",
    [SCHED_WAIT_GROWTH] =
        "Its group already runs the members that it requires. It grows when "
        "there is room that no other job needs.",
    [SCHED_WAIT_CLOSED] =
        "No node that could hold it takes new work: each is cordoned, in "
        "quarantine, or belongs to an executor that gets no new jobs.",
    [SCHED_WAIT_LOAD] =
        "It would push the pool's load above the ceiling (elasticMaxLoad).",
    [SCHED_WAIT_FROZEN] =
        "Its group grew or shrank recently and may not change again yet.",
    [SCHED_WAIT_AWAY] =
        "Its group runs on borrowed nodes. It grows only in its own pool.",
    [SCHED_WAIT_ROUND] =
        "The last round reached its limit (maxSchedulingDuration) before this "
        "job. The next round continues there.",
    [SCHED_WAIT_COOLDOWN] =
        "It is under a cooldown: it preempted for fairness, or was preempted "
        "for an admitted job that it had passed. It may not preempt for "
        "fairness for a while.",
    [SCHED_WAIT_RESERVED_SOON] =
        "Its queue is due a larger share, but the places that it could take "
        "are reserved for an admitted job that starts too soon to make a "
        "preemption worthwhile.",
    [SCHED_WAIT_PRICE] =
        "Its queue is due a larger share, but it has not waited long enough "
        "for what it would preempt (preemptionPrice).",
    [SCHED_WAIT_GANG_PROTECTION] =
        "Its queue is due a larger share, but only a protected gang could make "
        "room: without it, that gang's own queue would be no nearer to its "
        "share.",
    [SCHED_WAIT_ADMITTED_FIRST] =
        "An admitted job goes before it, and its pool starts no other job "
        "ahead "
        "of that one (strictOrder is on, or backfill is off).",
    [SCHED_WAIT_CANDIDATES] =
        "Nodes are reserved for an admitted job, and the last round tried as "
        "many jobs for backfill as its limit (backfillMaxCandidates) allows "
        "before it came to this one.",
    [SCHED_WAIT_PRIORITY] = "Other jobs of its queue go before it.",
};

const char *explain_wait_text(enum sched_wait wait)
{
    ASSERT(wait < ARRAY_COUNT(wait_texts)); /* each reason has a sentence */
    return wait_texts[wait];
}

const char *explain_exclusion_text(int exclusion)
{
    ASSERT(exclusion >= 0 && exclusion < SCHED_EXCLUSIONS);
    return exclusion_texts[exclusion];
}

void explain_put_exclusions(struct strbuf *buf,
                            const struct sched_explanation *e,
                            const char *const *texts)
{
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        /* A node is left out for one reason, and is a node of the pool. */
        ASSERT(e->nodes_excluded[i] <= e->nodes_total);
        if (e->nodes_excluded[i]) {
            bool is_given = texts && texts[i];
            strbuf_addf(buf, "  %u of %u nodes %s\n", e->nodes_excluded[i],
                        e->nodes_total,
                        is_given ? texts[i] : exclusion_texts[i]);
        }
    }
}

const char *moment_put(int64_t ms, char text[WIRE_RFC3339_TEXT_BYTES_MAX])
{
    return wire_rfc3339_format(ms / MILLI, (int32_t)(ms % MILLI) * NS_PER_MS, 3,
                               text);
}

/* What of the queue's applications keeps it back. */
static void put_application(struct strbuf *buf,
                            const struct sched_explanation *e)
{
    char since[WIRE_RFC3339_TEXT_BYTES_MAX];
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->wait == SCHED_WAIT_APP_STARTING) {
        strbuf_addf(
            buf,
            "Application %.*s has been Starting since %s. That ends when a "
            "second job of it is leased, when it has no jobs left, or at %s.\n",
            STR_ARG(e->application), moment_put(e->since_ms, since),
            moment_put(e->until_ms, until));
    } else if (e->wait == SCHED_WAIT_APP_TURN) {
        strbuf_addf(buf, "Application %.*s is the next to start.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_NEED) {
        strbuf_addf(buf, "Application %.*s gets room first.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_LIMIT) {
        strbuf_addf(buf,
                    "%" PRId64 " of at most %" PRId64
                    " applications are Starting or Running.\n",
                    e->used, e->limit);
    }
}

/* The job ahead of it that the reason is about. */
static void put_behind(struct strbuf *buf, const struct control *c,
                       const struct sched_explanation *e)
{
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;

    if (e->behind != SCHED_NONE) {
        jobs_get(c->jobs, e->behind, &view);
        strbuf_addf(
            buf, "Job %s, which is ahead of it, waits for the same reason.\n",
            job_id_format(view.id, id));
    }
}

/* Limits on what is above a share, in numbers. */
static void put_share(struct strbuf *buf, const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];
    bool is_share = e->wait == SCHED_WAIT_OVER_SHARE;

    if (!is_share && e->wait != SCHED_WAIT_BUDGET) {
        return;
    }
    if (is_share) {
        strbuf_addf(buf,
                    "Such work of its queue would take %.4g%% of pool %.*s, "
                    "including past use; the limit is %.4g%%.\n",
                    e->asked * 100, STR_ARG(e->pool), e->allowed * 100);
    } else {
        strbuf_addf(buf,
                    "It would be charged %.6g resource-minutes; %.6g are left "
                    "in pool %.*s.\n",
                    e->asked, e->allowed, STR_ARG(e->pool));
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf, "If nothing else changes, this ends at %s.\n",
                    moment_put(e->until_ms, until));
    }
}

/* When a cooldown ends. */
static void put_cooldown(struct strbuf *buf, const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->wait != SCHED_WAIT_COOLDOWN) {
        return;
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf,
                    "The cooldown ends at %s. The job starts sooner if room "
                    "becomes free.\n",
                    moment_put(e->until_ms, until));
    } else {
        strbuf_add_text(
            buf,
            "The cooldown ends when a job, node or queue is added, changes or "
            "ends. The job starts sooner if room becomes free.\n");
    }
}

/* What it would have to preempt, and when it will have waited for that. */
static void put_price(struct strbuf *buf, const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->wait != SCHED_WAIT_PRICE) {
        return;
    }
    strbuf_addf(buf,
                "The least that could make room has run and waited %.3g h, by "
                "the size of the job; so far it may preempt %.3g h.\n",
                e->asked, e->allowed);
    if (e->until_ms > 0) {
        strbuf_addf(buf,
                    "It will not have waited long enough before %s. It starts "
                    "sooner if room becomes free.\n",
                    moment_put(e->until_ms, until));
    }
}

/* How much fits near together. */
static void put_topology(struct strbuf *buf, const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];

    if (e->domain.byte_count) {
        strbuf_addf(buf,
                    "Domain %.*s of pool %.*s holds %u of %u members within "
                    "%u hops, more than any other.\n",
                    STR_ARG(e->domain), STR_ARG(e->pool), e->present, e->wanted,
                    e->hops);
    } else {
        strbuf_addf(buf,
                    "No domain of pool %.*s holds any of %u members within %u "
                    "hops.\n",
                    STR_ARG(e->pool), e->wanted, e->hops);
    }
    if (e->empty < e->wanted) {
        strbuf_addf(buf, "Even an empty domain would hold at most %u.\n",
                    e->empty);
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf, "From %s on, they may be further apart.\n",
                    moment_put(e->until_ms, until));
    }
}

/* How many of a gang are there, run, or fit. */
static void put_gang(struct strbuf *buf, const struct sched_explanation *e)
{
    const char *verb = e->wait == SCHED_WAIT_GANG     ? "are submitted"
                       : e->wait == SCHED_WAIT_GROWTH ? "run"
                                                      : "fit";

    if (e->sub_group.byte_count) {
        strbuf_addf(buf,
                    "In its sub-group %.*s, %u of the %u members that must "
                    "start at once fit.\n",
                    STR_ARG(e->sub_group), e->present, e->wanted);
    } else if (e->wait == SCHED_WAIT_GANG_CAPACITY && e->wanted > 0 &&
               e->present >= e->wanted) {
        strbuf_addf(buf,
                    "Each of %u members of its gang fits by itself, but not "
                    "all together.\n",
                    e->wanted);
    } else if (e->wanted > 0) {
        strbuf_addf(buf, "%u of %u members of its gang %s.\n", e->present,
                    e->wanted, verb);
    }
}

/* What of a limit is used, and whether it could ever be enough. */
static void put_amounts(struct strbuf *buf, const struct control *c,
                        const struct sched_explanation *e)
{
    if (e->resource < 0) {
        return;
    }
    strbuf_add_text(buf, "Used ");
    amounts_put_one(buf, c, e->resource, e->used);
    strbuf_add_text(buf, " of ");
    amounts_put_one(buf, c, e->resource, e->limit);
    strbuf_add_text(buf, ".\n");
    if (e->asked_amount > e->limit) {
        strbuf_add_text(buf, "It needs ");
        amounts_put_one(buf, c, e->resource, e->asked_amount);
        strbuf_add_text(buf, " at once, more than the whole limit. It cannot "
                             "start until the limit is raised.\n");
    }
}

void explain_put_unknown(struct strbuf *buf, const struct control *c,
                         struct str resource)
{
    const struct resource_schema *schema = &c->policy->policy.schema;
    const char *comma = "";

    strbuf_addf(buf, "It asks for %.*s, and jobs are scheduled by ",
                STR_ARG(resource));
    for (uint32_t r = 0; r < schema->column_count; r++) {
        strbuf_addf(buf, "%s%.*s", comma, STR_ARG(schema->columns[r].name));
        comma = ", ";
    }
    strbuf_add_text(buf, " alone (scheduling.supportedResourceTypes).\n");
}

static void put_details(struct strbuf *buf, struct control *c,
                        const struct sched_explanation *e)
{
    strbuf_add_text(buf, "It asks for ");
    amounts_put(buf, c, &e->needed);
    strbuf_add_text(buf, ".\n");
    if (e->unknown.byte_count) {
        explain_put_unknown(buf, c, e->unknown);
    }
    if (e->wait == SCHED_WAIT_TOPOLOGY) {
        put_topology(buf, e);
    } else {
        put_gang(buf, e);
    }
    if (e->wait == SCHED_WAIT_GROWTH) {
        strbuf_addf(buf, "Now: %s\n", wait_texts[e->growth]);
    }
    put_application(buf, e);
    promise_put_reservation(buf, c, e);
    put_behind(buf, c, e);
    put_share(buf, e);
    put_cooldown(buf, e);
    put_price(buf, e);
    put_amounts(buf, c, e);
    if (e->until_ms > 0 && e->growth == SCHED_WAIT_FROZEN) {
        char until[WIRE_RFC3339_TEXT_BYTES_MAX];
        strbuf_addf(buf, "It may change again at %s.\n",
                    moment_put(e->until_ms, until));
    }
    ASSERT(e->nodes_fit <= e->nodes_total);
    if (e->nodes_fit > 0) {
        strbuf_addf(buf, "It fits on %u of %u nodes now.\n", e->nodes_fit,
                    e->nodes_total);
    } else if (e->nearest_node != SCHED_NONE) {
        struct str name = pools_node_name(c->pools, e->nearest_node);
        strbuf_addf(buf, "Node %.*s comes nearest, with ", STR_ARG(name));
        amounts_put_room(buf, c, &e->available, &e->needed);
        strbuf_add_text(buf, ".\n");
    }
    explain_put_exclusions(buf, e, NULL);
    strbuf_addf(buf, "%u waiting %s of its queue %s ahead of it.\n", e->ahead,
                e->ahead == 1 ? "job" : "jobs", e->ahead == 1 ? "is" : "are");
}

/* When it may be preempted for that: one that is kept goes only for who has
 * too little. */
static void put_gang_over_share_time(struct strbuf *buf,
                                     const struct sched_gang_over_share *o)
{
    int64_t after_ms =
        o->lifetime_ms > o->kept_ms ? o->lifetime_ms : o->kept_ms;

    if (after_ms > 0) {
        strbuf_addf(buf, "%" PRId64 " s after its start", after_ms / MILLI);
    } else {
        strbuf_add_text(buf, "at any time");
    }
    if (o->kept_ms > 0) {
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
    strbuf_addf(buf, "%s\n", wait_texts[waiting->why.wait]);
    put_details(buf, c, &waiting->why);
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
