#include "sched/gang/locality_fit.h"

#include "sched/gang/locality.h"
#include "sched/place/exclusive_node.h"
#include "sched/state/distance_cap.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"
#include "sched/state/topology.h"
#include "sched/victims/away.h"

/* Members on one node or in one domain. */
struct holding {
    uint64_t free, empty;
};

/* A sub-group in a pool. */
struct fitting {
    const struct sched *sched;
    const struct topology *topology;
    uint32_t job, class_index;
    const struct class *class;
    const struct requirement *requirement;
    uint32_t level_max;
    struct locality_fit *fit;
};

static struct holding count_on(const struct fitting *fitting, uint32_t index)
{
    const struct sched *sched = fitting->sched;
    const struct node *node = &sched->nodes.items[index];
    struct holding holding = {
        .empty = extras_times_empty(
            sched, index, fitting->class,
            amounts_times(&fitting->class->request, &node->capacity)),
    };
    if (fitting->class->is_impossible || holding.empty == 0 ||
        away_match(sched, fitting->requirement, fitting->class_index, index) !=
            SCHED_EXCLUSIONS) {
        return (struct holding){0};
    }
    if (node->is_accepting &&
        !exclusive_node_keeps_from(sched, fitting->job, index)) {
        holding.free = extras_times(
            sched, index, fitting->class,
            amounts_times(&fitting->class->request, &sched->free[index]));
    }
    ASSERT(holding.free <= holding.empty); /* runs only take room */
    return holding;
}

static void consider(struct fitting *fitting, uint32_t level,
                     const struct holding *holding, struct str name)
{
    struct locality_fit *fit = fitting->fit;

    if (level > fitting->topology->level_count &&
        holding->free > fit->open_count) {
        fit->open_count = holding->free;
    }
    if (level > fitting->level_max) {
        return;
    }
    if (holding->free > fit->free_count) {
        fit->free_count = holding->free;
        fit->domain = name;
    }
    if (holding->empty > fit->empty_count) {
        fit->empty_count = holding->empty;
    }
}

static void count_domains(struct fitting *fitting, struct arena *arena)
{
    const struct topology *topology = fitting->topology;
    struct holding *domains =
        arena_alloc_array(arena, topology->domain_count, sizeof(*domains));

    for (uint32_t i = 0; i < topology->node_count; i++) {
        uint32_t node = topology->nodes[i];
        struct holding here = count_on(fitting, node);
        domains[topology->lowest[i]].free += here.free;
        domains[topology->lowest[i]].empty += here.empty;
        consider(fitting, 0, &here, sched_node_name(fitting->sched, node));
    }
    for (uint32_t d = 0; d < topology->domain_count; d++) {
        const struct domain *domain = &topology->domains[d];
        /* A domain's sum is complete when its turn comes: parts come first. */
        ASSERT(domain->parent == NONE || domain->parent > d);
        consider(fitting, domain->level, &domains[d], domain->value);
        if (domain->parent != NONE) {
            domains[domain->parent].free += domains[d].free;
            domains[domain->parent].empty += domains[d].empty;
        }
    }
}

/* The first member that is asked for, or NONE. */
static uint32_t first_asked(const struct gang *gang, uint32_t sub_group)
{
    const struct seq *asked = sub_group_required(gang, sub_group);

    return asked->count ? seq_get(asked, (struct seq_cursor){0}) : NONE;
}

/* The level over which what runs of a sub-group is spread: what comes to it may
 * be as far apart, whatever its cap says. */
static uint32_t spread_of(const struct sched *sched,
                          const struct topology *topology,
                          const struct gang *gang, uint32_t sub_group)
{
    const struct seq *leased = sub_group_leased(gang, sub_group);
    struct locality_anchor anchor = {.domain = NONE};

    for (struct seq_cursor at = {0}; !seq_is_end(leased, at);
         seq_next(leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(leased, at)].run;
        locality_anchor_add(topology, &anchor, sched->runs.items[run].node);
    }
    return locality_anchor_level(topology, &anchor);
}

void locality_fit_of(const struct sched *sched, uint32_t pool,
                     const struct gang *gang, uint32_t sub_group,
                     struct locality_fit *ret_fit)
{
    auto_arena arena = {0};
    const struct topology *topology = topology_of(sched, pool);
    uint32_t job = first_asked(gang, sub_group);

    *ret_fit = (struct locality_fit){.domain = {"", 0}};
    if (job == NONE || !topology) {
        return;
    }
    uint32_t class_index =
        sched->lists.items[sched->jobs.items[job].list].class_index;
    struct fitting fitting = {
        .sched = sched,
        .topology = topology,
        .job = job,
        .class_index = class_index,
        .class = &sched->classes.items[class_index],
        .requirement = class_decode(sched, class_index, &arena),
        .level_max = topology_level_max(
            topology, sub_group_terms(gang, sub_group)->hops_max),
        .fit = ret_fit,
    };
    uint32_t spread = spread_of(sched, topology, gang, sub_group);
    fitting.level_max = spread > fitting.level_max ? spread : fitting.level_max;
    ASSERT(fitting.level_max <= topology->level_count + 1);
    count_domains(&fitting, &arena);
    ASSERT(ret_fit->free_count <= ret_fit->empty_count);
}

bool locality_may_ever_fit(const struct sched *sched, uint32_t pool,
                           const struct gang *gang)
{
    if (!topology_of(sched, pool) || !distance_is_capped(gang)) {
        return true;
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct sub_group *group = sub_group_terms(gang, i);
        uint32_t asked = sub_group_required(gang, i)->count;
        struct locality_fit fit;
        if (asked == 0 || group->hops_max == HOPS_ANY ||
            group->hops_wait_ms > 0) {
            continue;
        }
        locality_fit_of(sched, pool, gang, i, &fit);
        if (fit.empty_count < asked) {
            return false;
        }
    }
    return true;
}
