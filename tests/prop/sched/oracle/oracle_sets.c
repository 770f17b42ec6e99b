/* Where others make room as long as gangs with terms run: the place that costs
 * least (model.md 6.6).  A pod whose going breaks its gang counts with all of
 * that. */
#include "oracle_private.h"

enum { SUB_GROUPS = 3 };

static int64_t rank_of(const struct oracle *o, int job)
{
    return o->in->jobs[job].is_borrowed
               ? 0
               : oracle_level(o, job) + ((int64_t)1 << 31);
}

/* How many go with a victim. */
static int count_of(const struct oracle *o, const struct victim *victim)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        bool goes = oracle_same_gang(o, victim->job, j) &&
                    o->in->jobs[j].is_there && o->in->jobs[j].node != NO_NODE &&
                    o->status[j] != PREEMPTED;
        count +=
            goes && (victim->breaks ||
                     (victim->is_held && o->node[j] == o->node[victim->job]));
    }
    return count ? count : 1;
}

static void add(const struct oracle *o, const struct victim *victim,
                struct price *price)
{
    int count = count_of(o, victim), gang = o->in->jobs[victim->job].gang;
    int64_t rank = rank_of(o, victim->job);

    if (price->count == 0) {
        price->is_surplus = victim->is_surplus;
        price->group = victim->is_surplus ? gang : 0;
        price->best = victim->job;
    }
    price->is_surplus &= victim->is_surplus;
    price->group = price->is_surplus && gang == price->group ? gang : 0;
    if (price->is_surplus &&
        oracle_surplus_order(o, victim->job, price->best) < 0) {
        price->best = victim->job;
    }
    price->pod = victim->job > price->pod ? victim->job : price->pod;
    price->rank_max = rank > price->rank_max ? rank : price->rank_max;
    price->rank_sum += rank * count;
    price->count += count;
    price->breaks |= victim->breaks;
    /* Surplus has no turn in which it would come back. */
    if (victim->is_evicted && !victim->is_surplus &&
        victim->ordinal < price->ordinal) {
        price->ordinal = victim->ordinal;
    }
}

/* The price of victims on a node; those that are kept cost nothing. */
static void price_victims(const struct oracle *o, int job, int node,
                          const struct victim *victims, int count,
                          struct price *ret_price)
{
    int left[INSTANCE_KINDS];

    *ret_price = (struct price){.ordinal = INT_MAX, .pod = -1};
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        left[k] = oracle_free(o, node, k) - o->in->jobs[job].request[k];
    }
    for (int i = 0; i < count; i++) {
        if (!victims[i].is_kept) {
            left[0] += victims[i].sum[0];
            left[1] += victims[i].sum[1];
            add(o, &victims[i], ret_price);
        }
    }
    ret_price->lost = oracle_weigh(o, left);
}

/* The price of a node, going by the rules; false: there is no room. */
static bool judge(const struct oracle *o, int job, int node,
                  const struct rules *rules, struct price *ret_price)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = oracle_choose(o, job, node, rules, victims);

    price_victims(o, job, node, victims, count, ret_price);
    return ret_price->count > 0;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int oracle_surplus_order(const struct oracle *o, int a, int b)
{
    int left = o->in->jobs[a].queue, right = o->in->jobs[b].queue;
    int c = fraction_compare(o->held[left], o->held[right]);

    c = c ? c : order(left, right); /* who has less keeps; by name */
    return c ? c : oracle_score_gangs(o, a, b);
}

static int compare_groups(const struct price *a, const struct price *b)
{
    if (!a->group || !b->group) {
        return (a->group == 0) - (b->group == 0);
    }
    return a->group == b->group ? order(b->pod, a->pod)
                                : order(a->group, b->group);
}

int oracle_price_compare(const struct oracle *o, const struct price *a,
                         const struct price *b)
{
    int c = order(a->rank_max, b->rank_max);

    c = c ? c : order(a->rank_sum, b->rank_sum);
    c = c ? c : order(a->count, b->count);
    c = c ? c : order(a->hops, b->hops);
    c = c ? c : order(b->ordinal, a->ordinal);
    c = c ? c : order(b->is_surplus, a->is_surplus);
    c = c || !a->is_surplus ? c : oracle_surplus_order(o, b->best, a->best);
    c = c ? c : (a->lost > b->lost) - (a->lost < b->lost);
    return c ? c : compare_groups(a, b);
}

struct rules oracle_rules(const struct oracle *o, int job)
{
    bool is_urgent = !o->in->is_urgency_off && !o->in->is_preemption_off;

    return (struct rules){
        .level_max = is_urgent ? oracle_level(o, job) - 1 : -1,
    };
}

bool oracle_price_all(const struct oracle *o, int job, int node,
                      struct price *ret_price)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = oracle_choose_all(o, job, node, victims);

    price_victims(o, job, node, victims, count, ret_price);
    return count >= 0;
}

bool oracle_judge(const struct oracle *o, int job, int node,
                  struct rules *rules, struct price *ret_price)
{
    struct rules sparing = *rules;
    struct price other;

