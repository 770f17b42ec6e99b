/* The sentence for each reason why a job waits or a node cannot take it. */
#include "base/plural.h"
#include "control/explain/explain.h"

/* What a node is or does, with the verb for one node and for several. */
static const struct {
    const char *one, *many, *rest;
} exclusion_texts[SCHED_EXCLUSIONS] = {
    [SCHED_EXCLUDED_POOL] = {"belongs", "belong", "to another pool"},
    [SCHED_EXCLUDED_EXECUTOR] = {"belongs", "belong",
                                 "to an executor that gets no new jobs"},
    [SCHED_EXCLUDED_UNSCHEDULABLE] = {"is", "are", "cordoned or gone"},
    [SCHED_EXCLUDED_QUARANTINED] =
        {"is", "are", "in quarantine because too many jobs failed there"},
    [SCHED_EXCLUDED_TAINT] = {"has", "have",
                              "a taint that the job does not tolerate"},
    [SCHED_EXCLUDED_SELECTOR] = {"does", "do", "not match the node selector"},
    [SCHED_EXCLUDED_AFFINITY] = {"does", "do", "not match the node affinity"},
    [SCHED_EXCLUDED_AVOIDED] = {"already", "already", "failed this job"},
    [SCHED_EXCLUDED_UNIFORMITY] = {"lacks", "lack", "the gang's node label"},
    [SCHED_EXCLUDED_FAR] =
        {"is", "are", "in another cluster than its gang, or too far from it"},
    [SCHED_EXCLUDED_TOO_SMALL] = {"is", "are", "too small even when empty"},
    [SCHED_EXCLUDED_FULL] = {"does", "do", "not have enough free"},
    [SCHED_EXCLUDED_RESERVED] = {"is", "are",
                                 "reserved for a job that it would delay"},
    [SCHED_EXCLUDED_HELD] = {"is", "are", "reserved exclusively for one group"},
    [SCHED_EXCLUDED_GPUS] = {"is", "are",
                             "kept for jobs that request GPUs (keepsGpus)"},
    [SCHED_EXCLUDED_WINDOW] = {"closes", "close",
                               "for maintenance before it has surely ended"},
    [SCHED_EXCLUDED_EXTRA] = {"has", "have",
                              "a host port or resource that it needs in use"},
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
    [SCHED_WAIT_GPUS_KEPT] =
        "It requests no GPU, and the nodes where it fits are kept for jobs "
        "that request GPUs (keepsGpus).",
    [SCHED_WAIT_WINDOW] =
        "The nodes where it would fit close for maintenance before it has "
        "surely ended, or are closed for it.",
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

void explain_put_exclusion(struct strbuf *buf,
                           const struct sched_explanation *e, int exclusion)
{
    ASSERT(exclusion >= 0 && exclusion < SCHED_EXCLUSIONS);
    uint32_t count = e->nodes_excluded[exclusion];

    /* A node is left out for one reason, and is a node of the pool. */
    ASSERT(count <= e->nodes_total);
    strbuf_addf(buf, "%u of %u node%s %s %s", count, e->nodes_total,
                plural_s(e->nodes_total),
                plural_of(count, exclusion_texts[exclusion].one,
                          exclusion_texts[exclusion].many),
                exclusion_texts[exclusion].rest);
}

void explain_put_exclusions(struct strbuf *buf,
                            const struct sched_explanation *e)
{
    for (int i = 0; i < SCHED_EXCLUSIONS; i++) {
        if (e->nodes_excluded[i]) {
            strbuf_add_text(buf, "  ");
            explain_put_exclusion(buf, e, i);
            strbuf_add_char(buf, '\n');
        }
    }
}
