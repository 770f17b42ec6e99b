#include "oracle.h"

enum status {
    GONE,
    WAITING,
    STEADY,   /* runs */
    EVICTED,  /* runs, and must win its place again */
    RETURNED, /* has won it */
    PREEMPTED,
    PLACED,
    FAILED,
};

struct oracle {
    const struct instance *in;
    enum round_kind kind;
    bool is_filling;
    bool has_growth;
    enum status status[INSTANCE_JOBS_MAX];
    int node[INSTANCE_JOBS_MAX];
    int ordinal[INSTANCE_JOBS_MAX];
    bool is_passed_over[INSTANCE_JOBS_MAX]; /* until the filling pass */
    bool is_settled[INSTANCE_JOBS_MAX];     /* for the whole plan */
    struct oracle_plan *plan;
};

static bool runs(const struct oracle *o, int job)
{
    return o->status[job] == STEADY || o->status[job] == EVICTED ||
           o->status[job] == RETURNED || o->status[job] == PLACED;
}

static int level(const struct oracle *o, int job)
{
    return CLASSES[o->in->jobs[job].priority_class].priority;
}

static bool is_preemptible(const struct oracle *o, int job)
{
    return CLASSES[o->in->jobs[job].priority_class].is_preemptible;
}

static int total(const struct oracle *o, int kind)
{
    int sum = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        sum += o->in->nodes[n].capacity[kind];
    }
    return sum;
}

static int free_on(const struct oracle *o, int node, int kind)
{
    int left = o->in->nodes[node].capacity[kind];

    for (int j = 0; j < o->in->job_count; j++) {
        if (runs(o, j) && o->node[j] == node) {
            left -= o->in->jobs[j].request[kind];
        }
    }
    return left;
}

/* Order of jobs within a queue and class priority. */
static bool job_before(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];

    if (x->priority != y->priority) {
        return x->priority < y->priority;
    }
    return x->submitted != y->submitted ? x->submitted < y->submitted : a < b;
}

static bool is_like(const struct instance_job *a, const struct instance_job *b)
{
    return a->priority_class == b->priority_class &&
           a->request[0] == b->request[0] && a->request[1] == b->request[1] &&
           a->rack == b->rack && a->is_tolerant == b->is_tolerant;
}

/* Costs: a fraction of the pool times the queue's factor, exactly. */

struct fraction {
    i128 up, down;
};

static int compare(struct fraction a, struct fraction b)
{
    i128 gap = a.up * b.down - b.up * a.down;

    return (gap > 0) - (gap < 0);
}

static struct fraction cost(const struct oracle *o, int queue,
                            const int amounts[INSTANCE_KINDS])
{
    struct fraction best = {0, 1};

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        struct fraction part = {amounts[k], total(o, k)};
        if (part.down > 0 && compare(part, best) > 0) {
            best = part;
        }
    }
    best.up *= o->in->queues[queue].factor_halves;
    return best;
}

/* What a queue runs; `is_placed`: without what is evicted. */
static void usage(const struct oracle *o, int queue, bool is_placed,
                  int amounts[INSTANCE_KINDS])
{
    amounts[0] = amounts[1] = 0;
    for (int j = 0; j < o->in->job_count; j++) {
        if (runs(o, j) && o->in->jobs[j].queue == queue &&
            !(is_placed && o->status[j] == EVICTED)) {
            amounts[0] += o->in->jobs[j].request[0];
            amounts[1] += o->in->jobs[j].request[1];
        }
    }
}

/* Units: a job, or the members of a gang that have the same status. */

static bool is_member(const struct oracle *o, int unit, int job)
{
    const struct instance_job *a = &o->in->jobs[unit], *b = &o->in->jobs[job];

    return unit == job ||
           (a->gang && a->gang == b->gang && a->queue == b->queue &&
            o->status[unit] == o->status[job]);
}

static bool same_gang(const struct oracle *o, int a, int b)
{
    return o->in->jobs[a].gang && o->in->jobs[a].gang == o->in->jobs[b].gang;
}

