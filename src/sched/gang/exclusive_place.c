#include "sched/gang/exclusive_place.h"

/* Placing gangs that have their nodes whole, now or as it would be later. */
#include "sched/gang/attempt.h"
#include "sched/gang/exclusive_choose.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/take.h"

/* Whether others are on a node where the gang is to go. */
static bool is_to_clear(const struct exclusive_choice *choice, uint32_t index)
{
    const struct sched *sched = choice->round->sched;
    const struct node *node = &sched->nodes.items[index];

    return choice->may_clear && !exclusive_node_is_unused(sched, index) &&
           exclusive_node_holder(sched, node) != choice->holder;
}

static bool place_all(struct attempt *attempt, uint32_t sub_group_first,
                      uint32_t sub_group_count)
{
    struct round *round = attempt->round;
    uint32_t gang = (uint32_t)(attempt->gang - round->sched->gangs.items);
    struct exclusive_choice choice = {
        .round = round,
        .gang = attempt->gang,
        .holder = gang + 1,
        .may_clear = attempt->preempt_until > 0,
        .places = arena_alloc_array(round->arena, attempt->gang->waiting.count,
                                    sizeof(*choice.places)),
    };

    ASSERT(exclusive_node_is_for(attempt->gang));
    exclusive_choose_rooms(&choice, attempt->only);
    if (!exclusive_choose(&choice, sub_group_first, sub_group_count)) {
        return false;
    }
    for (uint32_t i = 0; i < choice.place_count; i++) {
        const struct exclusive_place *place = &choice.places[i];
        if (is_to_clear(&choice, place->node)) {
            struct search search = {round, place->class_index, place->job,
                                    NULL};
            if (!victims_clear(&search, place->node)) {
                return false; /* others went with it meanwhile */
            }
        }
        if (!extras_fit(round->sched, place->node,
                        class_at(round, place->class_index))) {
            return false; /* other sub-groups have taken them */
        }
        attempt_lease(attempt, place->job, place->node, place->class_index);
        exclusive_node_take(round, gang, place->node);
        /* It is no place for others of the class. */
        class_at(round, place->class_index)->cached_node = NONE;
    }
    return true;
}

static bool fits(struct round *round, const struct gang *gang,
                 const uint32_t *only, struct exclusive_room *rooms,
                 uint32_t room_count)
{
    const struct resource_vec none = {0};
    const struct sched *sched = round->sched;
    struct exclusive_choice choice = {
        .round = round,
        .gang = gang,
        .holder = (uint32_t)(gang - sched->gangs.items) + 1,
        .is_later = true,
        .rooms =
            arena_alloc_array(round->arena, room_count, sizeof(*choice.rooms)),
        .room_count = room_count,
        .places = arena_alloc_array(round->arena, gang->waiting.count,
                                    sizeof(*choice.places)),
    };

    for (uint32_t i = 0; i < room_count; i++) {
        const struct node *node = &sched->nodes.items[rooms[i].node];
        choice.rooms[i] = (struct exclusive_candidate){
            .node = rooms[i].node,
            .is_held = exclusive_node_holder(sched, node) == choice.holder ||
                       !amounts_fit(&rooms[i].taken, &none),
            .left = rooms[i].left,
        };
    }
    if (!exclusive_choose(&choice, only ? *only : 0,
                          only ? 1 : sub_groups_count(gang))) {
        return false;
    }
    for (uint32_t i = 0; i < choice.place_count; i++) {
        const struct exclusive_place *place = &choice.places[i];
        const struct resource_vec *request =
            &class_at(round, place->class_index)->request;
        amounts_subtract(&rooms[place->room].left, request);
        ASSERT(amounts_is_sum(&rooms[place->room].left));
        amounts_add(&rooms[place->room].taken, request);
    }
    ASSERT(choice.place_count <= gang->waiting.count);
    return true;
}

bool exclusive_node_fits(struct round *round, const struct gang *gang,
                         struct exclusive_room *rooms, uint32_t room_count)
{
    return fits(round, gang, NULL, rooms, room_count);
}

bool exclusive_node_fits_one(struct round *round, const struct gang *gang,
                             uint32_t sub_group, struct exclusive_room *rooms,
                             uint32_t room_count)
{
    return fits(round, gang, &sub_group, rooms, room_count);
}

bool exclusive_node_place(struct attempt *attempt)
{
    return place_all(attempt, 0, sub_groups_count(attempt->gang));
}

bool exclusive_node_place_sub_group(struct attempt *attempt, uint32_t sub_group)
{
    return place_all(attempt, sub_group, 1);
}

void exclusive_node_retake(struct attempt *attempt)
{
    const struct sched *sched = attempt->round->sched;
    uint32_t gang = (uint32_t)(attempt->gang - sched->gangs.items);

    for (size_t i = attempt->decision_mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE) {
            exclusive_node_take(attempt->round, gang, decision->node);
        }
    }
}
