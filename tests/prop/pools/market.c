#include "market.h"

enum { BORROWER_NEVER = 2 }; /* of CLASSES: `high` stays at home */

void market_draw_pool(struct tape *tape, struct market *market, int pool)
{
    market->pools[pool] = (struct market_pool){
        .is_there = pool == 0 || !once_in(tape, 8),
        .is_preemption_off = once_in(tape, 4),
        .is_borrowing_off = once_in(tape, 4),
        .is_sharing_off = once_in(tape, 4),
        .is_borrow_first = once_in(tape, 4),
        .lenders = once_in(tape, 4)
                       ? (unsigned)pick(tape, 1, (1 << market->pool_count) - 1)
                       : 0,
    };
}

/* Whether a gang is drawn whole, and of jobs that are alike but in their
 * priorities. */
static bool is_even(const struct instance *all, int gang)
{
    int count = 0;

    for (int j = 0; j < all->job_count; j++) {
        const struct instance_job *job = &all->jobs[j];
        const struct instance_job *head = &all->jobs[gang - 1];
        count += job->gang == gang;
        if (job->gang == gang && (job->request[0] != head->request[0] ||
                                  job->request[1] != head->request[1])) {
            return false;
        }
    }
    return count == all->jobs[gang - 1].cardinality;
}

/* Jobs go anywhere: what else there is about nodes is the business of each
 * pool's planner. */
static void make_plain(struct instance *all, bool has_gangs)
{
    all->limit_percent = 0;
    for (int n = 0; n < all->node_count; n++) {
        struct instance_node *node = &all->nodes[n];
        *node = (struct instance_node){
            .capacity = {node->capacity[0], node->capacity[1]}};
    }
    for (int j = 0; j < all->job_count; j++) {
        struct instance_job *job = &all->jobs[j];
        job->rack = 0;
        job->is_uniform = job->is_tolerant = false;
        job->avoided = 0;
    }
    bool is_gang[INSTANCE_JOBS_MAX];
    for (int j = 0; j < all->job_count; j++) {
        int gang = all->jobs[j].gang;
        is_gang[j] = gang && has_gangs && is_even(all, gang);
    }
    for (int j = 0; j < all->job_count; j++) {
        struct instance_job *job = &all->jobs[j];
        job->gang = is_gang[j] ? job->gang : 0;
        job->cardinality = job->minimum = is_gang[j] ? job->cardinality : 1;
        job->node = is_gang[j] ? NO_NODE : job->node;
        job->was_leased &= !is_gang[j];
    }
}

bool market_is_of(const struct market *market, int a, int b)
{
    int gang = market->all.jobs[a].gang;

    return a == b || (gang && market->all.jobs[b].gang == gang);
}

void market_draw(struct tape *tape, struct market *market, bool has_gangs)
{
    *market = (struct market){.pool_count = pick(tape, 2, MARKET_POOLS)};
    instance_draw(tape, &market->all);
    make_plain(&market->all, has_gangs);
    market->pools[0].is_there = true;
    for (int p = 1; p < market->pool_count; p++) {
        market_draw_pool(tape, market, p);
    }
    for (int n = 0; n < market->all.node_count; n++) {
        market->label[n] = pick(tape, 0, market->pool_count - 1);
    }
    for (int j = 0; j < market->all.job_count; j++) {
        const struct instance_job *job = &market->all.jobs[j];
        market->named[j] = pick(tape, 0, market->pool_count - 1);
        /* Who runs elsewhere came there by a change of pools, or was lent. */
        if (job->node != NO_NODE && !once_in(tape, 3)) {
            market->named[j] = market->label[job->node];
        }
        if (job->gang) {
            market->named[j] = market->named[job->gang - 1];
        }
    }
    market_settle(market);
}

static int if_there(const struct market *market, int pool)
{
    return market->pools[pool].is_there ? pool : 0;
}

void market_move(struct market *market, int node, int pool)
{
    market->label[node] = pool;
    market->all.nodes[node].pool = if_there(market, pool);
}

void market_settle(struct market *market)
{
    for (int n = 0; n < market->all.node_count; n++) {
        market_move(market, n, market->label[n]);
    }
    for (int j = 0; j < market->all.job_count; j++) {
        market->home[j] = if_there(market, market->named[j]);
        market->at[j] = market->home[j];
    }
}

bool market_may_borrow(int priority_class)
{
    return priority_class != BORROWER_NEVER;
}

bool market_waits(const struct market *market, int job)
{
    return market->all.jobs[job].is_there &&
           market->all.jobs[job].node == NO_NODE;
}

void market_part(const struct market *market, int pool,
                 struct instance *ret_part)
{
    *ret_part = market->all;
    ret_part->is_object = pool > 0;
    ret_part->is_preemption_off = market->pools[pool].is_preemption_off;
    for (int n = 0; n < ret_part->node_count; n++) {
        ret_part->nodes[n].is_unschedulable = ret_part->nodes[n].pool != pool;
    }
    for (int j = 0; j < ret_part->job_count; j++) {
        struct instance_job *job = &ret_part->jobs[j];
        int where = job->node != NO_NODE ? market->all.nodes[job->node].pool
                                         : market->at[j];
        job->is_there &= where == pool;
        job->is_borrowed = market->home[j] != pool;
    }
}

