/* Work that may go away (model.md 6.10b): to nodes of the one type that there
 * is, which have the taint, less urgent than at home. */
#include "oracle_private.h"

typedef int find_fn(struct oracle *o, int job, int rack);

static int find_away(struct oracle *o, int job, int rack, find_fn *find)
{
    int node = NO_NODE;

    if (o->in->away_level && o->in->jobs[job].priority_class == AWAY_CLASS) {
        o->is_away[job] = true;
        node = find(o, job, rack);
        o->is_away[job] = node != NO_NODE;
    }
    return node;
}

static int find_free(struct oracle *o, int job, int rack)
{
    return oracle_find_free(o, job, rack);
}

int oracle_find_free_away(struct oracle *o, int job, int rack)
{
    return find_away(o, job, rack, find_free);
}

int oracle_find_victims_away(struct oracle *o, int job, int rack)
{
    return find_away(o, job, rack, oracle_find_with_victims);
}
