/* Who makes room. */
#include "oracle_private.h"

/* Whether a run promised to give way to the admitted one that is tried. */
static bool is_yielder(const struct oracle *o, int job)
{
    return o->asking && o->in->jobs[job].yields_to == o->asking &&
           oracle_runs(o, job) && o->status[job] != PLACED &&
           oracle_is_ripe(o, job);
}

/* 1 + the ordinal down to which evicted work on the node must go; 0: none. */
static int cut_of(const struct oracle *o, int job, int node)
{
    int room[INSTANCE_KINDS] = {oracle_free(o, node, 0),
                                oracle_free(o, node, 1)};

    for (int j = 0; j < o->in->job_count; j++) {
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            room[k] += is_yielder(o, j) && o->node[j] == node
                           ? o->in->jobs[j].request[k]
                           : 0;
        }
    }
    for (int ordinal = INSTANCE_JOBS_MAX; ordinal >= o->turn; ordinal--) {
        bool is_any = false;
        for (int j = 0; j < o->in->job_count; j++) {
            if (o->status[j] == EVICTED && o->node[j] == node &&
                o->ordinal[j] == ordinal && !is_yielder(o, j) &&
                oracle_level(o, j) <= oracle_level(o, job)) {
                room[0] += o->in->jobs[j].request[0];
                room[1] += o->in->jobs[j].request[1];
                is_any = true;
            }
        }
        if (is_any && oracle_fits(o, job, room)) {
            return ordinal + 1;
        }
    }
    return 0;
}

static bool may_go(const struct oracle *o, int victim, int job, int node,
                   int cut, int level_max)
{
    if (o->node[victim] != node || is_yielder(o, victim)) {
        return o->node[victim] == node;
    }
    if (o->status[victim] == EVICTED) {
        return oracle_level(o, victim) <= oracle_level(o, job) &&
               o->ordinal[victim] >= o->turn && o->ordinal[victim] + 1 >= cut;
    }
    return (o->status[victim] == STEADY || o->status[victim] == RETURNED) &&
           oracle_is_preemptible(o, victim) &&
           oracle_level(o, victim) <= level_max;
}

/* A victim, or all members of a gang on the node; the last stands for it. */
struct victim {
    int job, sum[INSTANCE_KINDS], leased;
    bool is_kept;
};

static bool kept_before(const struct oracle *o, const struct victim *a,
                        const struct victim *b)
{
    bool a_yields = is_yielder(o, a->job), b_yields = is_yielder(o, b->job);
    bool a_evicted = o->status[a->job] == EVICTED;
    bool b_evicted = o->status[b->job] == EVICTED;

    if (oracle_level(o, a->job) != oracle_level(o, b->job)) {
        return oracle_level(o, a->job) > oracle_level(o, b->job);
    }
    if (a_yields != b_yields) {
        return b_yields;
    }
    if (a_evicted != b_evicted) {
        return b_evicted;
    }
    if (a_evicted && o->ordinal[a->job] != o->ordinal[b->job]) {
        return o->ordinal[a->job] < o->ordinal[b->job];
    }
    return a->leased != b->leased ? a->leased < b->leased
                                  : oracle_job_before(o, a->job, b->job);
}

static int collect(const struct oracle *o, int job, int node, int cut,
                   int level_max, struct victim *victims)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        if (!may_go(o, j, job, node, cut, level_max)) {
            continue;
        }
        int at = 0;
        while (at < count && !oracle_same_gang(o, victims[at].job, j)) {
            at++;
        }
        if (at == count) {
            victims[count++] = (struct victim){.job = j};
        }
        struct victim *victim = &victims[at];
        victim->sum[0] += o->in->jobs[j].request[0];
        victim->sum[1] += o->in->jobs[j].request[1];
        victim->job = oracle_job_before(o, victim->job, j) ? j : victim->job;
        victim->leased = o->in->jobs[j].leased > victim->leased
                             ? o->in->jobs[j].leased
                             : victim->leased;
    }
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            if (kept_before(o, &victims[k], &victims[i])) {
                struct victim swap = victims[i];
                victims[i] = victims[k];
                victims[k] = swap;
            }
        }
    }
    return count;
}

static void preempt(struct oracle *o, int victim, int job)
{
    enum sched_preemption why = is_yielder(o, victim) ? SCHED_PREEMPT_YIELD
                                : o->status[victim] == EVICTED
                                    ? SCHED_PREEMPT_FAIR_SHARE
                                    : SCHED_PREEMPT_URGENCY;

    o->status[victim] = PREEMPTED;
    oracle_flows_rise(o, o->in->jobs[victim].queue);
    for (int j = 0; j < o->in->job_count; j++) {
        /* A gang does not start and end in one plan. */
        o->is_settled[j] |= oracle_same_gang(o, victim, j);
    }
    oracle_decide(o, SCHED_PREEMPT, why, victim, o->node[victim], job);
    for (;;) {
        int next = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            bool is_sibling =
                oracle_same_gang(o, victim, j) && o->in->jobs[j].is_there &&
                o->in->jobs[j].node != NO_NODE && o->status[j] != PREEMPTED;
            if (is_sibling && (next < 0 || oracle_job_before(o, j, next))) {
                next = j;
            }
        }
        if (next < 0) {
            return;
        }
        o->status[next] = PREEMPTED;
        oracle_flows_rise(o, o->in->jobs[next].queue);
        o->has_growth = true;
        oracle_decide(o, SCHED_PREEMPT, SCHED_PREEMPT_GANG, next, o->node[next],
                      job);
    }
}

