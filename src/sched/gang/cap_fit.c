#include "sched/gang/cap_fit.h"

#include "sched/state/distance_cap.h"
#include "sched/state/sub_groups.h"
#include "sched/state/topology.h"

/* Lifetime. */

void cap_fit_init(struct cap_fit *fit, struct sched *sched,
                  const struct gang *gang)
{
    *fit = (struct cap_fit){.sched = sched, .gang = gang};
    if (!distance_is_capped(gang)) {
        return;
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct sub_group *group = sub_group_terms(gang, i);
        uint32_t asked = sub_group_required(gang, i)->count;
        if (asked && group->hops_max != HOPS_ANY && !group->hops_wait_ms) {
            fit->caps[fit->count++] =
                (struct cap){.sub_group = i, .asked = asked, .kind = NONE};
        }
    }
    if (fit->count) {
        nodes_sync(sched);
    }
}

void cap_fit_fini(struct cap_fit *fit)
{
    VEC_FREE(&fit->grounds);
    map_fini(&fit->map);
}

void cap_fit_note(struct cap_fit *fit, uint32_t sub_group, uint32_t kind)
{
    ASSERT(sub_group < sub_groups_count(fit->gang));
    for (uint32_t i = 0; i < fit->count; i++) {
        struct cap *cap = &fit->caps[i];
        if (cap->sub_group == sub_group) {
            cap->is_varied |= cap->kind != NONE && cap->kind != kind;
            cap->kind = kind;
        }
    }
}

static uint32_t hops_max_of(const struct cap_fit *fit, const struct cap *cap)
{
    return sub_group_terms(fit->gang, cap->sub_group)->hops_max;
}

void cap_fit_prepare(struct cap_fit *fit)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < fit->count; i++) {
        if (!fit->caps[i].is_varied) {
            fit->caps[kept++] = fit->caps[i];
        }
    }
    fit->count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        struct cap *cap = &fit->caps[i];
        for (uint32_t k = 0; k < kept; k++) {
            const struct cap *other = &fit->caps[k];
            cap->alike += other->kind == cap->kind &&
                          other->asked >= cap->asked &&
                          hops_max_of(fit, other) <= hops_max_of(fit, cap);
        }
    }
}

/* Nodes. */

bool cap_fit_asks(const struct cap_fit *fit, uint32_t kind)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        if (fit->caps[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static uint32_t level_max_of(const struct cap_fit *fit, const struct cap *cap,
                             uint32_t pool)
{
    const struct topology *topology = topology_of(fit->sched, pool);

    return topology ? topology_level_max(topology, hops_max_of(fit, cap)) : 0;
}

/* The highest domain of a node that a level allows; NONE: the node alone. */
static uint32_t domain_of(const struct sched *sched, uint32_t node,
                          uint32_t level_max)
{
    const struct topology *topology =
        topology_of(sched, sched->nodes.items[node].pool);
    uint32_t domain = level_max ? topology_lowest(topology, node) : NONE;

    if (domain == NONE || topology->domains[domain].level > level_max) {
        return NONE;
    }
    while (!topology_is_highest(topology, domain, level_max)) {
        domain = topology->domains[domain].parent;
    }
    ASSERT(topology->domains[domain].level <= level_max);
    return domain;
}

static struct cap_ground *ground_of(struct cap_fit *fit, uint32_t group,
                                    uint32_t cap, uint32_t node)
{
    const struct sched *sched = fit->sched;
    uint32_t pool = sched->nodes.items[node].pool;
    uint32_t domain =
        domain_of(sched, node, level_max_of(fit, &fit->caps[cap], pool));
    struct key128 key = {
        (uint64_t)group << 32 | cap,
        domain == NONE ? (uint64_t)node << 32 | NONE : domain,
    };
    uint32_t at = map_find(&fit->map, key);

    if (at == MAP_NONE) {
        struct cap_ground fresh = {
            .group = group,
            .cap = cap,
            .name = domain == NONE
                        ? sched_node_name(sched, node)
                        : topology_of(sched, pool)->domains[domain].value,
        };
        at = (uint32_t)fit->grounds.count;
        map_put(&fit->map, key, at);
        VEC_PUSH(&fit->grounds, fresh);
    }
    return &fit->grounds.items[at];
}

void cap_fit_add(struct cap_fit *fit, struct cap_count *count, uint32_t group,
                 uint32_t node, uint32_t kind, uint32_t times)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        const struct cap *cap = &fit->caps[i];
        if (cap->kind != kind) {
            continue;
        }
        struct cap_ground *ground = ground_of(fit, group, i, node);
        bool was_met = count->fits[i] >= cap->alike;
        /* What a ground held before counts already. */
        ASSERT(cap->alike > 0 && count->fits[i] >= ground->count / cap->asked);
        count->fits[i] -= ground->count / cap->asked;
        ground->count += times;
        count->fits[i] += ground->count / cap->asked;
        count->met_count += !was_met && count->fits[i] >= cap->alike;
    }
}

/* The ground that holds most for a cap; equals by name. */
static const struct cap_ground *best_of(const struct cap_fit *fit,
                                        uint32_t group, uint32_t cap)
{
    const struct cap_ground *best = NULL;

    for (size_t i = 0; i < fit->grounds.count; i++) {
        const struct cap_ground *ground = &fit->grounds.items[i];
        if (ground->group == group && ground->cap == cap &&
            (!best || ground->count > best->count ||
             (ground->count == best->count &&
              str_compare(ground->name, best->name) < 0))) {
            best = ground;
        }
    }
    return best;
}

bool cap_fit_miss(const struct cap_fit *fit, const struct cap_count *count,
                  uint32_t group, uint32_t pool,
                  struct sched_gang_miss *ret_miss)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        const struct cap *cap = &fit->caps[i];
        const struct cap_ground *best = best_of(fit, group, i);
        if (count->fits[i] >= cap->alike) {
            continue;
        }
        ASSERT(!best || best->count < (uint64_t)cap->asked * cap->alike);
        ret_miss->sub_group = sub_group_terms(fit->gang, cap->sub_group)->name;
        ret_miss->is_too_far = true;
        ret_miss->hops = 2 * level_max_of(fit, cap, pool);
        ret_miss->needed = cap->asked;
        ret_miss->count = best ? (uint32_t)best->count : 0;
        ret_miss->domain = best ? best->name : str_make("", 0);
        ret_miss->alike = cap->alike;
        ret_miss->alike_fit = (uint32_t)count->fits[i];
        return true;
    }
    return false;
}
