/* Why a running gang does not grow by a waiting member. */
#include "sched/growth/growth.h"

#include "sched/explain/private.h"
#include "sched/gang/locality.h"
#include "sched/state/scale.h"
#include "sched/state/sub_groups.h"
#include "sched/state/topology.h"

static uint32_t node_of(const struct sched *sched, uint32_t job)
{
    return sched->runs.items[sched->jobs.items[job].run].node;
}

/* The highest domain that the cap of the job's sub-group allows around what
 * runs of it; for growth a cap does not end. */
static void reach_domain(struct question *question, const struct gang *gang)
{
    const struct sched *sched = question->sched;
    struct reach *reach = &question->reach;
    uint32_t sub_group = sub_group_of(sched, question->job);
    uint32_t hops_max = sub_group_terms(gang, sub_group)->hops_max;
    uint32_t pool = sched->nodes.items[reach->node].pool;
    const struct topology *topology = topology_of(sched, pool);
    struct locality_anchor anchor;

    if (!topology || hops_max == HOPS_ANY) {
        return;
    }
    locality_anchor_of(sched, pool, gang, sub_group, &anchor);
    if (locality_around(topology, topology_level_max(topology, hops_max),
                        &anchor, &reach->first, &reach->count)) {
        reach->topology = topology;
    }
}

void explain_reach(struct question *question)
{
    const struct sched *sched = question->sched;
    const struct gang *gang = &sched->gangs.items[question->record->gang];

    question->reach.node =
        node_of(sched, seq_get(&gang->leased, (struct seq_cursor){0}));
    reach_domain(question, gang);
}

/* Whether the label that all of the gang's nodes share is the same here. */
static bool is_uniform(const struct question *question, uint32_t index)
{
    const struct sched *sched = question->sched;
    const struct node_record *here = sched->nodes.items[index].record,
                             *there = sched->nodes.items[question->reach.node]
                                          .record;

    if (!question->uniformity.byte_count || !there) {
        return true;
    }
    const struct label *a = label_find(here->labels, here->label_count,
                                       question->uniformity),
                       *b = label_find(there->labels, there->label_count,
                                       question->uniformity);
    return !a || !b || str_equal(a->value, b->value);
}

bool explain_is_in_reach(const struct question *question, uint32_t index)
{
    const struct sched *sched = question->sched;
    const struct reach *reach = &question->reach;

    if (sched->nodes.items[index].executor !=
            sched->nodes.items[reach->node].executor ||
        !is_uniform(question, index)) {
        return false;
    }
    if (!reach->topology) {
        return true;
    }
    uint32_t place = index < reach->topology->place_count
                         ? reach->topology->place[index]
                         : NONE;
    return place >= reach->first && place < reach->first + reach->count;
}

/* Whether the pool's load leaves no room for it. */
static bool is_loaded(const struct question *question, uint32_t pool)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    struct growth_load load;

    growth_load_of(sched, pool, &load);
    int r = growth_overload(sched, &load, &question->class->request);
    if (r < 0) {
        return false;
    }
    bool is_cpu = r == sched->cpu_column;
    answer->resource = r;
    answer->asked_amount = question->class->request.v[r];
    answer->used = load.now.v[r];
    answer->limit =
        is_cpu
            ? (int64_t)((i128)load.total.v[r] * load.max_ppm / FRACTION_ONE_PPM)
            : load.total.v[r];
    return true;
}

/* The rule, with its numbers in the answer. */
static enum sched_wait rule_of(struct question *question,
                               const struct gang *gang)
{
    struct sched *sched = question->sched;
    struct sched_explanation *answer = question->answer;
    int64_t frozen_ms = scale_frozen_until(sched, gang);

    if (sched->queues.items[question->queue].is_cordoned) {
        return SCHED_WAIT_QUEUE_CORDONED;
    }
    if (explain_is_borrowed(question)) {
        return SCHED_WAIT_AWAY;
    }
    if (!explain_is_in_pools(question, question->pool)) {
        return SCHED_WAIT_NO_NODES; /* its pool is in the policy no more */
    }
    if (frozen_ms > question->now_ms) {
        answer->until_ms = frozen_ms == INT64_MAX ? 0 : frozen_ms;
        return SCHED_WAIT_FROZEN;
    }
    if (explain_quota(question)) {
        return SCHED_WAIT_QUOTA;
    }
    if (explain_floating(question)) {
        return SCHED_WAIT_FLOATING;
    }
    if (explain_limit(question)) {
        return SCHED_WAIT_QUEUE_LIMIT;
    }
    if (answer->nodes_fit == 0) {
        return SCHED_WAIT_CAPACITY; /* then its load is high as well */
    }
    if (is_loaded(question, question->pool)) {
        return SCHED_WAIT_LOAD;
    }
    return explain_rates(question) ? answer->wait : SCHED_WAIT_TURN;
}

void explain_growth(const struct question *question)
{
    const struct sched *sched = question->sched;
    const struct gang *gang = &sched->gangs.items[question->record->gang];
    struct question of_pod = *question;

    /* It grows by one at a time, and where it runs. */
    of_pod.asked = of_pod.started = question->class->request;
    of_pod.start_count = 1;
    of_pod.pool = sched->nodes.items[question->reach.node].pool;
    question->answer->present = gang->leased.count;
    question->answer->wanted = gang->cardinality;
    question->answer->growth = rule_of(&of_pod, gang);
    question->answer->wait = SCHED_WAIT_GROWTH;
}