static void take_room(struct oracle *o, int job, int node, int cut,
                      int level_max)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = collect(o, job, node, cut, level_max, victims);
    int before[INSTANCE_KINDS], room[INSTANCE_KINDS];

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        before[k] = room[k] = oracle_free(o, node, k);
        room[k] -= o->in->jobs[job].request[k];
        for (int i = 0; i < count; i++) {
            room[k] += victims[i].sum[k];
        }
    }
    for (int i = 0; i < count; i++) {
        if (victims[i].sum[0] <= room[0] && victims[i].sum[1] <= room[1]) {
            victims[i].is_kept = true;
            room[0] -= victims[i].sum[0];
            room[1] -= victims[i].sum[1];
        }
    }
    for (int i = count - 1; i >= 0; i--) {
        if (!victims[i].is_kept) {
            preempt(o, victims[i].job, job);
        }
    }
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        o->has_growth |=
            oracle_free(o, node, k) - o->in->jobs[job].request[k] > before[k];
    }
}

static int find_fair(const struct oracle *o, int job, int rack, int *cut)
{
    int best = NO_NODE;

    for (int n = 0; n < o->in->node_count; n++) {
        int here = cut_of(o, job, n);
        if (here && oracle_allows(o, job, n) &&
            oracle_pass(o, job, n) != PASS_NO &&
            (!rack || o->in->nodes[n].rack == rack) &&
            (best == NO_NODE || here > *cut)) {
            best = n;
            *cut = here;
        }
    }
    return best;
}

static int find_urgent(const struct oracle *o, int job, int rack,
                       int *level_max)
{
    static const int LEVELS[] = {500, 1000, 10000};

    for (int l = 0; l < 3 && LEVELS[l] < oracle_level(o, job); l++) {
        int best = NO_NODE;
        uint64_t best_key = 0;
        for (int n = 0; n < o->in->node_count; n++) {
            int room[INSTANCE_KINDS] = {oracle_free(o, n, 0),
                                        oracle_free(o, n, 1)};
            for (int j = 0; j < o->in->job_count; j++) {
                if (may_go(o, j, job, n, 0, LEVELS[l])) {
                    room[0] += o->in->jobs[j].request[0];
                    room[1] += o->in->jobs[j].request[1];
                }
            }
            uint64_t key = oracle_weigh(o, room);
            if (oracle_allows(o, job, n) && oracle_pass(o, job, n) != PASS_NO &&
                oracle_fits(o, job, room) &&
                (!rack || o->in->nodes[n].rack == rack) &&
                (best == NO_NODE || key < best_key)) {
                best = n;
                best_key = key;
            }
        }
        if (best != NO_NODE) {
            *level_max = LEVELS[l];
            return best;
        }
    }
    return NO_NODE;
}

/* The fullest node on which only those must go that promised to. */
static int find_yielding(const struct oracle *o, int job, int rack)
{
    int best = NO_NODE;
    uint64_t best_key = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        int room[INSTANCE_KINDS] = {oracle_free(o, n, 0), oracle_free(o, n, 1)};
        bool is_any = false;
        for (int j = 0; j < o->in->job_count; j++) {
            if (is_yielder(o, j) && o->node[j] == n) {
                room[0] += o->in->jobs[j].request[0];
                room[1] += o->in->jobs[j].request[1];
                is_any = true;
            }
        }
        uint64_t key = oracle_weigh(o, room);
        if (is_any && oracle_allows(o, job, n) &&
            oracle_pass(o, job, n) != PASS_NO && oracle_fits(o, job, room) &&
            (!rack || o->in->nodes[n].rack == rack) &&
            (best == NO_NODE || key < best_key)) {
            best = n;
            best_key = key;
        }
    }
    return best;
}

int oracle_find_with_victims(struct oracle *o, int job, int rack)
{
    int cut = INSTANCE_JOBS_MAX + 2, level_max = -1;
    int node = find_yielding(o, job, rack);

    if (node == NO_NODE) {
        cut = 0;
        node = find_fair(o, job, rack, &cut);
    }
    if (node == NO_NODE && !o->in->is_urgency_off) {
        cut = 0;
        node = find_urgent(o, job, rack, &level_max);
    }
    if (node != NO_NODE) {
        take_room(o, job, node, cut, level_max);
    }
    return node;
}
