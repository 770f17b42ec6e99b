/* Work whose home is another pool: it is placed last, in what is free, and
 * goes first (model.md 5.4 to 5.6, 6.5 step 5, 6.6 rule a). */
#include "oracle_private.h"

bool oracle_may_recall(const struct oracle *o, int victim)
{
    return o->in->jobs[victim].is_borrowed && oracle_runs(o, victim) &&
           o->status[victim] != PLACED && !o->is_lending &&
           !o->in->is_preemption_off;
}

bool oracle_has_recall(const struct oracle *o)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].is_there && o->in->jobs[j].is_borrowed &&
            o->in->jobs[j].node != NO_NODE) {
            return !o->is_lending && !o->in->is_preemption_off;
        }
    }
    return false;
}

/* Whether there is room on a node once all that may be recalled is gone. */
static bool has_room(const struct oracle *o, int job, int node)
{
    int room[INSTANCE_KINDS] = {oracle_free(o, node, 0),
                                oracle_free(o, node, 1)};

    for (int j = 0; j < o->in->job_count; j++) {
        bool goes = o->node[j] == node && oracle_may_recall(o, j);
        room[0] += goes ? o->in->jobs[j].request[0] : 0;
        room[1] += goes ? o->in->jobs[j].request[1] : 0;
    }
    return oracle_fits(o, job, room);
}

int oracle_find_recall(const struct oracle *o, int job, int rack,
                       struct rules *ret_rules)
{
    const struct rules nobody = {.cut = INSTANCE_JOBS_MAX + 2, .level_max = -1};
    struct price best_price = {0};
    int best = NO_NODE;

    for (int n = 0; n < o->in->node_count; n++) {
        struct rules rules = nobody;
        struct price price;
        if (!oracle_allows(o, job, n) ||
            oracle_pass(o, job, n) == BACKFILL_NO ||
            (rack && o->in->nodes[n].rack != rack) || !has_room(o, job, n) ||
            !oracle_judge(o, job, n, &rules, &price)) {
            continue;
        }
        /* They are all of one rank. */
        if (best == NO_NODE || price.count < best_price.count ||
            (price.count == best_price.count && price.lost < best_price.lost)) {
            best = n;
            best_price = price;
            *ret_rules = rules;
        }
    }
    return best;
}

void oracle_lend(struct oracle *o)
{
    o->is_lending = o->is_filling = true;
    memset(o->is_passed_over, 0, sizeof(o->is_passed_over));
    memset(o->is_hopeless, 0, sizeof(o->is_hopeless));
    oracle_run(o);
}
