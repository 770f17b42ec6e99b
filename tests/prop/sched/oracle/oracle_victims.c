/* Where others make room: on which node, when no gang with terms is at risk.
 * The order is that in which evicted work would win its place back. */
#include "oracle_private.h"

/* Whether a run gives way before all that is evicted. */
static bool goes_first(const struct oracle *o, int job)
{
    return oracle_is_revocable(o, job) || oracle_may_recall(o, job);
}

/* 1 + the ordinal down to which evicted work on the node must go; 0: none. */
static int cut_of(const struct oracle *o, int job, int node)
{
    int room[INSTANCE_KINDS] = {oracle_free(o, node, 0),
                                oracle_free(o, node, 1)};

    for (int j = 0; j < o->in->job_count; j++) {
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            room[k] += goes_first(o, j) && o->node[j] == node
                           ? o->in->jobs[j].request[k]
                           : 0;
        }
    }
    for (int ordinal = INSTANCE_JOBS_MAX; ordinal >= o->turn; ordinal--) {
        bool is_any = false;
        for (int j = 0; j < o->in->job_count; j++) {
            if (o->status[j] == EVICTED && o->node[j] == node &&
                o->ordinal[j] == ordinal && !goes_first(o, j) &&
                oracle_level(o, j) <= oracle_level(o, job) &&
                !oracle_is_own(o, j, job)) {
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

static int find_fair(const struct oracle *o, int job, int rack, int *cut)
{
    int best = NO_NODE;

    for (int n = 0; n < o->in->node_count; n++) {
        int here = cut_of(o, job, n);
        if (here && oracle_allows(o, job, n) &&
            oracle_pass(o, job, n) != BACKFILL_NO &&
            !oracle_is_soon(o, job, n) &&
            (!rack || o->in->nodes[n].rack == rack) &&
            (best == NO_NODE || here > *cut)) {
            best = n;
            *cut = here;
        }
    }
    return best;
}

static int find_urgent(const struct oracle *o, int job, int rack,
                       struct rules *found)
{
    static const int LEVELS[] = {200, 500, 700, 1000, 10000};

    for (int l = 0; l < 5 && LEVELS[l] < oracle_level(o, job); l++) {
        int best = NO_NODE;
        uint64_t best_key = 0;
        for (int n = 0; n < o->in->node_count; n++) {
            const struct rules rules = {.level_max = LEVELS[l],
                                        .is_bound = oracle_is_soon(o, job, n)};
            int room[INSTANCE_KINDS] = {oracle_free(o, n, 0),
                                        oracle_free(o, n, 1)};
            for (int j = 0; j < o->in->job_count; j++) {
                if (oracle_may_go(o, j, job, n, &rules)) {
                    room[0] += o->in->jobs[j].request[0];
                    room[1] += o->in->jobs[j].request[1];
                }
            }
            uint64_t key = oracle_weigh(o, room);
            if (oracle_allows(o, job, n) &&
                oracle_pass(o, job, n) != BACKFILL_NO &&
                oracle_fits(o, job, room) &&
                (!rack || o->in->nodes[n].rack == rack) &&
                (best == NO_NODE || key < best_key)) {
                best = n;
                best_key = key;
            }
        }
        if (best != NO_NODE) {
            found->level_max = LEVELS[l];
            found->is_bound = oracle_is_soon(o, job, best);
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
            if (goes_first(o, j) && o->node[j] == n) {
                room[0] += o->in->jobs[j].request[0];
                room[1] += o->in->jobs[j].request[1];
                is_any |= oracle_is_revocable(o, j);
            }
        }
        uint64_t key = oracle_weigh(o, room);
        if (is_any && oracle_allows(o, job, n) &&
            oracle_pass(o, job, n) != BACKFILL_NO &&
            oracle_fits(o, job, room) &&
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
    struct rules rules = {.cut = INSTANCE_JOBS_MAX + 2, .level_max = -1};
    bool has_groups = oracle_groups_at_risk(o, job);
    bool compares_sets = has_groups || o->compares_sets;
    bool is_first_step = !has_groups || !oracle_has_recall(o);
    int node =
        is_first_step ? oracle_find_recall(o, job, rack, &rules) : NO_NODE;

    if (node == NO_NODE && is_first_step) {
        node = find_yielding(o, job, rack);
    }
    if (node == NO_NODE) {
        rules.cut = 0;
        if (compares_sets) {
            node = oracle_find_set(o, job, rack, &rules);
        } else if (!instance_has_cooldown(o->in, job, o->now)) {
            node = find_fair(o, job, rack, &rules.cut);
        }
    }
    if (node == NO_NODE && !compares_sets && !o->in->is_urgency_off) {
        rules.cut = 0;
        node = find_urgent(o, job, rack, &rules);
    }
    if (node != NO_NODE) {
        oracle_take_room(o, job, node, &rules);
    }
    return node;
}
