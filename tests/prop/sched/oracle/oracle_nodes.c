/* Where there is room. */
#include "oracle_private.h"

int oracle_free(const struct oracle *o, int node, int kind)
{
    int left = o->in->nodes[node].capacity[kind];

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && o->node[j] == node) {
            left -= o->in->jobs[j].request[kind];
        }
    }
    return left;
}

/* Whether a node that is on trial has got its one job by this plan. */
static bool is_tried(const struct oracle *o, int node)
{
    bool has_new = false;

    for (int j = 0; j < o->in->job_count; j++) {
        has_new |= o->status[j] == PLACED && o->node[j] == node;
    }
    return has_new && o->in->nodes[node].health == NODE_TRIAL;
}

bool oracle_is_place(const struct oracle *o, int job, int node)
{
    const struct instance_job *j = &o->in->jobs[job];
    const struct instance_node *n = &o->in->nodes[node];

    return (!o->only || o->only >> node & 1) && instance_is_open(o->in, node) &&
           !is_tried(o, node) && !(o->kept_nodes[job] >> node & 1) &&
           (o->is_away[job] ? n->is_tainted
                            : !n->is_tainted || j->is_tolerant) &&
           (j->rack == 0 || j->rack == n->rack) && !(j->avoided >> node & 1);
}

bool oracle_allows(const struct oracle *o, int job, int node)
{
    return oracle_is_place(o, job, node) && !oracle_is_barred(o, job, node);
}

uint64_t oracle_weigh(const struct oracle *o, const int room[INSTANCE_KINDS])
{
    const int64_t unit[NODE_KINDS] = {1000, o->in->has_gpus ? 1 : 1000000000};
    uint64_t sum = 0;

    for (int k = 0; k < NODE_KINDS; k++) {
        int64_t all = instance_total(o->in, k) * unit[k];
        uint64_t weight =
            all ? ((uint64_t)1 << 62) / RESOURCE_COLUMNS_MAX / (uint64_t)all
                : 0;
        sum += room[k] > 0 ? weight * (uint64_t)(room[k] * unit[k]) : 0;
    }
    return sum;
}

bool oracle_fits(const struct oracle *o, int job, const int room[])
{
    return o->in->jobs[job].request[0] <= room[0] &&
           o->in->jobs[job].request[1] <= room[1];
}

bool oracle_is_kept(const struct oracle *o, int job, int node)
{
    return o->keeps_gpus && o->in->nodes[node].capacity[GPUS] &&
           !o->in->jobs[job].request[GPUS];
}

int oracle_find_free(const struct oracle *o, int job, int rack)
{
    int best = NO_NODE;
    uint64_t best_key = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        int room[INSTANCE_KINDS] = {oracle_free(o, n, 0), oracle_free(o, n, 1)};
        uint64_t key = oracle_weigh(o, room);
        if (oracle_allows(o, job, n) && oracle_pass(o, job, n) != BACKFILL_NO &&
            oracle_fits(o, job, room) && !oracle_is_kept(o, job, n) &&
            (!rack || o->in->nodes[n].rack == rack) &&
            (best == NO_NODE || key < best_key)) {
            best = n;
            best_key = key;
        }
    }
    return best;
}