/* Whether the job stands for its unit: the last member does. */
static bool is_head(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (j != job && is_member(o, job, j) && job_before(o, job, j)) {
            return false;
        }
    }
    return true;
}

static void unit_sum(const struct oracle *o, int unit,
                     int amounts[INSTANCE_KINDS])
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (is_member(o, unit, j)) {
            amounts[0] += o->in->jobs[j].request[0];
            amounts[1] += o->in->jobs[j].request[1];
        }
    }
}

static int unit_leased(const struct oracle *o, int unit)
{
    int latest = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        if (is_member(o, unit, j) && o->in->jobs[j].leased > latest) {
            latest = o->in->jobs[j].leased;
        }
    }
    return latest;
}

static int count_gang(const struct oracle *o, int job, enum status status)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->status[j] == status && same_gang(o, job, j);
    }
    return count;
}

static bool gang_ran(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].is_there && same_gang(o, job, j) &&
            o->in->jobs[j].was_leased) {
            return true;
        }
    }
    return false;
}

/* Members that ran when the plan began. */
static int gang_running(const struct oracle *o, int job)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->in->jobs[j].is_there && same_gang(o, job, j) &&
                 o->in->jobs[j].node != NO_NODE;
    }
    return count;
}

static bool gang_is_complete(const struct oracle *o, int job)
{
    int there = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        there += o->in->jobs[j].is_there && same_gang(o, job, j);
    }
    return gang_ran(o, job) || there >= o->in->jobs[job].cardinality;
}

/* Nodes. */

static bool allows(const struct oracle *o, int job, int node)
{
    const struct instance_job *j = &o->in->jobs[job];
    const struct instance_node *n = &o->in->nodes[node];

    return !n->is_unschedulable && (!n->is_tainted || j->is_tolerant) &&
           (j->rack == 0 || j->rack == n->rack) && !(j->avoided >> node & 1);
}

/* The weighted free amount: each column by its share of the pool, rounded as
 * the planner rounds it. */
static uint64_t weigh(const struct oracle *o, const int room[INSTANCE_KINDS])
{
    static const int64_t UNIT[INSTANCE_KINDS] = {1000, 1000000000};
    uint64_t sum = 0;

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        int64_t all = total(o, k) * UNIT[k];
        uint64_t weight =
            all ? ((uint64_t)1 << 62) / RESOURCE_COLUMNS_MAX / (uint64_t)all
                : 0;
        sum += room[k] > 0 ? weight * (uint64_t)(room[k] * UNIT[k]) : 0;
    }
    return sum;
}

static bool fits(const struct oracle *o, int job, const int room[])
{
    return o->in->jobs[job].request[0] <= room[0] &&
           o->in->jobs[job].request[1] <= room[1];
}

/* Best fit in free space; `rack` 0: anywhere. */
static int find_free(const struct oracle *o, int job, int rack)
{
    int best = NO_NODE;
    uint64_t best_key = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        int room[INSTANCE_KINDS] = {free_on(o, n, 0), free_on(o, n, 1)};
        uint64_t key = weigh(o, room);
        if (allows(o, job, n) && fits(o, job, room) &&
            (!rack || o->in->nodes[n].rack == rack) &&
            (best == NO_NODE || key < best_key)) {
            best = n;
            best_key = key;
        }
    }
    return best;
}

static void decide(struct oracle *o, enum sched_action action,
                   enum sched_preemption why, int job, int node, int for_job)
{
    o->plan->decisions[o->plan->count++] =
        (struct oracle_decision){action, why, job, node, for_job};
}

static void lease(struct oracle *o, int job, int node)
{
    o->status[job] = PLACED;
    o->node[job] = node;
    decide(o, SCHED_LEASE, SCHED_PREEMPT_NONE, job, node, NO_NODE);
}

/* Preemption. */

