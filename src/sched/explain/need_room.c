/* What a node lacks for a job, its gang, or a sub-group of that. */

#include "sched/explain/need_parts.h"
#include "sched/state/sub_groups.h"

void closest_nodes_add(struct closest_nodes *closest, uint32_t node,
                       double lack)
{
    uint32_t at = closest->count;

    ASSERT(closest->count <= NEED_NODES_MAX);
    if (at == NEED_NODES_MAX) {
        if (lack >= closest->lacks[at - 1]) {
            return;
        }
        at--;
    } else {
        closest->count++;
    }
    for (; at > 0 && lack < closest->lacks[at - 1]; at--) {
        closest->nodes[at] = closest->nodes[at - 1];
        closest->lacks[at] = closest->lacks[at - 1];
    }
    closest->nodes[at] = node;
    closest->lacks[at] = lack;
}

/* Who is to be put on a node, as many as it takes. */
struct crowd {
    const struct resource_vec **requests;
    uint32_t count;
    uint32_t lack_count; /* of them, that have no room; a guess */
};

/* What a node lacks for the last `count` of a crowd. */
static struct resource_vec lack_of(const struct sched *sched,
                                   const struct crowd *crowd, uint32_t node,
                                   uint32_t count)
{
    struct resource_vec lack = {0};

    ASSERT(count <= crowd->count);
    for (uint32_t i = crowd->count - count; i < crowd->count; i++) {
        amounts_add(&lack, crowd->requests[i]);
    }
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        lack.v[r] -= lack.v[r] > 0 ? sched->free[node].v[r] : 0;
        lack.v[r] = lack.v[r] > 0 ? lack.v[r] : 0;
    }
    return lack;
}

/* How many of them fit the free room of a node. */
static uint32_t fits_of(const struct sched *sched, const struct crowd *crowd,
                        uint32_t node)
{
    struct resource_vec free = sched->free[node];
    uint32_t count = 0;

    while (count < crowd->count) {
        const struct resource_vec *request =
            crowd->requests[crowd->count - 1 - count];
        if (!amounts_fit(request, &free)) {
            break;
        }
        amounts_subtract(&free, request);
        count++;
    }
    ASSERT(count <= crowd->count);
    return count;
}

/* More room on a node, for the last `count` of a crowd. */
static struct what_if_more room_for(const struct sched *sched, uint32_t node,
                                    const struct crowd *crowd, uint32_t count)
{
    return (struct what_if_more){.kind = WHAT_IF_ROOM,
                                 .node = node,
                                 .amount = lack_of(sched, crowd, node, count)};
}

static bool starts_with_room_for(struct trials *trials, uint32_t node,
                                 const struct crowd *crowd, uint32_t count)
{
    struct what_if_more more = room_for(trials->sched, node, crowd, count);

    return trial_starts_with(trials, &more);
}

/* Fewer of the crowd may do; `*count` of them start it. */
static void find_fewer(struct trials *trials, uint32_t node,
                       const struct crowd *crowd, uint32_t first,
                       uint32_t *count)
{
    uint32_t low = first, high = *count, middle = high - 1;

    while (low < high && !trials->is_over) {
        bool is = starts_with_room_for(trials, node, crowd, middle);
        high = is ? middle : high;
        low = is ? low : middle + 1;
        middle = low + (high - low) / 2;
    }
    ASSERT(high >= first || high == *count); /* fewer than fit are not asked */
    *count = high;
}

/* So many of the crowd have room, and that starts it: find the least. */
static bool settle(struct trials *trials, uint32_t node,
                   const struct crowd *crowd, uint32_t first, uint32_t count,
                   struct sched_need *need)
{
    find_fewer(trials, node, crowd, first, &count);
    ASSERT(count <= crowd->count);
    struct what_if_more more = room_for(trials->sched, node, crowd, count);
    need->is_exact = trial_shrink(trials, &more);
    need->kind =
        need_is_nothing(&more.amount) ? SCHED_NEED_NONE : SCHED_NEED_ROOM;
    need->is_exact &= need->kind == SCHED_NEED_ROOM;
    need->node = node;
    need->missing = more.amount;
    return true;
}

/* Whether a node could have so much more free than it has. */
static bool could_have(const struct sched *sched, uint32_t node,
                       const struct resource_vec *more)
{
    struct resource_vec all = sched->free[node];

    ASSERT(amounts_is_sum(more));
    amounts_add(&all, more);
    return amounts_fit(&all, &sched->nodes.items[node].capacity);
}

/* Find the least that `node` lacks for as many of the crowd as it takes; false:
 * nothing that was tried starts it, or what would be tried first is not as
 * possible as is wanted. */
