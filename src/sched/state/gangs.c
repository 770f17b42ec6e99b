#include "sched/state/state.h"
#include "sched/state/sub_groups.h"

bool gang_is_ready(const struct gang *gang)
{
    if (gang->waiting.count == 0) {
        return false;
    }
    return gang_has_terms(gang)
               ? sub_groups_are_complete(gang)
               : gang->started_count ||
                     gang->waiting.count + gang->leased.count >=
                         gang->cardinality;
}

uint32_t gang_needed(const struct gang *gang)
{
    uint32_t wanted = gang->waiting.count, running = gang->leased.count;
    uint32_t needed = gang->minimum > running ? gang->minimum - running : 1;

    return gang_has_terms(gang) || needed > wanted ? wanted : needed;
}

struct resource_vec gang_least(const struct sched *sched, uint32_t at_gang)
{
    struct gang *gang = &sched->gangs.items[at_gang];
    uint32_t needed = gang_needed(gang), left = needed;
    struct resource_vec sum = {0};

    if (needed == gang->waiting.count) {
        return gang->waiting_sum;
    }
    if (needed == gang->least_count) {
        return gang->least;
    }
    ASSERT(needed < gang->waiting.count); /* else it is all that waits */
    for (struct seq_cursor at = {0}; left > 0; seq_next(&gang->waiting, &at)) {
        const struct job *job = &sched->jobs.items[seq_get(&gang->waiting, at)];
        uint32_t class_index = sched->lists.items[job->list].class_index;
        amounts_add(&sum, &sched->classes.items[class_index].request);
        left--;
    }
    gang->least_count = needed;
    gang->least = sum;
    return sum;
}

uint32_t gang_pool(const struct sched *sched, const struct gang *gang)
{
    uint32_t own = sched->lists.items[gang->list].pool;

    for (struct seq_cursor at = {0};
         own == NONE && !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t index = sched->jobs.items[seq_get(&gang->leased, at)].run;
        const struct run *run = &sched->runs.items[index];
        uint32_t pool = sched->nodes.items[run->node].pool;
        own = pool != NONE && sched->pools.items[pool].policy_index >= 0 ? pool
                                                                         : NONE;
    }
    return own;
}
