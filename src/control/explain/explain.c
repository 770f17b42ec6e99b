/* Why a job waits, as sentences. */
#include "control/explain/explain.h"

#include <inttypes.h>

#include "control/explain/amounts.h"
#include "control/state/state.h"

enum { MILLI = 1000 };

static const char *const exclusion_texts[SCHED_EXCLUSIONS] = {
    [SCHED_EXCLUDED_POOL] = "are of another pool",
    [SCHED_EXCLUDED_EXECUTOR] = "are of an executor that gets no new jobs",
    [SCHED_EXCLUDED_UNSCHEDULABLE] = "are cordoned or gone",
    [SCHED_EXCLUDED_QUARANTINED] = "are in quarantine, as too much fails there",
    [SCHED_EXCLUDED_TAINT] = "have a taint that the job does not tolerate",
    [SCHED_EXCLUDED_SELECTOR] = "do not match the node selector",
    [SCHED_EXCLUDED_AFFINITY] = "do not match the node affinity",
    [SCHED_EXCLUDED_AVOIDED] = "were tried before, in vain",
    [SCHED_EXCLUDED_UNIFORMITY] = "lack the gang's node label",
    [SCHED_EXCLUDED_FAR] =
        "are of another cluster than its gang's nodes, or too far from them",
    [SCHED_EXCLUDED_TOO_SMALL] = "are too small even when empty",
    [SCHED_EXCLUDED_FULL] = "have too little free",
    [SCHED_EXCLUDED_RESERVED] = "are kept for a job that it would delay",
    [SCHED_EXCLUDED_HELD] = "are one group's alone",
};