static bool try_node(struct trials *trials, uint32_t node, bool is_possible,
                     const struct crowd *crowd, struct sched_need *need)
{
    uint32_t fitting = fits_of(trials->sched, crowd, node);
    uint32_t count = crowd->lack_count < crowd->count - fitting
                         ? fitting + crowd->lack_count
                         : crowd->count;
    struct resource_vec more = lack_of(trials->sched, crowd, node, count);

    if (need_is_nothing(&more) ||
        could_have(trials->sched, node, &more) != is_possible) {
        return false;
    }
    if (!starts_with_room_for(trials, node, crowd, count)) {
        if (count == crowd->count ||
            !starts_with_room_for(trials, node, crowd, crowd->count)) {
            return false;
        }
        count = crowd->count;
    }
    return settle(trials, node, crowd, fitting + 1, count, need);
}

/* The same for a job alone, where others would take so much first. */
static bool try_behind(struct trials *trials, uint32_t node,
                       struct sched_need *need)
{
    const struct resource_vec *requests[NEED_TIMES_MAX];
    struct crowd crowd = {.requests = requests, .count = NEED_TIMES_MAX};
    struct resource_vec request = trial_asked(trials);
    uint32_t first = 0;

    for (uint32_t i = 0; i < NEED_TIMES_MAX; i++) {
        requests[i] = &request;
    }
    first = fits_of(trials->sched, &crowd, node) + 1;
    for (uint32_t count = first * 2; count <= NEED_TIMES_MAX; count *= 2) {
        if (starts_with_room_for(trials, node, &crowd, count)) {
            return settle(trials, node, &crowd, first + 1, count, need);
        }
    }
    return false;
}

/* The members of its gang that must have room, or of the sub-group that has
 * too little; or the job alone. */
static void find_crowd(const struct trials *trials,
                       const struct need_question *question,
                       struct arena *arena, struct crowd *ret_crowd)
{
    const struct sched *sched = trials->sched;
    const struct gang *gang = trials->gang == NONE || trials->sub_group != NONE
                                  ? NULL
                                  : &sched->gangs.items[trials->gang];
    const struct seq *seq = !gang ? NULL
                            : question->sub_group == NONE
                                ? &gang->waiting
                                : sub_group_required(gang, question->sub_group);
    uint32_t count = seq ? seq->count : 1;

    *ret_crowd = (struct crowd){
        .requests =
            arena_alloc_array(arena, count, sizeof(*ret_crowd->requests)),
        .lack_count = question->wanted > question->present
                          ? question->wanted - question->present
                          : 1,
    };
    if (gang && !gang_has_terms(gang) && gang_needed(gang) < count) {
        count = gang_needed(gang);
    }
    ASSERT(count > 0);
    if (!seq) {
        uint32_t class_index = trial_list(trials)->class_index;
        ret_crowd->requests[0] = &sched->classes.items[class_index].request;
        ret_crowd->count = 1;
        return;
    }
    for (struct seq_cursor at = {0};
         !seq_is_end(seq, at) && ret_crowd->count < count; seq_next(seq, &at)) {
        uint32_t job = seq_get(seq, at);
        uint32_t list = sched->jobs.items[job].list;
        uint32_t class_index = sched->lists.items[list].class_index;
        ret_crowd->requests[ret_crowd->count++] =
            &sched->classes.items[class_index].request;
    }
}

void need_room(struct trials *trials, const struct need_question *question,
               struct sched_need *need)
{
    const struct closest_nodes *closest = &question->closest;
    auto_arena arena = {0};
    struct crowd crowd;

    if (closest->count == 0) {
        return;
    }
    find_crowd(trials, question, &arena, &crowd);
    /* Nodes that could have the room go before those that would have to be
     * larger than they are. */
    for (uint32_t i = 0; i < 2 * closest->count && trial_may(trials); i++) {
        if (try_node(trials, closest->nodes[i % closest->count],
                     i < closest->count, &crowd, need)) {
            return;
        }
    }
    bool is_alone = trials->gang == NONE || trials->sub_group != NONE;
    if (is_alone && try_behind(trials, closest->nodes[0], need)) {
        return;
    }
    /* Others would take it, or something else holds too: at least this. */
    uint32_t fitting = fits_of(trials->sched, &crowd, closest->nodes[0]);
    if (fitting == crowd.count) {
        return;
    }
    need->node = closest->nodes[0];
    need->missing =
        lack_of(trials->sched, &crowd, closest->nodes[0], fitting + 1);
    need->kind = SCHED_NEED_ROOM;
}
