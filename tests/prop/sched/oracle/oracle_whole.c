/* Gangs that have their nodes whole (model.md 2.10): where members of such a
 * gang run nobody else is.  What it asks for goes to the least costly cover of
 * empty nodes; where these do not suffice, nodes are cleared for it, those
 * whose clearing costs others least. */
#include "oracle_private.h"

enum { SUB_GROUPS = 3 };

int oracle_holder(const struct oracle *o, int node)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].is_whole && o->node[j] == node &&
            oracle_runs(o, j)) {
            return o->in->jobs[j].gang;
        }
    }
    return 0;
}

bool oracle_is_used(const struct oracle *o, int node)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->node[j] == node && oracle_runs(o, j)) {
            return true;
        }
    }
    return false;
}

bool oracle_is_barred(const struct oracle *o, int job, int node)
{
    int holder = oracle_holder(o, node);

    if (holder || !o->in->jobs[job].is_whole) {
        return holder && holder != o->in->jobs[job].gang;
    }
    return oracle_is_used(o, node);
}

bool oracle_allows_evicting(const struct oracle *o, int job, int node)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].is_whole && o->node[j] == node &&
            o->status[j] == PLACED) {
            return oracle_allows(o, job, node);
        }
    }
    return oracle_is_place(o, job, node);
}

/* A node for the gang. */
struct room {
    bool is_usable, is_held, is_busy; /* is_busy: others would have to go */
    int left[INSTANCE_KINDS];         /* without them */
};

struct choice {
    struct oracle *o;
    int gang;
    bool may_clear;
    bool is_later; /* for a reservation */
    struct room rooms[INSTANCE_NODES_MAX];
    int jobs[INSTANCE_JOBS_MAX], nodes[INSTANCE_JOBS_MAX], count;
};

static void look_at(struct choice *choice, int node)
{
    const struct oracle *o = choice->o;
    struct room *room = &choice->rooms[node];
    int holder = oracle_holder(o, node);

    room->is_held = holder == choice->gang;
    room->is_busy = holder ? !room->is_held : oracle_is_used(o, node);
    room->is_usable = !room->is_busy || choice->may_clear;
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        room->left[k] = room->is_busy ? o->in->nodes[node].capacity[k]
                                      : oracle_free(o, node, k);
    }
}

/* A node that is to show that it no longer fails takes one job. */
static int trial_max(const struct choice *choice, int node, int most)
{
    bool is_taken = false;

    for (int i = 0; i < choice->count; i++) {
        is_taken |= choice->nodes[i] == node;
    }
    return choice->o->in->nodes[node].health != NODE_TRIAL || choice->is_later
               ? most
           : is_taken || most == 0 ? 0
                                   : 1;
}

static bool may_come(const struct choice *choice, int job, int node)
{
    const struct oracle *o = choice->o;

    if (choice->is_later) {
        return oracle_is_place(o, job, node);
    }
    return oracle_pass(o, job, node) != BACKFILL_NO &&
           (choice->rooms[node].is_busy ? oracle_allows_evicting(o, job, node)
                                        : oracle_allows(o, job, node));
}

/* How many pods like a job a room holds, up to `most`. */
static int count_in(const struct choice *choice, int job, int node, int most)
{
    const struct room *room = &choice->rooms[node];
    const int *request = choice->o->in->jobs[job].request;
    bool may = room->is_usable && may_come(choice, job, node);

    for (int k = 0; k < NODE_KINDS && request[k]; k++) {
        int times = room->left[k] < 0 ? 0 : room->left[k] / request[k];
        most = times < most ? times : most;
    }
    return may ? trial_max(choice, node, most) : 0;
}