/* 1 + the ordinal down to which evicted work on the node must go; 0: none. */
static int cut_of(const struct oracle *o, int job, int node)
{
    int room[INSTANCE_KINDS] = {free_on(o, node, 0), free_on(o, node, 1)};

    for (int ordinal = INSTANCE_JOBS_MAX; ordinal >= 0; ordinal--) {
        bool is_any = false;
        for (int j = 0; j < o->in->job_count; j++) {
            if (o->status[j] == EVICTED && o->node[j] == node &&
                o->ordinal[j] == ordinal && level(o, j) <= level(o, job)) {
                room[0] += o->in->jobs[j].request[0];
                room[1] += o->in->jobs[j].request[1];
                is_any = true;
            }
        }
        if (is_any && fits(o, job, room)) {
            return ordinal + 1;
        }
    }
    return 0;
}

static bool may_go(const struct oracle *o, int victim, int job, int node,
                   int cut, int level_max)
{
    if (o->node[victim] != node) {
        return false;
    }
    if (o->status[victim] == EVICTED) {
        return level(o, victim) <= level(o, job) &&
               o->ordinal[victim] + 1 >= cut;
    }
    return o->status[victim] == STEADY && is_preemptible(o, victim) &&
           level(o, victim) <= level_max;
}

/* A victim, or all members of a gang on the node; the last stands for it. */
struct victim {
    int job, sum[INSTANCE_KINDS], leased;
    bool is_kept;
};

static bool kept_before(const struct oracle *o, const struct victim *a,
                        const struct victim *b)
{
    bool a_evicted = o->status[a->job] == EVICTED;
    bool b_evicted = o->status[b->job] == EVICTED;

    if (level(o, a->job) != level(o, b->job)) {
        return level(o, a->job) > level(o, b->job);
    }
    if (a_evicted != b_evicted) {
        return b_evicted;
    }
    if (a_evicted && o->ordinal[a->job] != o->ordinal[b->job]) {
        return o->ordinal[a->job] < o->ordinal[b->job];
    }
    return a->leased != b->leased ? a->leased < b->leased
                                  : job_before(o, a->job, b->job);
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
        while (at < count && !same_gang(o, victims[at].job, j)) {
            at++;
        }
        if (at == count) {
            victims[count++] = (struct victim){.job = j};
        }
        struct victim *victim = &victims[at];
        victim->sum[0] += o->in->jobs[j].request[0];
        victim->sum[1] += o->in->jobs[j].request[1];
        victim->job = job_before(o, victim->job, j) ? j : victim->job;
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
    enum sched_preemption why = o->status[victim] == EVICTED
                                    ? SCHED_PREEMPT_FAIR_SHARE
                                    : SCHED_PREEMPT_URGENCY;

    o->status[victim] = PREEMPTED;
    for (int j = 0; j < o->in->job_count; j++) {
        /* A gang does not start and end in one plan. */
        o->is_settled[j] |= same_gang(o, victim, j);
    }
    decide(o, SCHED_PREEMPT, why, victim, o->node[victim], job);
    for (;;) {
        int next = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            bool is_sibling =
                same_gang(o, victim, j) && o->in->jobs[j].is_there &&
                o->in->jobs[j].node != NO_NODE && o->status[j] != PREEMPTED;
            if (is_sibling && (next < 0 || job_before(o, j, next))) {
                next = j;
            }
        }
        if (next < 0) {
            return;
        }
        o->status[next] = PREEMPTED;
        o->has_growth = true;
        decide(o, SCHED_PREEMPT, SCHED_PREEMPT_GANG, next, o->node[next], job);
    }
}

static void take_room(struct oracle *o, int job, int node, int cut,
                      int level_max)
{
    struct victim victims[INSTANCE_JOBS_MAX];
    int count = collect(o, job, node, cut, level_max, victims);
    int before[INSTANCE_KINDS], room[INSTANCE_KINDS];

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        before[k] = room[k] = free_on(o, node, k);
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
            free_on(o, node, k) - o->in->jobs[job].request[k] > before[k];
    }
}

