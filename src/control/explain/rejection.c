/* Why a job or a gang can never start: the nearest miss, in numbers.  These
 * texts are in the log with the decision, and a replay compares their bytes:
 * they do not change. */
#include "control/explain/amounts.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

/* A job that waits is told in other words (texts.c). */
static const char *const logged_texts[SCHED_EXCLUSIONS] = {
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
    [SCHED_EXCLUDED_FULL] = "do not have enough free",
    [SCHED_EXCLUDED_RESERVED] = "are reserved for a job that it would delay",
    [SCHED_EXCLUDED_HELD] = "are reserved exclusively for one group",
    [SCHED_EXCLUDED_GPUS] = "are kept for jobs that request GPUs (keepsGpus)",
    [SCHED_EXCLUDED_WINDOW] =
        "close for maintenance before it has surely ended",
    [SCHED_EXCLUDED_EXTRA] =
        "have a host port or resource that it needs in use",
};

/* Which of the nodes that are too small comes nearest, and what it lacks. */
static void put_nearest_miss(struct strbuf *buf, const struct control *c,
                             const struct sched_explanation *e)
{
    struct resource_vec lack = {0};
    bool is_lacking = false;

    if (e->nearest_node == SCHED_NONE) {
        return;
    }
    for (uint32_t r = 0; r < c->policy->policy.schema.column_count; r++) {
        if (e->needed.v[r] > e->available.v[r] &&
            !c->policy->policy.is_floating[r]) {
            lack.v[r] = e->needed.v[r] - e->available.v[r];
            is_lacking = true;
        }
    }
    if (is_lacking) {
        struct str name = pools_node_name(c->pools, e->nearest_node);
        strbuf_addf(buf, "Nearest is node %.*s, which even when empty lacks ",
                    STR_ARG(name));
        amounts_put(buf, c, &lack);
        strbuf_add_text(buf, ".\n");
    }
}

/* Which of a resource that is of no node is more than any pool has. */
static void put_floating_miss(struct strbuf *buf, const struct control *c,
                              const struct resource_vec *needed)
{
    const struct policy *policy = &c->policy->policy;

    for (int r = 0; r < (int)policy->schema.column_count; r++) {
        int64_t most = 0;
        for (uint32_t p = 0; p < policy->pool_count; p++) {
            int64_t has = policy->pools[p].floating[r];
            most = has > most ? has : most;
        }
        if (policy->is_floating[r] && needed->v[r] > most) {
            strbuf_add_text(buf, "No pool has more than ");
            amounts_put_one(buf, c, r, most);
            strbuf_add_text(buf, " (scheduling.floatingResources).\n");
        }
    }
}

static void put_unschedulable(struct strbuf *buf, struct control *c,
                              const char *which,
                              const struct sched_explanation *explanation)
{
    strbuf_addf(buf, "%s does not fit on any node. ", which);
    if (explanation->unknown.byte_count) {
        explain_put_unknown(buf, c, explanation->unknown);
        return;
    }
    strbuf_add_text(buf, "It asks for ");
    amounts_put(buf, c, &explanation->needed);
    strbuf_add_text(buf, ".\n");
    put_floating_miss(buf, c, &explanation->needed);
    put_nearest_miss(buf, c, explanation);
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (explanation->nodes_excluded[i]) {
            strbuf_addf(buf, "  %u of %u nodes %s\n",
                        explanation->nodes_excluded[i],
                        explanation->nodes_total, logged_texts[i]);
        }
    }
}

/* All that was said is of its own pool, where others might have lent. */
static void put_lenders(struct strbuf *buf, const struct control *c,
                        uint32_t job)
{
    if (pools_has_lenders(c->pools, job)) {
        strbuf_add_text(buf, "These are the nodes of its own pool; no other "
                             "that may lend to it could hold it either.\n");
    }
}

struct str report_rejection(struct control *c, uint32_t job,
                            const struct sched_explanation *explanation,
                            struct arena *arena)
{
    auto_strbuf text = {0};

    put_unschedulable(&text, c, "The job", explanation);
    put_lenders(&text, c, job);
    return arena_str(arena, strbuf_str(&text));
}

/* There would be room, but not near enough. */
static void put_too_far(struct strbuf *buf, const struct sched_gang_miss *miss)
{
    strbuf_addf(buf, "The gang can never start: %u members of ", miss->needed);
    if (miss->alike > 1) {
        strbuf_addf(buf, "each of %u sub-groups like ", miss->alike);
    }
    strbuf_addf(buf, "sub-group %.*s must fit ", STR_ARG(miss->sub_group));
    if (miss->hops) {
        strbuf_addf(buf, "within %u hops of each other (topology)", miss->hops);
    } else {
        strbuf_add_text(buf, "on one node (topology)");
    }
    if (!miss->domain.byte_count) {
        strbuf_add_text(buf, ", and no node holds one of them.\n");
        return;
    }
    strbuf_addf(buf, "; the nearest, %s %.*s of cluster %.*s of pool %.*s",
                miss->hops ? "domain" : "node", STR_ARG(miss->domain),
                STR_ARG(miss->executor), STR_ARG(miss->pool));
    strbuf_addf(buf, ", holds at most %u when empty", miss->count);
    if (miss->alike > 1) {
        strbuf_addf(buf, ", and %u of these sub-groups would find room",
                    miss->alike_fit);
    }
    strbuf_add_text(buf, ".\n");
}

