#include "units_fixture.h"

#include <string.h>

struct gang_terms units_trainers(uint32_t min, uint32_t max)
{
    return (struct gang_terms){
        .kind = GANG_TRAINING_TOLERANT,
        .freezing_window_ms = WINDOW_MS,
        .sub_groups = {{STR("trainer"), min, max, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
}

uint32_t units_submit(struct world *w, const struct world_job *job,
                      const struct gang_terms *terms)
{
    return world_submit_group(w, job, terms);
}

uint32_t units_submit_plain(struct world *w, const char *queue, const char *id,
                            const struct gang_terms *terms)
{
    return units_submit(w, &(struct world_job){.queue = queue, .gang = id},
                        terms);
}

uint32_t units_count_of(const struct world *w, uint32_t first,
                        const struct gang_terms *terms)
{
    return world_running_of(w, first, terms->sub_groups[0].max_count);
}

uint32_t units_count_on(const struct world *w, uint32_t first, uint32_t count,
                        const char *node)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += strcmp(world_node_of(w, i), node) == 0;
    }
    return found;
}

void units_set_cores(struct world *w, const char *name, int64_t cores)
{
    world_node(w, &(struct world_node){name, .cores = cores});
}

void units_add_levels(struct world *w)
{
    static const struct {
        const char *name;
        uint32_t weight;
    } levels[] = {{"w10", 10}, {"w100", 100}, {"w10000", 10000}};
    w->policy.classes[2].cfs_weight = 10000; /* high */

    for (size_t i = 0; i < ARRAY_COUNT(levels); i++) {
        w->policy.classes[w->policy.class_count++] = (struct priority_class){
            .name = str_of(levels[i].name),
            .priority = 1000,
            .is_preemptible = true,
            .cfs_weight = levels[i].weight,
        };
    }
    world_restart(w);
}
