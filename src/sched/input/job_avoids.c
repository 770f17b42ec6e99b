/* Nodes that jobs avoid because they failed to start there. */
#include <string.h>

#include "sched/input/jobs.h"

void jobs_forget_avoided(struct sched *sched, uint32_t index)
{
    if (!(sched->job_flags.items[index] & JOB_AVOIDS)) {
        return;
    }
    uint32_t at = map_remove(&sched->avoid_map, key_of_u64(index));
    struct avoid_list *avoid = &sched->avoids.items[at];
    for (uint32_t i = 0; i < avoid->count; i++) {
        ASSERT(sched->nodes.items[avoid->nodes[i]].avoid_count > 0);
        sched->nodes.items[avoid->nodes[i]].avoid_count--;
        node_touch(sched, avoid->nodes[i]);
    }
    SLOTS_GIVE(&sched->avoids, at);
    sched->job_flags.items[index] &= (uint8_t)~JOB_AVOIDS;
}

void sched_job_avoid(struct sched *sched, uint32_t index, uint32_t node)
{
    uint32_t at;

    (void)jobs_at(sched, index);
    ASSERT(node < sched->nodes.count && sched->nodes.items[node].name);
    sched->version++;
    if (!(sched->job_flags.items[index] & JOB_AVOIDS)) {
        at = SLOTS_TAKE(&sched->avoids);
        sched->avoids.items[at] = (struct avoid_list){0};
        map_put(&sched->avoid_map, key_of_u64(index), at);
        sched->job_flags.items[index] |= JOB_AVOIDS;
    }
    if (job_avoids(sched, index, node)) {
        return;
    }
    at = map_find(&sched->avoid_map, key_of_u64(index));
    struct avoid_list *avoid = &sched->avoids.items[at];
    if (avoid->count == SCHED_AVOIDED_NODES_MAX) {
        sched->nodes.items[avoid->nodes[0]].avoid_count--;
        node_touch(sched, avoid->nodes[0]);
        avoid->count--;
        memmove(avoid->nodes, avoid->nodes + 1,
                avoid->count * sizeof(*avoid->nodes));
    }
    avoid->nodes[avoid->count++] = node;
    ASSERT(avoid->count <= SCHED_AVOIDED_NODES_MAX); /* the oldest made way */
    sched->nodes.items[node].avoid_count++;
}
