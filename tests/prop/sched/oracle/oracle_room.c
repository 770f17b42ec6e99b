/* Who makes room on one node (model.md 6.6): all who may go are taken off in
 * mind, and then keep their places one by one, the best first, as far as there
 * is room beside the one that comes. */
#include "oracle_private.h"

bool oracle_is_revocable(const struct oracle *o, int job)
{
    return o->asking && o->in->jobs[job].revocable_for == o->asking &&
           oracle_runs(o, job) && o->status[job] != PLACED &&
           o->in->jobs[job].yields_from <= o->now &&
           (o->in->jobs[job].yields_at_once || oracle_is_evictable(o, job));
}

bool oracle_is_own(const struct oracle *o, int victim, int job)
{
    return o->in->jobs[victim].queue == o->in->jobs[job].queue &&
           oracle_level(o, victim) >= oracle_level(o, job);
}

bool oracle_may_go(const struct oracle *o, int victim, int job, int node,
                   const struct rules *rules)
{
    if (o->node[victim] != node || oracle_is_revocable(o, victim)) {
        return o->node[victim] == node;
    }
    if (oracle_may_recall(o, victim) || o->in->is_preemption_off) {
        return oracle_may_recall(o, victim);
    }
    if (o->status[victim] == EVICTED) {
        int gap = oracle_level(o, job) - oracle_level(o, victim);
        bool is_bound =
            rules->is_bound || instance_has_cooldown(o->in, job, o->now);
        return !oracle_is_own(o, victim, job) && gap >= (is_bound ? 1 : 0) &&
               o->ordinal[victim] >= o->turn &&
               o->ordinal[victim] + 1 >= rules->cut;
    }
    return (o->status[victim] == STEADY || o->status[victim] == RETURNED) &&
           oracle_is_urgency_preemptible(o, victim) &&
           oracle_level(o, victim) <= rules->level_max;
}

static bool kept_before(const struct oracle *o, const struct rules *rules,
                        const struct victim *a, const struct victim *b)
{
    if (rules->spares_gangs && a->breaks != b->breaks) {
        return a->breaks;
    }
    if (a->is_borrowed != b->is_borrowed) {
        return b->is_borrowed;
    }
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_surplus != b->is_surplus) {
        return b->is_surplus;
    }
    int c = a->is_surplus ? oracle_surplus_order(o, a->job, b->job) : 0;
    if (c) {
        return c < 0;
    }
    if (a->yields != b->yields) {
        return b->yields;
    }
    if (!a->is_surplus && a->is_evicted != b->is_evicted) {
        return b->is_evicted;
    }
    if (!a->is_surplus && a->is_evicted && a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    return a->leased != b->leased ? a->leased < b->leased
                                  : oracle_job_before(o, a->job, b->job);
}

/* Add one who may go, to the rest of its gang there unless it goes alone. */
static void add(const struct oracle *o, int job, bool is_surplus, bool is_held,
                struct victim *victims, int *count)
{
    const struct instance_job *record = &o->in->jobs[job];
    bool is_alone = is_surplus && !is_held;
    int at = is_alone ? *count : 0;

    while (at < *count && ((victims[at].is_surplus && !is_held) ||
                           !oracle_same_gang(o, victims[at].job, job))) {
        at++;
    }
    if (at == *count) {
        victims[(*count)++] = (struct victim){
            .job = job,
            .level = oracle_level(o, job),
            .is_surplus = is_surplus,
            .is_borrowed = record->is_borrowed,
            .is_held = is_held,
        };
    }
    victims[at].is_surplus &= is_surplus;
    victims[at].breaks = record->gang && !victims[at].is_surplus;
    struct victim *victim = &victims[at];
    int level = oracle_level(o, job);
    victim->level = level < victim->level ? level : victim->level;
    victim->sum[0] += record->request[0];
    victim->sum[1] += record->request[1];
    victim->yields |= oracle_is_revocable(o, job);
    victim->is_evicted |= o->status[job] == EVICTED;
    victim->ordinal =
        o->status[job] == EVICTED ? o->ordinal[job] : victim->ordinal;
    victim->leased =
        record->leased > victim->leased ? record->leased : victim->leased;
    /* Of a gang with terms that with the highest id stands for all. */
    bool is_last = record->has_terms ? job > victim->job
                                     : oracle_job_before(o, victim->job, job);
    victim->job = is_last ? job : victim->job;
}

static int collect(const struct oracle *o, int job, int node,
                   const struct rules *rules, struct victim *victims)
{
    bool is_surplus[INSTANCE_JOBS_MAX] = {0}, may[INSTANCE_JOBS_MAX];
    int count = 0, holder = oracle_holder(o, node);
    bool may_holder = true;

    for (int j = o->in->job_count - 1; j >= 0; j--) {
        bool is_here = o->node[j] == node && oracle_runs(o, j);
        bool is_spare = is_here && oracle_is_surplus(o, j, is_surplus);
        may[j] = is_here && (is_spare ? oracle_may_shrink(o, j, job, rules)
                                      : oracle_may_go(o, j, job, node, rules) &&
                                            !oracle_is_joined(o, j, job));
        is_surplus[j] = is_spare && may[j];
        may_holder &= !is_here || may[j] || o->in->jobs[j].gang != holder;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        bool is_held = holder && o->in->jobs[j].gang == holder;
        if (may[j] && (may_holder || !is_held)) {
            add(o, j, is_surplus[j], is_held, victims, &count);
        }
    }
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            if (kept_before(o, rules, &victims[k], &victims[i])) {
                struct victim swap = victims[i];
                victims[i] = victims[k];
                victims[k] = swap;
            }
        }
    }
    return count;
}

