#include "sched/order/watch.h"

#include "sched/order/round.h"
#include "sched/state/sub_groups.h"

void watch_begin(struct round *round)
{
    round->watch.counts = arena_alloc_array(
        round->arena, round->sched->nodes.count, sizeof(*round->watch.counts));
}

void watch_free(struct round *round, uint32_t node)
{
    ASSERT(node < round->sched->nodes.count);
    round->watch.counts[node]++;
    if (round->watch.is_of_costs) {
        VEC_PUSH(&round->watch.costs, node);
    }
}

void watch_return(struct round *round, uint32_t node)
{
    if (round->watch.is_of_rooms) {
        VEC_PUSH(&round->watch.rooms, node);
    }
    watch_free(round, node);
}

void watch_member(struct round *round, uint32_t job, int sign)
{
    const struct sched *sched = round->sched;
    uint32_t index = sched->jobs.items[job].gang;

    if (!round->watch.is_of_costs || index == NONE ||
        !gang_has_terms(&sched->gangs.items[index])) {
        return;
    }
    uint32_t sub_group = sub_group_of(sched, job);
    uint32_t surplus =
        sub_group_surplus(sched, &sched->gangs.items[index], sub_group);
    struct surplus_change change = {
        .gang = index,
        .sub_group = sub_group,
        .surplus_min = sign < 0 && surplus ? surplus - 1 : surplus,
    };
    VEC_PUSH(&round->watch.surplus, change);
}

void watch_gang(struct round *round, uint32_t gang)
{
    if (round->watch.is_of_costs) {
        struct surplus_change change = {gang, NONE, 0};
        VEC_PUSH(&round->watch.surplus, change);
    }
}

void watch_fini(struct watch *watch)
{
    VEC_FREE(&watch->moved);
    VEC_FREE(&watch->grown);
    VEC_FREE(&watch->rooms);
    VEC_FREE(&watch->costs);
    VEC_FREE(&watch->surplus);
    *watch = (struct watch){0};
}