static void put_too_many(struct strbuf *text, const struct control *c,
                         const struct sched_gang_miss *miss)
{
    strbuf_addf(text,
                "The gang can never start: %u of its members must fit at once "
                "in one cluster",
                miss->needed);
    if (miss->label.byte_count) {
        strbuf_addf(text, " on nodes of one value of the label %.*s",
                    STR_ARG(miss->label));
    }
    if (!miss->executor.byte_count) {
        strbuf_add_text(text, ", and no node has that label.\n");
    } else if (miss->resource >= 0) {
        strbuf_add_text(text, "; together they ask for ");
        amounts_put_one(text, c, miss->resource, miss->asked);
        strbuf_add_text(text, ", and the nearest, ");
        strbuf_addf(text, "cluster %.*s, has ", STR_ARG(miss->executor));
        amounts_put_one(text, c, miss->resource, miss->has);
        strbuf_add_text(text, ".\n");
    } else {
        strbuf_addf(text, "; the nearest, cluster %.*s of pool %.*s",
                    STR_ARG(miss->executor), STR_ARG(miss->pool));
        if (miss->label.byte_count) {
            strbuf_addf(text, " with %.*s=%.*s", STR_ARG(miss->label),
                        STR_ARG(miss->value));
        }
        strbuf_addf(text, ", holds at most %u of them when empty.\n",
                    miss->count);
    }
}

struct str report_gang_rejection(struct control *c, uint32_t job,
                                 const struct sched_gang_miss *miss,
                                 const struct sched_explanation *unschedulable,
                                 struct arena *arena)
{
    auto_strbuf text = {0};

    if (miss->is_too_far) {
        put_too_far(&text, miss);
    } else {
        put_too_many(&text, c, miss);
    }
    if (unschedulable) {
        put_unschedulable(&text, c, "One of them by itself", unschedulable);
    }
    put_lenders(&text, c, job);
    return arena_str(arena, strbuf_str(&text));
}

/* What members of a gang must all say, by their annotations or pod specs. */
static const char *field_of(enum gang_fault fault)
{
    switch (fault) {
    case GANG_FAULT_CARDINALITY:
        return "gangCardinality";
    case GANG_FAULT_MINIMUM:
        return "gangMinimumCardinality";
    case GANG_FAULT_UNIFORMITY:
        return "gangNodeUniformityLabel";
    case GANG_FAULT_CLASS:
        return "priorityClassName";
    case GANG_FAULT_TERMS:
    case GANG_FAULT_NONE:
    case GANG_FAULT_BEGUN:
    case GANG_FAULT_FULL:
        break;
    }
    return "nodeReservation, maxHops or freezingWindowSeconds";
}

/* An older member says something else. */
static void put_contradiction(struct strbuf *text, enum gang_fault fault,
                              const struct gang_fault_view *view,
                              const char *other)
{
    strbuf_addf(text, ": its job %s, which has not ended, says ", other);
    if (fault == GANG_FAULT_TERMS) {
        strbuf_addf(text, "another %s", field_of(fault));
    } else if (fault == GANG_FAULT_CARDINALITY || fault == GANG_FAULT_MINIMUM) {
        strbuf_addf(text, "%s %u, and this one %u", field_of(fault),
                    view->expected_count, view->got_count);
    } else {
        strbuf_addf(text, "%s \"%.*s\", and this one \"%.*s\"", field_of(fault),
                    STR_ARG(view->expected), STR_ARG(view->got));
    }
}

struct str report_member_rejection(enum gang_fault fault,
                                   const struct gang_fault_view *view,
                                   struct arena *arena)
{
    auto_strbuf text = {0};
    char other[ID_TEXT_BYTES_MAX];

    job_id_format(view->other, other);
    strbuf_addf(&text, "The job cannot be of gang %.*s of queue %.*s",
                STR_ARG(view->gang_id), STR_ARG(view->queue));
    if (fault == GANG_FAULT_BEGUN) {
        strbuf_addf(&text,
                    ", which has started: its job %s has not ended. Members "
                    "must be submitted before their gang starts",
                    other);
    } else if (fault == GANG_FAULT_FULL) {
        strbuf_addf(&text,
                    ", which has all the members that it may have "
                    "(gangCardinality %u)",
                    view->expected_count);
    } else {
        put_contradiction(&text, fault, view, other);
    }
    strbuf_add_text(&text, ". Another gangId makes another gang.\n");
    return arena_str(arena, strbuf_str(&text));
}