    if (!judge(o, job, node, rules, ret_price)) {
        return false;
    }
    /* There may be a way that leaves more gangs whole. */
    sparing.spares_gangs = true;
    if (ret_price->breaks && judge(o, job, node, &sparing, &other) &&
        oracle_price_compare(o, &other, ret_price) < 0) {
        *ret_price = other;
        *rules = sparing;
    }
    return true;
}

int oracle_find_set(const struct oracle *o, int job, int rack,
                    struct rules *rules)
{
    int best = NO_NODE;
    struct price best_price;
    struct rules found = *rules;

    rules->level_max = oracle_rules(o, job).level_max;
    for (int n = 0; n < o->in->node_count; n++) {
        struct rules here = *rules;
        struct price price;
        if (oracle_allows_evicting(o, job, n) &&
            oracle_pass(o, job, n) != BACKFILL_NO &&
            (!rack || o->in->nodes[n].rack == rack) &&
            oracle_judge(o, job, n, &here, &price) &&
            (price.ordinal == INT_MAX || !oracle_is_soon(o, job, n)) &&
            (best == NO_NODE ||
             oracle_price_compare(o, &price, &best_price) < 0)) {
            best = n;
            best_price = price;
            found = here;
        }
    }
    *rules = found;
    return best;
}

bool oracle_groups_at_risk(const struct oracle *o, int job)
{
    const bool none[INSTANCE_JOBS_MAX] = {0};
    const struct rules rules = oracle_rules(o, job);
    struct oracle all = *o;
    bool is_any = false;

    all.only = 0;
    for (int j = 0; j < o->in->job_count && !is_any; j++) {
        int node = o->node[j];
        bool is_there = o->in->jobs[j].has_terms && oracle_runs(o, j) &&
                        o->status[j] != PLACED &&
                        oracle_is_place(&all, job, node);
        is_any = is_there && (oracle_may_go(o, j, job, node, &rules) ||
                              (oracle_is_surplus(o, j, none) &&
                               oracle_may_shrink(o, j, job, &rules)));
    }
    return is_any;
}

bool oracle_might_find_set(const struct oracle *o, int job)
{
    struct rules rules = {.takes_surplus = true}, away_rules = rules;
    struct oracle away = *o;

    if (!o->has_groups || o->kind != ROUND_BALANCE || o->is_filling) {
        return false;
    }
    away.is_away[job] = true;
    bool may_go_away =
        o->in->away_level && o->in->jobs[job].priority_class == AWAY_CLASS;
    return oracle_find_set(o, job, 0, &rules) != NO_NODE ||
           (may_go_away &&
            oracle_find_set(&away, job, 0, &away_rules) != NO_NODE);
}

/* Whether a sub-group's member was placed since `first`. */
static bool has_come(const struct oracle *o, int gang, int sub_group, int first)
{
    for (int i = first; i < o->plan->count; i++) {
        const struct oracle_decision *decision = &o->plan->decisions[i];
        if (decision->action == SCHED_LEASE &&
            oracle_same_gang(o, gang, decision->job) &&
            o->in->jobs[decision->job].sub_group == sub_group) {
            return true;
        }
    }
    return false;
}

/* 0: all on one node, 1: in one rack, and so on. */
static int level_of(const struct oracle *o, int gang, int sub_group)
{
    int node = NO_NODE, level = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        if (!oracle_runs(o, j) || !oracle_same_gang(o, gang, j) ||
            o->in->jobs[j].sub_group != sub_group) {
            continue;
        }
        node = node == NO_NODE ? o->node[j] : node;
        int here = oracle_distance(o, node, o->node[j]);
        level = here > level ? here : level;
    }
    return level;
}

/* What is left on the nodes to which members came. */
static uint64_t lost_since(const struct oracle *o, int first)
{
    bool is_taken[INSTANCE_NODES_MAX] = {0};
    uint64_t lost = 0;

    for (int i = first; i < o->plan->count; i++) {
        const struct oracle_decision *decision = &o->plan->decisions[i];
        if (decision->action == SCHED_LEASE && !is_taken[decision->node]) {
            int room[INSTANCE_KINDS] = {oracle_free(o, decision->node, 0),
                                        oracle_free(o, decision->node, 1)};
            is_taken[decision->node] = true;
            lost += oracle_weigh(o, room);
        }
    }
    return lost;
}

struct price oracle_price_since(const struct oracle *o, int gang, int first)
{
    struct price price = {.ordinal = INT_MAX, .pod = -1};
    bool is_near = o->in->jobs[gang].has_terms && o->in->has_topology;

    for (int i = first; i < o->plan->count; i++) {
        const struct oracle_decision *decision = &o->plan->decisions[i];
        struct victim victim = {
            .job = decision->job,
            .is_surplus = decision->preemption == SCHED_PREEMPT_SURPLUS,
            .is_evicted = decision->preemption == SCHED_PREEMPT_FAIR_SHARE &&
                          o->was_evicted[decision->job],
            .ordinal = o->ordinal[decision->job],
        };
        if (decision->action == SCHED_PREEMPT) {
            add(o, &victim, &price);
        }
    }
    for (int s = 0; is_near && s < SUB_GROUPS; s++) {
        price.hops += has_come(o, gang, s, first) ? level_of(o, gang, s) : 0;
    }
    price.lost = lost_since(o, first);
    return price;
}