static const char *const wait_texts[] = {
    [SCHED_WAIT_NOT] = "It has a node.",
    [SCHED_WAIT_TURN] = "It fits; the next round looks at it.",
    [SCHED_WAIT_GANG] = "Its gang is not complete.",
    [SCHED_WAIT_QUEUE_CORDONED] = "Its queue is cordoned or was deleted.",
    [SCHED_WAIT_NO_NODES] = "Its pools have no nodes.",
    [SCHED_WAIT_NEVER_FITS] = "It does not fit on any node, even an empty one.",
    [SCHED_WAIT_CAPACITY] = "Every node where it could run is full; it fits "
                            "when others have ended.",
    [SCHED_WAIT_GANG_CAPACITY] = "Not enough of its gang fits at once.",
    [SCHED_WAIT_QUEUE_LIMIT] = "Its queue is at its limit for its priority "
                               "class.",
    [SCHED_WAIT_RATE] = "Jobs are starting as fast as the limit allows.",
    [SCHED_WAIT_QUEUE_RATE] = "Jobs of its queue are starting as fast as the "
                              "limit allows.",
    [SCHED_WAIT_RESOURCE_RATE] = "Resources are being taken as fast as the "
                                 "limit allows.",
    [SCHED_WAIT_LOOKBACK] = "Too many jobs of its queue stand before it.",
    [SCHED_WAIT_APP_STARTING] = "Its queue starts one application at a time.",
    [SCHED_WAIT_APP_TURN] = "Another application of its queue starts before "
                            "its own.",
    [SCHED_WAIT_APP_LIMIT] = "As many applications of its queue run as the "
                             "queue allows.",
    [SCHED_WAIT_APP_NEED] = "An older application of its queue waits for what "
                            "it would take.",
    [SCHED_WAIT_ADMITTED] = "Its turn has come; it starts before what comes "
                            "after it, as soon as there is room.",
    [SCHED_WAIT_RESERVED] = "Its turn has come, and its place is reserved.",
    [SCHED_WAIT_PASSED] = "It would delay an admitted job where it fits.",
    [SCHED_WAIT_OVER_SHARE] = "Its queue would be too far above its share with "
                              "work that cannot be preempted.",
    [SCHED_WAIT_BUDGET] = "Its queue's budget for what is above its share "
                          "does not suffice.",
    [SCHED_WAIT_FLOATING] = "Its pools have too little left of a resource that "
                            "is of no node.",
    [SCHED_WAIT_TOPOLOGY] = "Not enough of a sub-group fits as near together "
                            "as it asks for.",
    [SCHED_WAIT_QUOTA] = "With it, or with what its gang needs at once, its "
                         "queue would have more than its quota.",
    [SCHED_WAIT_GROWTH] = "Its group runs with as many as it needs, and grows "
                          "when there is room that nobody needs.",
    [SCHED_WAIT_CLOSED] = "Every node that could hold it takes no work: it is "
                          "cordoned, in quarantine, or of an executor that "
                          "gets none.",
    [SCHED_WAIT_LOAD] = "The pool's load would be above its ceiling "
                        "(elasticMaxLoad).",
    [SCHED_WAIT_FROZEN] = "Its group was scaled, and is not again so soon.",
    [SCHED_WAIT_AWAY] = "Its group runs on borrowed nodes, and grows only at "
                        "home.",
    [SCHED_WAIT_ROUND] = "The last round had no time left to look at it; the "
                         "next goes on there.",
    [SCHED_WAIT_COOLDOWN] =
        "It took a place for fairness, or gave one up as it "
        "had promised, and takes none for fairness for a "
        "while.",
    [SCHED_WAIT_RESERVED_SOON] =
        "Its queue is due places of others, but they are "
        "reserved, from so soon on that nobody is to lose a "
        "run for it.",
    [SCHED_WAIT_GANG_PROTECTION] =
        "Its queue is due more, but what would have to go for "
        "it is a gang without which its own queue would be no "
        "nearer to its share.",
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
                            const struct sched_explanation *e)
{
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        /* A node is left out for one reason, and is a node of the pool. */
        ASSERT(e->nodes_excluded[i] <= e->nodes_total);
        if (e->nodes_excluded[i]) {
            strbuf_addf(buf, "  %u of %u nodes %s\n", e->nodes_excluded[i],
                        e->nodes_total, exclusion_texts[i]);
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
        strbuf_addf(buf,
                    "Application %.*s is Starting since %s, until a second "
                    "of its jobs is leased, it has none left, or %s.\n",
                    STR_ARG(e->application), moment_put(e->since_ms, since),
                    moment_put(e->until_ms, until));
    } else if (e->wait == SCHED_WAIT_APP_TURN) {
        strbuf_addf(buf, "Application %.*s is the next to start.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_NEED) {
        strbuf_addf(buf, "Application %.*s is to have room first.\n",
                    STR_ARG(e->application));
    } else if (e->wait == SCHED_WAIT_APP_LIMIT) {
        strbuf_addf(buf,
                    "%" PRId64 " of at most %" PRId64
                    " applications are Starting or Running.\n",
                    e->used, e->limit);
    }
}

/* Limits on what is above a share, in numbers. */
static void put_share(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e)
{
    char until[WIRE_RFC3339_TEXT_BYTES_MAX];
    char id[ID_TEXT_BYTES_MAX];
    struct job_view view;
    bool is_share = e->wait == SCHED_WAIT_OVER_SHARE;

    if (!is_share && e->wait != SCHED_WAIT_BUDGET) {
        return;
    }
    if (e->behind != SCHED_NONE) {
        jobs_get(c->jobs, e->behind, &view);
        strbuf_addf(buf, "So it is with job %s, which stands before it.\n",
                    job_id_format(view.id, id));
    }
    if (is_share) {
        strbuf_addf(buf,
                    "Such work of its queue would be %.4g%% of pool %.*s, "
                    "past use included; the limit is %.4g%%.\n",
                    e->asked * 100, STR_ARG(e->pool), e->allowed * 100);
    } else {
        strbuf_addf(buf,
                    "It would be charged %.6g resource-minutes, and %.6g "
                    "are left in pool %.*s.\n",
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
                    "That ends at %s; it starts sooner where there is "
                    "room.\n",
                    moment_put(e->until_ms, until));
    } else {
        strbuf_add_text(buf, "That does not end before a job, node or queue is "
                             "added, changes or ends; it starts sooner where "
                             "there is room.\n");
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
        strbuf_addf(buf, "Even when empty none would hold more than %u.\n",
                    e->empty);
    }
    if (e->until_ms > 0) {
        strbuf_addf(buf, "From %s on they may be further apart.\n",
                    moment_put(e->until_ms, until));
    }
}

/* How many of a gang are there, run, or fit. */
static void put_gang(struct strbuf *buf, const struct sched_explanation *e)
{
    const char *verb = e->wait == SCHED_WAIT_GANG     ? "are there"
                       : e->wait == SCHED_WAIT_GROWTH ? "run"
                                                      : "fit";

    if (e->sub_group.byte_count) {
        strbuf_addf(buf,
                    "Of its sub-group %.*s %u of the %u members that must "
                    "start at once fit.\n",
                    STR_ARG(e->sub_group), e->present, e->wanted);
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
        strbuf_add_text(buf, "At once it needs ");
        amounts_put_one(buf, c, e->resource, e->asked_amount);
        strbuf_add_text(buf, ", which is more than all of that: it never "
                             "starts unless that is raised.\n");
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
    put_share(buf, c, e);
    put_cooldown(buf, e);
    put_amounts(buf, c, e);
    if (e->until_ms > 0 && e->growth == SCHED_WAIT_FROZEN) {
        char until[WIRE_RFC3339_TEXT_BYTES_MAX];
        strbuf_addf(buf, "That ends at %s.\n", moment_put(e->until_ms, until));
    }
    ASSERT(e->nodes_fit <= e->nodes_total);
    if (e->nodes_fit > 0) {
        strbuf_addf(buf, "It fits on %u of %u nodes now.\n", e->nodes_fit,
                    e->nodes_total);
    } else if (e->nearest_node != SCHED_NONE) {
        struct str name = pools_node_name(c->pools, e->nearest_node);
        strbuf_addf(buf, "Nearest is node %.*s with ", STR_ARG(name));
        amounts_put_room(buf, c, &e->available, &e->needed);
        strbuf_add_text(buf, ".\n");
    }
    explain_put_exclusions(buf, e);
    strbuf_addf(buf, "%u waiting %s of its queue %s before it.\n", e->ahead,
                e->ahead == 1 ? "job" : "jobs",
                e->ahead == 1 ? "stands" : "stand");
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
        strbuf_add_text(buf, " if one of them has less than half of what it "
                             "is due, or sooner if its queue runs more");
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
                "%s gang of %u %s %.4g%% of pool %.*s, and its queue may keep "
                "%.4g%% while others want their shares: it %s preempted for "
                "them, whole, ",
                runs ? "Its" : "When its", o->member_count,
                runs ? "has" : "starts it has", o->part * 100, STR_ARG(o->pool),
                o->kept * 100, runs ? "may be" : "may then be");
    put_gang_over_share_time(buf, o);
    strbuf_add_text(buf, " (annotation berth.dev/lifetimeSeconds) keeps it "
                         "running for so long.\n");
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
        promise_put_yielding(buf, c, waiting);
    } else {
        put_waiting(buf, c, waiting);
    }
    put_gang_over_share(buf, waiting, view.has_run);
}