static bool is_leased_by(const struct oracle_plan *plan, int job)
{
    for (int i = 0; i < plan->count; i++) {
        if (plan->decisions[i].action == SCHED_LEASE &&
            plan->decisions[i].job == job) {
            return true;
        }
    }
    return false;
}

/* Rooms, as they are while nothing of the plan has happened. */

static int free_on(const struct market *market, int node, int kind)
{
    int left = instance_free(&market->all, node, kind);

    return left > 0 ? left : 0;
}

static int size_of(const struct market *market, int job)
{
    return market->all.jobs[job].cardinality;
}

/* Nodes of the pool have room for the job and all of its gang; or would have if
 * they were empty. */
static bool has_nodes(const struct market *market, int pool, int job,
                      bool is_empty)
{
    const struct instance *all = &market->all;
    int count = 0;

    for (int n = 0; n < all->node_count; n++) {
        int here = all->nodes[n].pool == pool ? INSTANCE_JOBS_MAX : 0;
        for (int k = 0; k < NODE_KINDS; k++) {
            int room =
                is_empty ? all->nodes[n].capacity[k] : free_on(market, n, k);
            int asked = all->jobs[job].request[k];
            here = asked && room / asked < here ? room / asked : here;
        }
        count += here;
    }
    return count >= size_of(market, job);
}

/* A pool that may lend (5.5). */
struct shop {
    int pool, idle[NODE_KINDS], waiting;
    bool has_own_waiting;
};

static void look_at(const struct market *market, int pool,
                    struct shop *ret_shop)
{
    *ret_shop = (struct shop){.pool = pool};
    for (int n = 0; n < market->all.node_count; n++) {
        for (int k = 0; k < NODE_KINDS; k++) {
            ret_shop->idle[k] +=
                market->all.nodes[n].pool == pool ? free_on(market, n, k) : 0;
        }
    }
    for (int j = 0; j < market->all.job_count; j++) {
        bool is_here = market_waits(market, j) && market->at[j] == pool;
        ret_shop->waiting += is_here;
        ret_shop->has_own_waiting |= is_here && market->home[j] == pool &&
                                     has_nodes(market, pool, j, true);
    }
}

/* In quarters of a core: a GB weighs as much. */
static int weigh(const struct shop *shop)
{
    return shop->idle[0] * 4 + shop->idle[1];
}

static bool goes_before(const struct shop *a, const struct shop *b)
{
    if (weigh(a) != weigh(b)) {
        return weigh(a) > weigh(b);
    }
    return a->waiting != b->waiting ? a->waiting < b->waiting
                                    : a->pool < b->pool;
}

static bool has_room(const struct market *market, const struct shop *shop,
                     int job)
{
    const int *request = market->all.jobs[job].request;

    int count = size_of(market, job);

    return request[0] * count <= shop->idle[0] &&
           request[1] * count <= shop->idle[1] &&
           has_nodes(market, shop->pool, job, false);
}

static bool may_lend(const struct market *market, int home, int pool)
{
    unsigned allowed = market->pools[home].lenders;

    return pool != home && market->pools[pool].is_there &&
           !market->pools[pool].is_sharing_off &&
           (!allowed || allowed >> pool & 1);
}

/* The shop that a job goes to, or -1. */
static int choose(struct market *market, const struct shop *shops, int count,
                  int job)
{
    bool is_asked[MARKET_POOLS] = {0};
    int passed = 0;

    for (int i = 0; i < count; i++) {
        int next = -1;
        for (int s = 0; s < count; s++) {
            if (!is_asked[s] &&
                (next < 0 || goes_before(&shops[s], &shops[next]))) {
                next = s;
            }
        }
        is_asked[next] = true;
        if (has_room(market, &shops[next], job) &&
            passed++ >= market->tries[job]) {
            return shops[next].has_own_waiting ? -1 : next;
        }
    }
    market->tries[job] = 0; /* it begins with the first again */
    return -1;
}

static void hand_out_one(struct market *market, struct shop *shops, int count,
                         int job)
{
    struct shop home;

    look_at(market, market->home[job], &home);
    if (has_room(market, &home, job)) {
        return; /* something else keeps it */
    }
    int to = choose(market, shops, count, job);
    for (int j = 0; to >= 0 && j < market->all.job_count; j++) {
        if (market_is_of(market, job, j)) {
            shops[to].idle[0] -= market->all.jobs[j].request[0];
            shops[to].idle[1] -= market->all.jobs[j].request[1];
            market->at[j] = shops[to].pool;
        }
    }
    if (to >= 0) {
        shops[to].waiting++;
    }
}

/* In what order they ask: more urgent first; of one urgency one of each queue
 * and kind in turn, those kinds first whose first job comes first. */

