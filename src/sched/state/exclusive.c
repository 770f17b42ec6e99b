#include "sched/state/exclusive.h"

#include "sched/state/sub_groups.h"

bool exclusive_node_is_for(const struct gang *gang)
{
    return sub_groups_have_exclusive_nodes(gang);
}

void exclusive_join(struct sched *sched, const struct gang *gang)
{
    sched->exclusive_gang_count += exclusive_node_is_for(gang);
}

void exclusive_leave(struct sched *sched, const struct gang *gang)
{
    ASSERT(sched->exclusive_gang_count >= exclusive_node_is_for(gang));
    sched->exclusive_gang_count -= exclusive_node_is_for(gang);
}

uint32_t exclusive_gang_of(const struct sched *sched, uint32_t job)
{
    uint32_t gang = job == NONE ? NONE : sched->jobs.items[job].gang;

    return gang != NONE && exclusive_node_is_for(&sched->gangs.items[gang])
               ? gang
               : NONE;
}

bool exclusive_node_serves(const struct sched *sched, uint32_t job)
{
    return exclusive_gang_of(sched, job) != NONE;
}

/* Another gang that has members on a node, after one has left it. */
static void hand_over(struct sched *sched, struct node *node)
{
    ASSERT(!node->holder && node->holder_count == 0);
    for (uint32_t at = node->run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        uint32_t gang = exclusive_gang_of(sched, sched->runs.items[at].job);
        if (gang != NONE && (!node->holder || node->holder == gang + 1)) {
            node->holder = gang + 1;
            node->holder_count++;
        }
    }
}

void exclusive_node_count(struct sched *sched, const struct run *run, int sign)
{
    struct node *node = &sched->nodes.items[run->node];
    uint32_t holder = sched->jobs.items[run->job].gang + 1;

    if (sign > 0 && !node->holder) {
        node->holder = holder;
    }
    if (node->holder != holder) {
        return; /* it came where others were; they hold it */
    }
    ASSERT(sign > 0 || node->holder_count > 0);
    node->holder_count += (uint32_t)sign;
    if (node->holder_count == 0) {
        node->holder = 0;
        hand_over(sched, node);
    }
}