/* Surplus of a gang that breaks here goes with it, and leaves its room;
 * whether it did. */
static bool goes_with_gang(const struct oracle *o, struct victim *victims,
                           int count, struct victim *victim)
{
    for (int i = 0; i < count; i++) {
        if (victims[i].breaks && !victims[i].is_kept &&
            oracle_same_gang(o, victims[i].job, victim->job)) {
            victims[i].sum[0] += victim->sum[0];
            victims[i].sum[1] += victim->sum[1];
            victim->is_kept = true; /* as one of its own */
            return true;
        }
    }
    return false;
}

int oracle_choose(const struct oracle *o, int job, int node,
                  const struct rules *rules, struct victim *victims)
{
    int count = collect(o, job, node, rules, victims);
    int room[INSTANCE_KINDS];

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        room[k] = oracle_free(o, node, k) - o->in->jobs[job].request[k];
        for (int i = 0; i < count; i++) {
            room[k] += victims[i].sum[k];
        }
    }
    if (room[0] < 0 || room[1] < 0) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        struct victim *victim = &victims[i];
        if (!goes_with_gang(o, victims, i, victim) && !victim->is_held &&
            victim->sum[0] <= room[0] && victim->sum[1] <= room[1]) {
            victim->is_kept = true;
            room[0] -= victim->sum[0];
            room[1] -= victim->sum[1];
        }
    }
    return count;
}

static void preempt_one(struct oracle *o, int victim, int job,
                        enum sched_preemption why)
{
    oracle_decide(o, SCHED_PREEMPT, why, victim, o->node[victim], job);
    o->was_evicted[victim] = o->status[victim] == EVICTED;
    o->status[victim] = PREEMPTED;
    oracle_flows_rise(o, o->in->jobs[victim].queue);
    for (int j = 0; j < o->in->job_count; j++) {
        /* A gang does not start and end in one plan. */
        o->is_settled[j] |= oracle_same_gang(o, victim, j);
    }
}

int oracle_choose_all(const struct oracle *o, int job, int node,
                      struct victim *victims)
{
    const struct rules rules = oracle_rules(o, job);
    int count = collect(o, job, node, &rules, victims);
    int left[NODE_KINDS];

    for (int k = 0; k < NODE_KINDS; k++) {
        left[k] = o->in->nodes[node].capacity[k] - oracle_free(o, node, k);
    }
    for (int i = 0; i < count; i++) {
        left[0] -= victims[i].sum[0];
        left[1] -= victims[i].sum[1];
        (void)goes_with_gang(o, victims, i, &victims[i]);
    }
    return left[0] || left[1] ? -1 : count;
}

/* All of a gang on a node that it has whole, those with the highest ids
 * first; elsewhere it goes on. */
static void preempt_held(struct oracle *o, int victim, int job,
                         enum sched_preemption why)
{
    int node = o->node[victim];

    for (int j = o->in->job_count - 1; j >= 0; j--) {
        if (o->node[j] == node && oracle_runs(o, j) &&
            oracle_same_gang(o, victim, j)) {
            preempt_one(o, j, job, why);
        }
    }
}

static void preempt(struct oracle *o, const struct victim *victim, int job)
{
    enum sched_preemption why = victim->is_borrowed  ? SCHED_PREEMPT_HOME
                                : victim->yields     ? SCHED_PREEMPT_YIELD
                                : victim->is_surplus ? SCHED_PREEMPT_SURPLUS
                                : victim->is_evicted ? SCHED_PREEMPT_FAIR_SHARE
                                                     : SCHED_PREEMPT_URGENCY;

    if (o->status[victim->job] == PREEMPTED) {
        return; /* with all of its gang */
    }
    if (victim->is_held && !victim->breaks) {
        preempt_held(o, victim->job, job, why);
        return;
    }
    preempt_one(o, victim->job, job, why);
    while (victim->breaks) {
        int next = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            bool is_sibling = oracle_same_gang(o, victim->job, j) &&
                              o->in->jobs[j].is_there &&
                              o->in->jobs[j].node != NO_NODE &&
                              o->status[j] != PREEMPTED;
            if (is_sibling && (next < 0 || oracle_job_before(o, j, next))) {
                next = j;
            }
        }
        if (next < 0) {
            return;
        }
        preempt_one(o, next, job, SCHED_PREEMPT_GANG);
        o->growth_count++;
    }
}

void oracle_take_room(struct oracle *o, int job, int node,
                      const struct rules *rules)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = oracle_choose(o, job, node, rules, victims);
    int before[INSTANCE_KINDS]; /* seats too: less than 0, but comparable */

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        before[k] = oracle_free(o, node, k);
    }
    for (int i = count - 1; i >= 0; i--) {
        if (!victims[i].is_kept) {
            /* A node that a gang had whole opens to all. */
            o->growth_count += victims[i].is_held;
            preempt(o, &victims[i], job);
        }
    }
    bool has_more = false;
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        has_more |=
            oracle_free(o, node, k) - o->in->jobs[job].request[k] > before[k];
    }
    o->growth_count += has_more;
}

bool oracle_clear(struct oracle *o, int job, int node)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = oracle_choose_all(o, job, node, victims);

    for (int i = count - 1; i >= 0; i--) {
        if (!victims[i].is_kept) {
            preempt(o, &victims[i], job);
        }
    }
    o->growth_count += count >= 0;
    return count >= 0;
}