static bool is_like(const struct instance_job *a, const struct instance_job *b)
{
    if (a->gang || b->gang) { /* of one urgency they are of one kind */
        return a->gang && b->gang && a->queue == b->queue &&
               CLASSES[a->priority_class].priority ==
                   CLASSES[b->priority_class].priority;
    }
    return a->queue == b->queue && a->priority_class == b->priority_class &&
           a->request[0] == b->request[0] && a->request[1] == b->request[1];
}

static bool is_before(const struct market *market, int a, int b)
{
    const struct instance_job *x = &market->all.jobs[a];
    const struct instance_job *y = &market->all.jobs[b];

    if (x->priority != y->priority) {
        return x->priority < y->priority;
    }
    return x->submitted != y->submitted ? x->submitted < y->submitted : a < b;
}

/* Of its kind, those that wait here before it; and the first of them all. */
static int turn_of(const struct market *market, const bool *is_listed, int job,
                   int *ret_first)
{
    int before = 0;

    *ret_first = job;
    for (int j = 0; j < market->all.job_count; j++) {
        if (is_listed[j] &&
            is_like(&market->all.jobs[j], &market->all.jobs[job])) {
            before += is_before(market, j, job);
            *ret_first = is_before(market, j, *ret_first) ? j : *ret_first;
        }
    }
    return before;
}

/* Who has its turn before whom: `is_listed` are all that wait at home,
 * `is_left` those of them that the plan does not start. */
static bool asks_before(const struct market *market, const bool *is_listed,
                        const bool *is_left, int a, int b)
{
    const struct instance_job *x = &market->all.jobs[a];
    const struct instance_job *y = &market->all.jobs[b];
    int gap = CLASSES[x->priority_class].priority -
              CLASSES[y->priority_class].priority;
    int first_a, first_b;

    if (gap) {
        return gap > 0;
    }
    int turn_a = turn_of(market, is_left, a, &first_a);
    int turn_b = turn_of(market, is_left, b, &first_b);
    if (turn_a != turn_b) {
        return turn_a < turn_b;
    }
    if (x->queue != y->queue) {
        return x->queue < y->queue;
    }
    (void)turn_of(market, is_listed, a, &first_a);
    (void)turn_of(market, is_listed, b, &first_b);
    return is_before(market, first_a, first_b);
}

/* The last of a gang stands for it. */
static bool is_head(const struct market *market, int job)
{
    for (int j = 0; j < market->all.job_count; j++) {
        if (market_is_of(market, job, j) && is_before(market, job, j)) {
            return false;
        }
    }
    return true;
}

static void hand_out(struct market *market, int pool,
                     const struct oracle_plan *plan)
{
    struct shop shops[MARKET_POOLS];
    bool is_listed[INSTANCE_JOBS_MAX], is_left[INSTANCE_JOBS_MAX];
    int order[INSTANCE_JOBS_MAX], order_count = 0, count = 0;

    for (int p = 0; p < market->pool_count; p++) {
        if (may_lend(market, pool, p)) {
            look_at(market, p, &shops[count]);
            count += weigh(&shops[count]) > 0;
        }
    }
    for (int j = 0; j < market->all.job_count; j++) {
        const struct instance_job *job = &market->all.jobs[j];
        is_listed[j] = market_waits(market, j) && is_head(market, j) &&
                       market->home[j] == pool && market->at[j] == pool &&
                       market_may_borrow(job->priority_class) &&
                       !market->all.queues[job->queue].is_cordoned;
        is_left[j] = is_listed[j] && !is_leased_by(plan, j);
    }
    for (int j = 0; count && j < market->all.job_count; j++) {
        if (!is_left[j]) {
            continue;
        }
        int at = order_count++;
        for (; at > 0 &&
               asks_before(market, is_listed, is_left, j, order[at - 1]);
             at--) {
            order[at] = order[at - 1];
        }
        order[at] = j;
    }
    for (int i = 0; i < order_count; i++) {
        hand_out_one(market, shops, count, order[i]);
    }
}

void market_lend(struct market *market, int pool, enum round_kind kind,
                 const struct oracle_plan *plan)
{
    const struct market_pool *flags = &market->pools[pool];
    bool is_borrower[INSTANCE_JOBS_MAX];

    for (int j = 0; j < market->all.job_count; j++) {
        is_borrower[j] = market_waits(market, j) && market->at[j] == pool &&
                         market->home[j] != pool && !is_leased_by(plan, j);
    }
    if ((kind == ROUND_BALANCE || flags->is_borrow_first) &&
        !flags->is_borrowing_off) {
        hand_out(market, pool, plan);
    }
    for (int j = 0; j < market->all.job_count; j++) {
        if (is_borrower[j]) {
            market->at[j] = market->home[j];
            market->tries[j]++;
        }
    }
}

void market_apply(struct market *market, const struct oracle_decision *decision,
                  int now)
{
    struct instance_job *job = &market->all.jobs[decision->job];

    if (decision->action == SCHED_LEASE) {
        job->node = decision->node;
        job->leased = now;
        job->was_leased = true;
    } else {
        job->node = NO_NODE;
        market->at[decision->job] = market->home[decision->job];
    }
}
