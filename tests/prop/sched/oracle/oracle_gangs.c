/* Gangs: their minimum at least, or nothing. */
#include "oracle_private.h"

static int find_place(struct oracle *o, int job, int rack, bool may_preempt)
{
    int node = oracle_find_free(o, job, rack);

    if (node == NO_NODE && o->may_go_away) {
        node = oracle_find_free_away(o, job, rack);
    }
    if (node == NO_NODE && may_preempt) {
        node = oracle_find_with_victims(o, job, rack);
    }
    if (node == NO_NODE && may_preempt && o->may_go_away) {
        node = oracle_find_victims_away(o, job, rack);
    }
    return node;
}

static int needed_of(const struct oracle *o, int gang)
{
    int wanted = oracle_gang_count(o, gang, WAITING);
    int running = oracle_gang_running(o, gang);
    int minimum = o->in->jobs[gang].minimum;
    int needed = minimum > running ? minimum - running : 1;

    return needed < wanted && !o->in->jobs[gang].has_terms ? needed : wanted;
}

void oracle_least(const struct oracle *o, int unit, int amounts[INSTANCE_KINDS])
{
    int needed = needed_of(o, unit);

    if (!o->in->jobs[unit].gang ||
        needed == oracle_gang_count(o, unit, WAITING)) {
        oracle_unit_sum(o, unit, amounts);
        return;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        int before = 0;
        bool is_of = o->status[j] == WAITING && oracle_same_gang(o, unit, j);
        for (int i = 0; i < o->in->job_count; i++) {
            before += o->status[i] == WAITING && oracle_same_gang(o, unit, i) &&
                      oracle_job_before(o, i, j);
        }
        for (int k = 0; is_of && before < needed && k < INSTANCE_KINDS; k++) {
            amounts[k] += o->in->jobs[j].request[k];
        }
    }
}

/* Place a gang's members; 0 when fewer than `needed` fit. */
static int try_members(struct oracle *o, int gang, int rack, int needed,
                       int preempt_until)
{
    int members[INSTANCE_JOBS_MAX], count = 0, placed = 0, failed = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == WAITING && oracle_same_gang(o, gang, j)) {
            int at = count++;
            for (; at > 0 && oracle_job_before(o, j, members[at - 1]); at--) {
                members[at] = members[at - 1];
            }
            members[at] = j;
        }
    }
    int sum[INSTANCE_KINDS] = {0};
    oracle_unit_sum(o, gang, sum);
    bool is_limited =
        needed < count &&
        (!oracle_is_within_limit(o, gang, sum) || !oracle_has_seats(o, sum));
    for (int i = 0; i < count && placed + count - i >= needed; i++) {
        int job = members[i], node = NO_NODE;
        const struct instance_job *record = &o->in->jobs[job];
        bool is_within =
            !is_limited || (oracle_is_within_limit(o, job, record->request) &&
                            oracle_has_seats(o, record->request));
        if (is_within && (failed < 0 || record->avoided ||
                          !oracle_is_like(record, &o->in->jobs[failed]))) {
            node = find_place(o, job, rack, placed < preempt_until);
        }
        if (node != NO_NODE) {
            oracle_lease(o, job, node);
            placed++;
        } else if (!record->avoided) {
            failed = job;
        }
    }
    return placed >= needed ? placed : 0;
}

bool oracle_place_members(struct oracle *o, int gang, int sub_group)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] != WAITING || !oracle_same_gang(o, gang, j) ||
            o->in->jobs[j].sub_group != sub_group) {
            continue;
        }
        int node = find_place(o, j, 0, true);
        if (node == NO_NODE) {
            return false;
        }
        oracle_lease(o, j, node);
    }
    return true;
}

/* The rack that members which run hold their gang to, or 0. */
static int running_rack(const struct oracle *o, int gang)
{
    int first = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_same_gang(o, gang, j) && o->in->jobs[j].is_there &&
            o->in->jobs[j].node != NO_NODE && o->status[j] != PREEMPTED &&
            o->in->nodes[o->in->jobs[j].node].rack &&
            (first < 0 || oracle_job_before(o, j, first))) {
            first = j;
        }
    }
    return first < 0 ? 0 : o->in->nodes[o->in->jobs[first].node].rack;
}

/* Likewise the cluster, or NO_NODE. */
static int running_cluster(const struct oracle *o, int gang)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_same_gang(o, gang, j) && oracle_runs(o, j)) {
            return o->in->nodes[o->node[j]].cluster;
        }
    }
    return NO_NODE;
}

int oracle_group_count(const struct oracle *o, int gang)
{
    return (o->in->jobs[gang].is_uniform ? 2 : 1) *
           (o->in->has_clusters ? 2 : 1);
}

unsigned oracle_group(const struct oracle *o, int gang, int index)
{
    int clusters = o->in->has_clusters ? 2 : 1, cluster = index % clusters;
    int rack = o->in->jobs[gang].is_uniform ? 1 + index / clusters : 0;
    int rack_of_it = running_rack(o, gang);
    int cluster_of_it = running_cluster(o, gang);
    unsigned nodes = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        const struct instance_node *node = &o->in->nodes[n];
        bool is_of = node->cluster == cluster && (!rack || node->rack == rack);
        nodes |= is_of && instance_is_open(o->in, n) ? 1u << n : 0;
    }
    bool is_elsewhere = (rack && rack_of_it && rack_of_it != rack) ||
                        (cluster_of_it != NO_NODE && cluster_of_it != cluster);
    return is_elsewhere ? 0 : nodes;
}

