/* When how many like members of a gang have room on each node, as steps that
 * are remembered like the times of reserve_job.c; and the first time at which
 * all of them have. */
#include "sched/near_place.h"
#include "sched/reserve.h"
#include "sched/round.h"

/* How many of `request` fit in `room`. */
static uint32_t count_in(const struct resource_vec *request,
                         const struct resource_vec *room)
{
    int64_t count = UINT32_MAX;

    for (uint32_t c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        if (request->v[c] > 0) {
            int64_t here = room->v[c] > 0 ? room->v[c] / request->v[c] : 0;
            count = here < count ? here : count;
        }
    }
    return (uint32_t)count;
}

static void sort_releases(struct release *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct release item = items[i];
        size_t at = i;
        while (at > 0 && items[at - 1].at_ms > item.at_ms) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
}

/* The place of a node's steps, at least `capacity` of them. */
static struct ready_step *make_steps(struct ready_memory *m,
                                     struct ready_node *node, uint32_t capacity)
{
    if (node->step_capacity < capacity) {
        node->step_first = (uint32_t)m->steps.count;
        node->step_capacity = capacity + capacity / 2;
        for (uint32_t i = 0; i < node->step_capacity; i++) {
            VEC_PUSH(&m->steps, (struct ready_step){0});
        }
    }
    return &m->steps.items[node->step_first];
}

/* Look at a node afresh. */
static void look(struct reserving *r, struct ready_memory *m, uint32_t index)
{
    const struct sched *sched = r->round->sched;
    const struct node *record = &sched->nodes.items[index];
    struct ready_node *node = &m->nodes.items[index];
    struct resource_vec room = reserve_room(r, index);

    r->releases.count = 0;
    r->is_moving = false;
    r->moving_ms = INT64_MAX;
    r->queues = 0;
    node->step_count = 0;
    node->seen = record->change_count;
    node->is_too_small = !amounts_fit(&m->request, &record->capacity);
    if (node->is_too_small) {
        return;
    }
    reserve_gather(r, index);
    node->queues = r->queues;
    for (size_t i = 0; i < r->releases.count; i++) {
        int64_t *at_ms = &r->releases.items[i].at_ms;
        *at_ms = *at_ms <= r->round->now_ms ? INT64_MIN : *at_ms;
    }
    sort_releases(r->releases.items, r->releases.count);
    struct ready_step *steps =
        make_steps(m, node, (uint32_t)r->releases.count + 1);
    uint32_t count = count_in(&m->request, &room);
    if (count) {
        steps[node->step_count++] = (struct ready_step){INT64_MIN, count};
    }
    for (size_t i = 0; i < r->releases.count; i++) {
        amounts_add(&room, r->releases.items[i].request);
        uint32_t more = count_in(&m->request, &room);
        int64_t at_ms = r->releases.items[i].at_ms;
        if (more > count && node->step_count &&
            steps[node->step_count - 1].at_ms == at_ms) {
            steps[node->step_count - 1].count = more;
        } else if (more > count) {
            steps[node->step_count++] = (struct ready_step){at_ms, more};
        }
        count = more;
    }
    node->key = pool_weigh(r->round->pool, &room);
    bool is_touched = r->is_touched && r->is_touched[index];
    if (is_touched || r->is_moving || r->moving_ms != INT64_MAX) {
        node->seen = READY_NEVER_SEEN;
    }
}

static bool is_past(const struct ready_memory *m, const struct ready_node *node,
                    int64_t now_ms)
{
    for (uint32_t i = 0; i < node->step_count && i < 2; i++) {
        int64_t at_ms = m->steps.items[node->step_first + i].at_ms;
        if (at_ms != INT64_MIN && at_ms <= now_ms) {
            return true;
        }
    }
    return false;
}

/* The search for a time. */
struct seeking {
    struct reserving *r;
    const struct ready_memory *m;
    const struct gang *gang;
    const struct label_index *index; /* or NULL: no groups */
    const bool *is_allowed;          /* by node */
    uint32_t needed;
    const struct label_group *group; /* that fits, of the last look */
};