/* The next of a sub-group without a place yet, or -1; how many are. */
static int next_of(const struct choice *choice, int sub_group, int *ret_count)
{
    const struct oracle *o = choice->o;
    int next = -1;

    *ret_count = 0;
    for (int j = o->in->job_count - 1; j >= 0; j--) {
        bool is_of = o->status[j] == WAITING &&
                     o->in->jobs[j].gang == choice->gang &&
                     o->in->jobs[j].sub_group == sub_group;
        for (int i = 0; i < choice->count; i++) {
            is_of &= choice->jobs[i] != j;
        }
        next = is_of ? j : next;
        *ret_count += is_of;
    }
    return next;
}

/* Give a room to as many of a sub-group as it holds, or as ask. */
static void fill(struct choice *choice, int sub_group, int node)
{
    struct room *room = &choice->rooms[node];
    int asked, job = next_of(choice, sub_group, &asked);
    int count = job < 0 ? 0 : count_in(choice, job, node, asked);

    for (int i = 0; i < count; i++) {
        job = next_of(choice, sub_group, &asked);
        choice->jobs[choice->count] = job;
        choice->nodes[choice->count++] = node;
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            room->left[k] -= choice->o->in->jobs[job].request[k];
        }
    }
    room->is_held |= count > 0;
}

/* A set of nodes, as bits. */
struct cover {
    unsigned nodes;
    uint64_t cost;
    int node_count;
};

static bool is_better(const struct cover *a, const struct cover *b)
{
    if (a->cost != b->cost) {
        return a->cost < b->cost;
    }
    if (a->node_count != b->node_count) {
        return a->node_count < b->node_count;
    }
    unsigned first = a->nodes ^ b->nodes; /* the first that is in only one */
    return a->nodes & first & -first;
}

/* The least costly set of empty nodes for what a sub-group yet asks for. */
static bool cover(struct choice *choice, int sub_group)
{
    int asked, job = next_of(choice, sub_group, &asked);
    struct cover best = {0};
    bool has_best = false;

    for (unsigned nodes = 1; nodes < 1u << choice->o->in->node_count; nodes++) {
        struct cover set = {.nodes = nodes};
        int held = 0;
        for (int n = 0; n < choice->o->in->node_count; n++) {
            const struct room *room = &choice->rooms[n];
            if (nodes >> n & 1) {
                bool is_empty = !room->is_held && !room->is_busy;
                held += is_empty ? count_in(choice, job, n, asked) : 0;
                set.cost += oracle_weigh(choice->o, room->left);
                set.node_count++;
            }
        }
        if (held >= asked && (!has_best || is_better(&set, &best))) {
            best = set;
            has_best = true;
        }
    }
    for (int n = 0; n < choice->o->in->node_count; n++) {
        if (best.nodes >> n & 1) {
            fill(choice, sub_group, n);
        }
    }
    return has_best;
}

/* Choose which nodes to clear, the cheapest first, those that are empty before
 * all; what is not needed after all is left out, the dearest first. */
static bool cover_clearing(struct choice *choice, int sub_group)
{
    const struct oracle *o = choice->o;
    int asked, job = next_of(choice, sub_group, &asked);
    int nodes[INSTANCE_NODES_MAX], count = 0, held = 0, taken = 0;
    struct price prices[INSTANCE_NODES_MAX];
    bool is_chosen[INSTANCE_NODES_MAX] = {0};

    for (int n = 0; n < o->in->node_count; n++) {
        if (choice->rooms[n].is_held || !count_in(choice, job, n, asked) ||
            !oracle_price_all(o, job, n, &prices[n])) {
            continue;
        }
        int at = count++;
        for (; at > 0 &&
               oracle_price_compare(o, &prices[n], &prices[nodes[at - 1]]) < 0;
             at--) {
            nodes[at] = nodes[at - 1];
        }
        nodes[at] = n;
    }
    for (; taken < count && held < asked; taken++) {
        is_chosen[taken] = true;
        held += count_in(choice, job, nodes[taken], asked);
    }
    if (held < asked) {
        return false;
    }
    for (int i = taken - 1; i >= 0; i--) {
        int here = count_in(choice, job, nodes[i], asked);
        is_chosen[i] = held - here < asked;
        held -= is_chosen[i] ? 0 : here;
    }
    for (int i = taken - 1; i >= 0; i--) {
        if (is_chosen[i] && choice->rooms[nodes[i]].is_busy) {
            fill(choice, sub_group, nodes[i]);
        }
    }
    return next_of(choice, sub_group, &asked) < 0 || cover(choice, sub_group);
}

