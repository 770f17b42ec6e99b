/* The numbers and names that belong to a reason, as sentences. */
#include <inttypes.h>

#include "base/plural.h"
#include "control/explain/amounts.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

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

/* "Host port TCP 8080" of "port:TCP:8080", or a resource. */
static void put_extra(struct strbuf *buf, struct str extra)
{
    const struct str port = STR("port:");

    if (!str_starts_with(extra, port)) {
        strbuf_addf(buf, "Too little of %.*s is left on nodes with room.\n",
                    STR_ARG(extra));
        return;
    }
    strbuf_add_text(buf, "Host port ");
    for (size_t i = port.byte_count; i < extra.byte_count; i++) {
        strbuf_add_char(buf, extra.p[i] == ':' ? ' ' : extra.p[i]);
    }
    strbuf_add_text(buf, " is in use on nodes with room.\n");
}

static void put_nodes(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e)
{
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
    if (e->extra.byte_count) {
        put_extra(buf, e->extra);
    }
    explain_put_exclusions(buf, e);
}

void explain_put_details(struct strbuf *buf, struct control *c,
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
        strbuf_addf(buf, "Now: %s\n", explain_wait_text(e->growth));
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
    put_nodes(buf, c, e);
    windows_put_text(buf, c, e);
    strbuf_addf(buf, "%u waiting %s of its queue %s ahead of it.\n", e->ahead,
                plural_of(e->ahead, "job", "jobs"),
                plural_of(e->ahead, "is", "are"));
    if (e->shorter) {
        strbuf_addf(buf,
                    "Of these, %u came later and %s first for a shorter time "
                    "limit (backfillOrder).\n",
                    e->shorter, plural_of(e->shorter, "goes", "go"));
    }
}