static int find_fair(const struct oracle *o, int job, int rack, int *cut)
{
    int best = NO_NODE;

    for (int n = 0; n < o->in->node_count; n++) {
        int here = cut_of(o, job, n);
        if (here && allows(o, job, n) &&
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

    for (int l = 0; l < 3 && LEVELS[l] < level(o, job); l++) {
        int best = NO_NODE;
        uint64_t best_key = 0;
        for (int n = 0; n < o->in->node_count; n++) {
            int room[INSTANCE_KINDS] = {free_on(o, n, 0), free_on(o, n, 1)};
            for (int j = 0; j < o->in->job_count; j++) {
                if (may_go(o, j, job, n, 0, LEVELS[l])) {
                    room[0] += o->in->jobs[j].request[0];
                    room[1] += o->in->jobs[j].request[1];
                }
            }
            uint64_t key = weigh(o, room);
            if (allows(o, job, n) && fits(o, job, room) &&
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

static int find_with_victims(struct oracle *o, int job, int rack)
{
    int cut = 0, level_max = -1;
    int node = find_fair(o, job, rack, &cut);

    if (node == NO_NODE && !o->in->is_urgency_off) {
        cut = 0;
        node = find_urgent(o, job, rack, &level_max);
    }
    if (node != NO_NODE) {
        take_room(o, job, node, cut, level_max);
    }
    return node;
}

/* Gangs. */

/* Place a gang's members; 0 when fewer than `needed` fit. */
static int try_members(struct oracle *o, int gang, int rack, int needed,
                       int preempt_until)
{
    int members[INSTANCE_JOBS_MAX], count = 0, placed = 0, failed = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == WAITING && same_gang(o, gang, j)) {
            int at = count++;
            for (; at > 0 && job_before(o, j, members[at - 1]); at--) {
                members[at] = members[at - 1];
            }
            members[at] = j;
        }
    }
    for (int i = 0; i < count && placed + count - i >= needed; i++) {
        int job = members[i], node = NO_NODE;
        const struct instance_job *record = &o->in->jobs[job];
        if (failed < 0 || record->avoided ||
            !is_like(record, &o->in->jobs[failed])) {
            node = find_free(o, job, rack);
            if (node == NO_NODE && placed < preempt_until) {
                node = find_with_victims(o, job, rack);
            }
        }
        if (node != NO_NODE) {
            lease(o, job, node);
            placed++;
        } else if (!record->avoided) {
            failed = job;
        }
    }
    return placed >= needed ? placed : 0;
}

static int running_rack(const struct oracle *o, int gang)
{
    int first = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (same_gang(o, gang, j) && o->in->jobs[j].is_there &&
            o->in->jobs[j].node != NO_NODE && o->status[j] != PREEMPTED &&
            o->in->nodes[o->in->jobs[j].node].rack &&
            (first < 0 || job_before(o, j, first))) {
            first = j;
        }
    }
    return first < 0 ? 0 : o->in->nodes[o->in->jobs[first].node].rack;
}

static bool rack_exists(const struct oracle *o, int rack)
{
    for (int n = 0; n < o->in->node_count; n++) {
        if (o->in->nodes[n].rack == rack && !o->in->nodes[n].is_unschedulable) {
            return true;
        }
    }
    return false;
}

static bool try_gang(struct oracle *o, int gang, int wanted, int needed,
                     int preempt_until)
{
    const struct oracle saved = *o;
    const struct oracle_plan saved_plan = *o->plan;
    int best_rack = 0, best_placed = 0, best_victims = 0;
    bool had_growth = o->has_growth;

    if (!o->in->jobs[gang].is_uniform) {
        bool is_done = try_members(o, gang, 0, needed, preempt_until) > 0;
        had_growth = o->has_growth;
        if (!is_done) {
            *o = saved;
            *o->plan = saved_plan;
            o->has_growth = had_growth;
        }
        return is_done;
    }
    for (int rack = 1; rack <= 2; rack++) {
        int only = running_rack(o, gang);
        if ((only && only != rack) || !rack_exists(o, rack)) {
            continue;
        }
        int placed = try_members(o, gang, rack, needed, preempt_until);
        int victims = o->plan->count - saved_plan.count - placed;
        if (placed == wanted && victims == 0) {
            return true;
        }
        bool is_better =
            placed > 0 &&
            (!best_rack || ((victims == 0) != (best_victims == 0) ? victims == 0
                            : placed != best_placed ? placed > best_placed
                                                    : victims < best_victims));
        if (is_better) {
            best_rack = rack;
            best_placed = placed;
            best_victims = victims;
        }
        had_growth = o->has_growth;
        *o = saved;
        *o->plan = saved_plan;
        o->has_growth = had_growth;
    }
    return best_rack &&
           try_members(o, gang, best_rack, needed, preempt_until) > 0;
}

static void place_gang(struct oracle *o, int gang)
{
    int wanted = count_gang(o, gang, WAITING);
    int running = gang_running(o, gang);
    int minimum = o->in->jobs[gang].minimum;
    int needed = minimum > running ? minimum - running : 1;

    needed = needed < wanted ? needed : wanted;
    bool is_done = try_gang(o, gang, wanted, needed, 0);
    if (!is_done && o->kind == ROUND_BALANCE && !o->is_filling) {
        is_done = try_gang(o, gang, wanted, needed, needed);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (!is_done && same_gang(o, gang, j)) {
            o->is_passed_over[j] = true;
        }
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (is_done && same_gang(o, gang, j) && o->status[j] == EVICTED) {
            o->status[j] = RETURNED;
        }
    }
    for (; is_done && running == 0;) {
        int next = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            if (same_gang(o, gang, j) && o->status[j] == WAITING &&
                (next < 0 || job_before(o, j, next))) {
                next = j;
            }
        }
        if (next < 0) {
            return;
        }
        o->status[next] = FAILED;
        decide(o, SCHED_FAIL, SCHED_PREEMPT_NONE, next, NO_NODE, NO_NODE);
    }
    if (is_done) {
        /* What is left of a gang that runs waits for another round. */
        for (int j = 0; j < o->in->job_count; j++) {
            o->is_settled[j] |= same_gang(o, gang, j);
        }
    }
}

/* Limits. */

static bool is_within_limit(const struct oracle *o, int job,
                            const int request[INSTANCE_KINDS])
{
    int used = 0;

    if (!o->in->limit_percent || o->in->jobs[job].priority_class != 0) {
        return true;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (runs(o, j) && o->in->jobs[j].priority_class == 0 &&
            o->in->jobs[j].queue == o->in->jobs[job].queue) {
            used += o->in->jobs[j].request[0];
        }
    }
    return (used + request[0]) * 100 <= o->in->limit_percent * total(o, 0);
}

/* The order of everything. */

static bool is_candidate(const struct oracle *o, int job)
{
    if (o->status[job] == EVICTED) {
        return is_head(o, job);
    }
    return o->status[job] == WAITING && !o->is_passed_over[job] &&
           !o->is_settled[job] &&
           !o->in->queues[o->in->jobs[job].queue].is_cordoned &&
           is_head(o, job) &&
           (!o->in->jobs[job].gang || gang_is_complete(o, job));
}

/* Order within a queue among evicted, or among new, work. */
static bool unit_before(const struct oracle *o, int a, int b)
{
    if (level(o, a) != level(o, b)) {
        return level(o, a) > level(o, b);
    }
    if (o->status[a] == EVICTED &&
        o->in->jobs[a].priority == o->in->jobs[b].priority &&
        unit_leased(o, a) != unit_leased(o, b)) {
        return unit_leased(o, a) < unit_leased(o, b);
    }
    return job_before(o, a, b);
}

static struct fraction unit_cost(const struct oracle *o, int unit)
{
    int amounts[INSTANCE_KINDS];
    int queue = o->in->jobs[unit].queue;

    usage(o, queue, o->status[unit] == EVICTED, amounts);
    unit_sum(o, unit, amounts);
    return cost(o, queue, amounts);
}

/* Whether `a` of one stream is decided before `b` of another. */
static bool goes_before(const struct oracle *o, int a, int b)
{
    int c = compare(unit_cost(o, a), unit_cost(o, b));

    if (level(o, a) != level(o, b)) {
        return level(o, a) > level(o, b);
    }
    if (c) {
        return c < 0;
    }
    if (o->status[a] != o->status[b]) {
        return o->status[a] == EVICTED;
    }
    return o->in->jobs[a].queue < o->in->jobs[b].queue;
}

static int next_unit(const struct oracle *o, bool is_evicted_only)
{
    int best = -1;

    for (int q = 0; q < o->in->queue_count; q++) {
        for (int kind = 0; kind < 2; kind++) {
            enum status status = kind ? WAITING : EVICTED;
            int first = -1;
            for (int j = 0; j < o->in->job_count; j++) {
                if (o->status[j] == status && o->in->jobs[j].queue == q &&
                    is_candidate(o, j) &&
                    (first < 0 || unit_before(o, j, first))) {
                    first = j;
                }
            }
            if (first >= 0 && !(is_evicted_only && status == WAITING) &&
                (best < 0 || goes_before(o, first, best))) {
                best = first;
            }
        }
    }
    return best;
}

static void pass_over_likes(struct oracle *o, int job, bool is_queue_only)
{
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *a = &o->in->jobs[j], *b = &o->in->jobs[job];
        if (o->status[j] == WAITING && !a->gang && is_like(a, b) &&
            (!is_queue_only || a->queue == b->queue)) {
            o->is_passed_over[j] = true;
        }
    }
}

static void place_job(struct oracle *o, int job)
{
    int node = find_free(o, job, 0);

    if (node == NO_NODE && o->kind == ROUND_BALANCE && !o->is_filling) {
        node = find_with_victims(o, job, 0);
    }
    if (node != NO_NODE) {
        lease(o, job, node);
    } else if (o->in->jobs[job].avoided) {
        o->is_passed_over[job] = true;
    } else {
        pass_over_likes(o, job, false);
    }
}

static void decide_new(struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};
    bool is_gang = o->in->jobs[unit].gang != 0;

    unit_sum(o, unit, request);
    if (!is_within_limit(o, unit, request)) {
        for (int j = 0; is_gang && j < o->in->job_count; j++) {
            o->is_passed_over[j] |= same_gang(o, unit, j);
        }
        if (!is_gang) {
            pass_over_likes(o, unit, true);
        }
    } else if (is_gang) {
        place_gang(o, unit);
    } else {
        place_job(o, unit);
    }
}