static uint32_t count_on(const struct seeking *seeking, uint32_t index,
                         int64_t at_ms)
{
    const struct ready_node *node = &seeking->m->nodes.items[index];
    const struct ready_step *steps = &seeking->m->steps.items[node->step_first];
    uint32_t count = 0;

    if (!seeking->is_allowed[index]) {
        return 0;
    }
    for (uint32_t i = 0; i < node->step_count && steps[i].at_ms <= at_ms; i++) {
        count = steps[i].count;
    }
    return count;
}

/* Whether all have room at a time, within one group if there are any. */
static bool fits_at(struct seeking *seeking, int64_t at_ms)
{
    uint32_t group_count = seeking->index ? seeking->index->group_count : 1;

    for (uint32_t g = 0; g < group_count; g++) {
        seeking->group = seeking->index ? &seeking->index->groups[g] : NULL;
        if (seeking->group &&
            !place_is_open(seeking->r->round, seeking->gang, seeking->group)) {
            continue;
        }
        uint32_t count = seeking->group ? seeking->group->count
                                        : (uint32_t)seeking->m->nodes.count;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < count && sum < seeking->needed; i++) {
            sum += count_on(
                seeking, seeking->group ? seeking->group->nodes[i] : i, at_ms);
        }
        if (sum >= seeking->needed) {
            return true;
        }
    }
    return false;
}

/* The first time after `low`, at which they do not fit, up to `high`, at which
 * they do.  It is mostly near the last one. */
static int64_t bisect(struct seeking *seeking, int64_t low, int64_t high)
{
    int64_t guess = seeking->r->round->pool->kept.start_ms;

    if (guess > low && guess < high) {
        if (fits_at(seeking, guess)) {
            high = guess;
        } else {
            low = guess;
        }
        for (int64_t step = 1; high == guess && high - step > low; step *= 8) {
            if (!fits_at(seeking, high - step)) {
                low = high - step;
                break;
            }
        }
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (fits_at(seeking, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* Bring what is known of the nodes up to date; the last step of all. */
static int64_t refresh(struct reserving *r, struct ready_memory *m,
                       bool *allowed)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    int64_t last_ms = INT64_MIN;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        struct ready_node *node = &m->nodes.items[i];
        allowed[i] = sched->nodes.items[i].pool == round->p &&
                     reserve_matches(r, r->claim->job, i);
        if (!allowed[i]) {
            continue;
        }
        if (node->seen != sched->nodes.items[i].change_count ||
            (r->is_touched && r->is_touched[i]) ||
            is_past(m, node, round->now_ms)) {
            look(r, m, i);
        }
        if (node->step_count) {
            int64_t at_ms =
                m->steps.items[node->step_first + node->step_count - 1].at_ms;
            last_ms = at_ms > last_ms ? at_ms : last_ms;
        }
    }
    return last_ms;
}

int64_t reserve_first_time(struct reserving *r, const struct gang *gang,
                           uint32_t needed,
                           const struct label_group **ret_group,
                           bool **ret_allowed)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    struct resource_vec request =
        class_at(round, class_of_job(sched, r->claim->job))->request;
    struct ready_memory *m = reserve_recall(r, &request);
    bool *allowed =
        arena_alloc_array(round->arena, sched->nodes.count, sizeof(*allowed));
    int64_t last_ms = refresh(r, m, allowed);
    struct seeking seeking = {
        .r = r,
        .m = m,
        .gang = gang,
        .index = near_groups(round, gang),
        .is_allowed = allowed,
        .needed = needed,
    };
    int64_t at_ms = SCHED_START_UNKNOWN;

    *ret_allowed = allowed;
    if (fits_at(&seeking, round->now_ms)) {
        at_ms = round->now_ms;
    } else if (last_ms > round->now_ms && fits_at(&seeking, last_ms)) {
        at_ms = bisect(&seeking, round->now_ms, last_ms);
        (void)fits_at(&seeking, at_ms); /* for its group */
    }
    *ret_group = seeking.group;
    return at_ms;
}