/* Whether some sub-group must be near together. */
static bool has_caps(const struct oracle *o, int gang)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_same_gang(o, gang, j) && o->in->jobs[j].has_terms &&
            o->in->jobs[j].hops != NO_LIMIT) {
            return true;
        }
    }
    return false;
}

/* Try where `o->only` says; how many have a place, 0: too few. */
static int try_once(struct oracle *o, int gang, int needed, int preempt_until)
{
    bool is_near = o->in->has_topology && has_caps(o, gang);
    int wanted = oracle_gang_count(o, gang, WAITING);

    if (is_near && preempt_until && !o->in->jobs[gang].is_uniform) {
        return oracle_force_near(o, gang, o->plan->count) ? wanted : 0;
    }
    if (o->in->jobs[gang].is_whole && !o->in->jobs[gang].is_uniform) {
        return oracle_place_whole(o, gang, preempt_until > 0) ? wanted : 0;
    }
    return try_members(o, gang, 0, needed, preempt_until);
}

static bool try_group(struct oracle *o, int gang, unsigned only, int needed,
                      int preempt_until)
{
    o->only = only;
    bool is_done = try_once(o, gang, needed, preempt_until) > 0;
    o->only = 0;
    return is_done;
}

static bool try_gang(struct oracle *o, int gang, int wanted, int needed,
                     int preempt_until)
{
    const struct oracle saved = *o;
    const struct oracle_plan saved_plan = *o->plan;
    int best_placed = 0, count = oracle_group_count(o, gang);
    unsigned best_group = 0;
    struct price best = {0};

    if (count == 1) {
        if (!try_group(o, gang, 0, needed, preempt_until)) {
            *o = saved;
            *o->plan = saved_plan;
            return false;
        }
        return true;
    }
    for (int i = 0; i < count; i++) {
        unsigned group = oracle_group(o, gang, i);
        if (!group) {
            continue;
        }
        o->only = group;
        int placed = try_once(o, gang, needed, preempt_until);
        o->only = 0;
        struct price price = oracle_price_since(o, gang, saved_plan.count);
        if (placed == wanted && price.count == 0) {
            return true;
        }
        int c = !best_group ? -1
                : (price.count == 0) != (best.count == 0)
                    ? (price.count ? 1 : -1)
                : placed != best_placed ? best_placed - placed
                : price.count           ? oracle_price_compare(o, &price, &best)
                                        : 0;
        if (placed > 0 && c < 0) {
            best_group = group;
            best_placed = placed;
            best = price;
        }
        *o = saved;
        *o->plan = saved_plan;
    }
    return best_group && try_group(o, gang, best_group, needed, preempt_until);
}

/* Whether surplus of gangs with terms goes. */
static bool takes_surplus(const struct oracle *o, int first)
{
    for (int i = first; i < o->plan->count; i++) {
        if (o->plan->decisions[i].preemption == SCHED_PREEMPT_SURPLUS) {
            return true;
        }
    }
    return false;
}

/* Make room for all.  Member by member surplus costs least; all in all others
 * may, who make more room at once (PG-06): so it is tried without, too. */
static bool try_preempting(struct oracle *o, int gang, int wanted, int needed)
{
    const struct oracle saved = *o;
    const struct oracle_plan saved_plan = *o->plan;
    int first = o->plan->count;

    if (!try_gang(o, gang, wanted, needed, needed)) {
        return false;
    }
    if (!takes_surplus(o, first)) {
        return true;
    }
    const struct oracle with = *o;
    const struct oracle_plan with_plan = *o->plan;
    struct price price = oracle_price_since(o, gang, first);
    *o = saved;
    *o->plan = saved_plan;
    o->keeps_surplus = true;
    bool is_done = try_gang(o, gang, wanted, needed, needed);
    struct price without = oracle_price_since(o, gang, first);
    if (!is_done || oracle_price_compare(o, &without, &price) >= 0) {
        *o = with;
        *o->plan = with_plan;
    }
    o->keeps_surplus = false;
    return true;
}

bool oracle_place_gang(struct oracle *o, int gang)
{
    int wanted = oracle_gang_count(o, gang, WAITING);
    int running = oracle_gang_running(o, gang);
    int needed = needed_of(o, gang);

    bool has_terms = o->in->jobs[gang].has_terms;
    bool is_near = has_terms && o->in->has_topology;
    bool is_done = is_near ? oracle_place_near(o, gang)
                           : try_gang(o, gang, wanted, needed, 0);
    /* Whole at home, or members away too. */
    o->may_go_away = !is_done && !is_near && o->in->away_level;
    if (o->may_go_away) {
        is_done = try_gang(o, gang, wanted, needed, 0);
    }
    if (!is_done && o->kind == ROUND_BALANCE && !o->is_filling) {
        is_done = try_preempting(o, gang, wanted, needed);
    }
    o->may_go_away = false;
    for (int j = 0; j < o->in->job_count; j++) {
        if (is_done && oracle_same_gang(o, gang, j) &&
            o->status[j] == EVICTED) {
            o->status[j] = RETURNED;
        }
    }
    for (; is_done && running == 0 && !has_terms;) {
        int next = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            if (oracle_same_gang(o, gang, j) && o->status[j] == WAITING &&
                (next < 0 || oracle_job_before(o, j, next))) {
                next = j;
            }
        }
        if (next < 0) {
            return true;
        }
        o->status[next] = FAILED;
        oracle_decide(o, SCHED_FAIL, SCHED_PREEMPT_NONE, next, NO_NODE,
                      NO_NODE);
    }
    if (is_done) {
        /* What is left of a gang that runs, or is spare, waits for another
         * round. */
        for (int j = 0; j < o->in->job_count; j++) {
            o->is_settled[j] |= oracle_same_gang(o, gang, j);
        }
    }
    return is_done;
}