static void mark_unit(struct oracle *o, int unit, enum status status,
                      int ordinal)
{
    bool is_of[INSTANCE_JOBS_MAX];

    for (int j = 0; j < o->in->job_count; j++) {
        is_of[j] = is_member(o, unit, j);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (is_of[j]) {
            o->status[j] = status;
            o->ordinal[j] = ordinal >= 0 ? ordinal : o->ordinal[j];
        }
    }
}

static void run_pass(struct oracle *o)
{
    for (int unit; (unit = next_unit(o, false)) >= 0;) {
        if (o->status[unit] == EVICTED) {
            mark_unit(o, unit, RETURNED, -1);
        } else {
            decide_new(o, unit);
        }
    }
}

/* Shares and eviction. */

struct share {
    double weight, demand, actual, adjusted;
    bool is_active, is_settled;
};

static double part(const struct oracle *o, const int amounts[INSTANCE_KINDS])
{
    double best = 0;

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        double share = total(o, k) ? (double)amounts[k] / total(o, k) : 0;
        best = share > best ? share : best;
    }
    return best;
}

static void measure(const struct oracle *o, int queue, struct share *share)
{
    int used[INSTANCE_KINDS] = {0}, wanted[INSTANCE_KINDS] = {0};
    int limited = 0;

    *share = (struct share){.weight = 2.0 / o->in->queues[queue].factor_halves};
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (!job->is_there || job->queue != queue ||
            (job->node == NO_NODE && o->in->queues[queue].is_cordoned)) {
            continue;
        }
        share->is_active = true;
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            used[k] += job->node != NO_NODE ? job->request[k] : 0;
            bool is_limited =
                k == 0 && o->in->limit_percent && job->priority_class == 0;
            limited += is_limited ? job->request[k] * 1000 : 0;
            wanted[k] += is_limited ? 0 : job->request[k] * 1000;
        }
    }
    int limit = total(o, 0) * o->in->limit_percent * 10;
    wanted[0] += limited < limit ? limited : limit;
    share->actual = part(o, used);
    share->demand = part(o, wanted) / 1000;
}