static bool choose(struct choice *choice, int sub_group)
{
    int asked;

    for (int n = 0; n < choice->o->in->node_count; n++) {
        if (choice->rooms[n].is_held) {
            fill(choice, sub_group, n);
        }
    }
    return next_of(choice, sub_group, &asked) < 0 || cover(choice, sub_group) ||
           (choice->may_clear && cover_clearing(choice, sub_group));
}

/* The sub-group with the largest pods of those that still ask, or -1. */
static int next_sub_group(const struct choice *choice)
{
    int best = -1, asked;
    uint64_t best_weight = 0;

    for (int s = 0; s < SUB_GROUPS; s++) {
        int job = next_of(choice, s, &asked);
        uint64_t weight =
            job < 0 ? 0
                    : oracle_weigh(choice->o, choice->o->in->jobs[job].request);
        if (job >= 0 && (best < 0 || weight > best_weight)) {
            best = s;
            best_weight = weight;
        }
    }
    return best;
}

static bool choose_all(struct choice *choice)
{
    for (int s; (s = next_sub_group(choice)) >= 0;) {
        if (!choose(choice, s)) {
            return false;
        }
    }
    return true;
}

bool oracle_fits_whole(const struct oracle *o, int gang,
                       int rooms[INSTANCE_NODES_MAX][INSTANCE_KINDS],
                       int taken[INSTANCE_NODES_MAX][INSTANCE_KINDS])
{
    struct oracle scratch = *o;
    struct choice choice = {
        .o = &scratch, .gang = o->in->jobs[gang].gang, .is_later = true};

    for (int n = 0; n < o->in->node_count; n++) {
        choice.rooms[n] = (struct room){
            .is_usable = true,
            .is_held = oracle_holder(o, n) == choice.gang,
        };
        memcpy(choice.rooms[n].left, rooms[n], sizeof(rooms[n]));
    }
    bool is_fitting = choose_all(&choice);
    for (int i = 0; is_fitting && i < choice.count; i++) {
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            taken[choice.nodes[i]][k] += o->in->jobs[choice.jobs[i]].request[k];
            rooms[choice.nodes[i]][k] -= o->in->jobs[choice.jobs[i]].request[k];
        }
    }
    return is_fitting;
}

/* Lease what was chosen. */
static bool settle(struct choice *choice)
{
    struct oracle *o = choice->o;

    for (int i = 0; i < choice->count; i++) {
        int job = choice->jobs[i], node = choice->nodes[i];
        bool is_foul =
            oracle_is_used(o, node) && oracle_holder(o, node) != choice->gang;
        if (is_foul && !oracle_clear(o, job, node)) {
            return false;
        }
        oracle_lease(o, job, node);
    }
    return true;
}

bool oracle_place_whole(struct oracle *o, int gang, bool may_clear)
{
    struct choice choice = {
        .o = o, .gang = o->in->jobs[gang].gang, .may_clear = may_clear};

    for (int n = 0; n < o->in->node_count; n++) {
        look_at(&choice, n);
    }
    return choose_all(&choice) && settle(&choice);
}

bool oracle_place_whole_near(struct oracle *o, int job,
                             const bool is_in[INSTANCE_NODES_MAX],
                             bool may_clear)
{
    struct choice choice = {
        .o = o, .gang = o->in->jobs[job].gang, .may_clear = may_clear};

    for (int n = 0; n < o->in->node_count; n++) {
        look_at(&choice, n);
        choice.rooms[n].is_usable &= is_in[n];
    }
    return choose(&choice, o->in->jobs[job].sub_group) && settle(&choice);
}