/* Pour the pool over the queues until each is full or the pool is empty. */
static void pour(struct share *shares, int count)
{
    for (;;) {
        double rest = 1, weight = 0;
        bool has_settled = false;
        for (int i = 0; i < count; i++) {
            if (shares[i].is_active && shares[i].is_settled) {
                rest -= shares[i].demand;
            } else if (shares[i].is_active) {
                weight += shares[i].weight;
            }
        }
        for (int i = 0; i < count; i++) {
            struct share *share = &shares[i];
            if (!share->is_active || share->is_settled) {
                continue;
            }
            share->adjusted = rest * share->weight / weight;
            if (share->demand <= share->adjusted * (1 + 1e-12)) {
                share->adjusted = share->demand;
                share->is_settled = true;
                has_settled = true;
                break;
            }
        }
        if (!has_settled) {
            return;
        }
    }
}

static void evict(struct oracle *o)
{
    struct share shares[INSTANCE_QUEUES_MAX];
    double weight = 0;
    int count = o->in->queue_count;

    for (int q = 0; q < count; q++) {
        measure(o, q, &shares[q]);
        weight += shares[q].is_active ? shares[q].weight : 0;
    }
    pour(shares, count);
    for (int j = 0; j < o->in->job_count; j++) {
        const struct share *share = &shares[o->in->jobs[j].queue];
        double fair = share->weight / weight;
        double due = fair > share->adjusted ? fair : share->adjusted;
        if (o->status[j] == STEADY && is_preemptible(o, j) &&
            share->actual >
                due * o->in->protected_percent / 100.0 * (1 + 1e-9)) {
            o->status[j] = EVICTED;
        }
    }
    /* In which order would they win their places back, new work aside? */
    struct oracle dry = *o;
    int ordinal = 0;
    for (int unit; (unit = next_unit(&dry, true)) >= 0; ordinal++) {
        mark_unit(&dry, unit, RETURNED, ordinal);
    }
    memcpy(o->ordinal, dry.ordinal, sizeof(o->ordinal));
}

void oracle_plan(const struct instance *instance, enum round_kind kind,
                 struct oracle_plan *ret_plan)
{
    struct oracle o = {.in = instance, .kind = kind, .plan = ret_plan};
    bool has_waiting = false;

    ret_plan->count = 0;
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        o.node[j] = job->node;
        o.status[j] = !job->is_there         ? GONE
                      : job->node == NO_NODE ? WAITING
                                             : STEADY;
    }
    for (int j = 0; j < instance->job_count; j++) {
        has_waiting |= o.status[j] == WAITING && is_candidate(&o, j);
    }
    if (kind == ROUND_BALANCE && !instance->is_fair_share_off && has_waiting) {
        evict(&o);
    }
    run_pass(&o);
    if (o.has_growth) {
        o.is_filling = true;
        memset(o.is_passed_over, 0, sizeof(o.is_passed_over));
        run_pass(&o);
    }
}
