/* When each node has room for how many equal members of a gang, as steps that
 * are remembered like the times of job.c; and the first time at which all
 * members have room. */
#include <stdlib.h>

#include "sched/gang/locality_place.h"
#include "sched/order/lanes.h"
#include "sched/order/round.h"
#include "sched/place/gpu_nodes.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"
#include "sched/state/extras.h"
#include "sched/state/windows.h"

/* The place of a node's steps, at least `capacity` of them. */
static struct profile_step *make_steps(struct profile_memory *m,
                                       struct node_profile *node,
                                       uint32_t capacity)
{
    if (node->is_summed || node->step_capacity < capacity) {
        node->step_first = (uint32_t)m->steps.count;
        node->step_capacity = capacity + capacity / 2;
        for (uint32_t i = 0; i < node->step_capacity; i++) {
            VEC_PUSH(&m->steps, (struct profile_step){0});
        }
    }
    return &m->steps.items[node->step_first];
}

/* Ask all that runs on a node: from when on how many have room. */
static void ask(struct reserving *r, struct profile_memory *m, uint32_t index)
{
    struct node_profile *node = &m->nodes.items[index];
    struct profile profile = reserve_profile(r, index);
    struct profile_step *steps =
        make_steps(m, node, (uint32_t)profile.count + 1);

    node->queues = r->queues;
    node->is_summed = false;
    node->step_count = profile_steps(&profile, &m->request, steps);
    ASSERT(node->step_count <= node->step_capacity);
    node->key = pool_weigh(r->round->pool, &profile.room);
    if (r->is_moving || r->moving_ms != INT64_MAX) {
        m->counts.items[index].seen = PROFILE_NEVER_SEEN;
    }
}

/* What the steps of a node say of now and of all times. */
static void sum_up(struct profile_memory *m, uint32_t index)
{
    struct node_profile *node = &m->nodes.items[index];
    const struct profile_step *steps = &m->steps.items[node->step_first];
    bool has_now = node->step_count && steps[0].at_ms == INT64_MIN;

    if (node->step_count) {
        const struct profile_step *last = &steps[node->step_count - 1];
        m->counts.items[index].last = last->count;
        m->last_ms = last->at_ms > m->last_ms ? last->at_ms : m->last_ms;
    }
    if (has_now) {
        m->counts.items[index].now = steps[0].count;
    }
    ASSERT(m->counts.items[index].now <= m->counts.items[index].last);
    if (node->step_count > has_now) {
        node->until_ms = steps[has_now].at_ms;
    }
}

/* Look at a node afresh. */
static void look(struct reserving *r, struct profile_memory *m, uint32_t index)
{
    const struct sched *sched = r->round->sched;
    struct node_profile *node = &m->nodes.items[index];
    bool is_touched = r->is_touched && r->is_touched[index];

    node->until_ms = INT64_MAX;
    node->queues = 0;
    m->counts.items[index] =
        (struct member_count){.seen = sched->change_counts[index]};
    node->is_too_small =
        !amounts_fit(&m->request, &sched->nodes.items[index].capacity);
    if (node->is_too_small) {
        node->is_summed = false;
        node->step_capacity = 0;
    } else if (is_touched || !reserve_sum_queues(r, m, index)) {
        ask(r, m, index);
        sum_up(m, index);
    }
    if (is_touched) {
        m->counts.items[index].seen = PROFILE_NEVER_SEEN;
    }
}

/* Whether a node may have the class, and has its extras now: nobody knows when
 * others end that have them. */
static bool is_allowed(const struct search *search, uint32_t node)
{
    struct round *round = search->round;

    return place_matches_class(search, node) &&
           extras_fit(round->sched, node, class_at(round, search->class_index));
}

/* Which nodes allow the claim's class is the same until classes, or nodes with
 * their labels and taints, or what is kept for GPU jobs, are others; or, where
 * there are maintenance windows, it is later; or its extras are in use. */
static bool ask_nodes(struct reserving *r, struct profile_memory *m)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    uint32_t class_index = class_of_job(sched, r->claim->job);
    uint64_t serial = class_round(round, class_index)->serial;
    struct search search = {round, class_index, r->claim->job, NULL};

    uint64_t gpu_mark = round->gpus
                            ? gpu_nodes_mark(round->gpus, class_index,
                                             &round->counters->nodes_examined)
                            : 0;
    if (m->class_serial == serial && m->layout_count == sched->layout_count &&
        m->gpu_mark == gpu_mark) {
        return false;
    }
    bool has_extras = class_at(round, class_index)->extra_count > 0;
    m->class_serial = windows_are_any(sched) || has_extras ? 0 : serial;
    m->gpu_mark = gpu_mark;
    m->layout_count = sched->layout_count;
    m->due_ms = INT64_MIN; /* others may count now */
    for (uint32_t i = 0; i < m->nodes.count; i++) {
        m->allowed.items[i] = is_allowed(&search, i);
    }
    return true;
}

/* Likewise in this round: what it did to nodes may close them. */
static const uint8_t *allowed_now(struct reserving *r, struct profile_memory *m)
{
    struct round *round = r->round;
    size_t count = m->nodes.count;
    struct search search = {round, class_of_job(round->sched, r->claim->job),
                            r->claim->job, NULL};

    bool is_fresh = ask_nodes(r, m);
    if (!r->is_touched) {
        return m->allowed.items;
    }
    if (is_fresh) {
        m->class_serial = 0; /* that holds for this round only */
    }
    uint8_t *allowed = arena_alloc_array(round->arena, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        allowed[i] =
            r->is_touched[i] ? is_allowed(&search, i) : m->allowed.items[i];
    }
    return allowed;
}

/* Bring what is known of the nodes that allow the class up to date; returns
 * which these are. */
static const uint8_t *refresh(struct reserving *r, struct profile_memory *m)
{
    const uint8_t *allowed = allowed_now(r, m);
    const uint32_t *changes = r->round->sched->change_counts;
    bool is_due = m->due_ms <= r->round->now_ms;
    int64_t due_ms = INT64_MAX;

    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const struct member_count *count = &m->counts.items[i];
        bool is_known =
            count->seen == changes[i] && !(r->is_touched && r->is_touched[i]);
        if (!allowed[i]) {
            continue;
        }
        if (!is_known ||
            (is_due && m->nodes.items[i].until_ms <= r->round->now_ms)) {
            look(r, m, i);
            int64_t until_ms = m->nodes.items[i].until_ms;
            m->due_ms = until_ms < m->due_ms ? until_ms : m->due_ms;
        } else if (count->now == PROFILE_UNSUMMED) {
            reserve_sum_again(r, m, i);
        }
        if (is_due && m->nodes.items[i].until_ms < due_ms) {
            due_ms = m->nodes.items[i].until_ms;
        }
    }
    m->due_ms = is_due ? due_ms : m->due_ms;
    return allowed;
}

uint32_t reserve_count_on(const struct profile_memory *m, uint32_t node,
                          int64_t at_ms)
{
    const struct member_count *sums = &m->counts.items[node];
    const struct node_profile *profile = &m->nodes.items[node];
    uint32_t count = sums->now;

    if (sums->now == sums->last) {
        return count;
    }
    const struct profile_step *steps = &m->steps.items[profile->step_first];
    for (uint32_t i = 0; i < profile->step_count && steps[i].at_ms <= at_ms;
         i++) {
        count = steps[i].count;
    }
    ASSERT(count <= sums->last); /* room only grows with time */
    return count;
}

/* The search for a time. */
struct seeking {
    struct reserving *r;
    const struct profile_memory *m;
    const struct gang *gang;
    const struct label_index *index; /* or NULL: no groups */
    const uint8_t *is_allowed;       /* by node */
    uint32_t needed;
    const struct label_group *group; /* that fits, of the last look */
    const struct class *class;
};

/* Whether a node may be used at a time: its maintenance window is not too near
 * then. */
static bool is_open(const struct seeking *seeking, uint32_t node, int64_t at_ms)
{
    const struct sched *sched = seeking->r->round->sched;

    return seeking->is_allowed[node] &&
           !windows_bar(sched, seeking->class, node, at_ms);
}

static uint32_t count_on(const struct seeking *seeking, uint32_t node,
                         int64_t at_ms)
{
    if (!is_open(seeking, node, at_ms)) {
        return 0;
    }
    return at_ms == INT64_MAX ? seeking->m->counts.items[node].last
                              : reserve_count_on(seeking->m, node, at_ms);
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
    int64_t guess = seeking->r->round->memory->kept.start_ms;

    ASSERT(low < high);
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

static int compare_moments(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The moments after which maintenance windows close nodes to the class, in
 * order; their number. */
static uint32_t list_moments(const struct seeking *seeking,
                             int64_t **ret_moments)
{
    const struct round *round = seeking->r->round;
    uint32_t node_count = (uint32_t)seeking->m->nodes.count, count = 0;
    int64_t *moments =
        arena_alloc_array(round->arena, node_count, sizeof(*moments));

    for (uint32_t i = 0; i < node_count; i++) {
        int64_t last_ms =
            seeking->is_allowed[i]
                ? windows_last_start_ms(round->sched, seeking->class, i)
                : INT64_MAX;
        if (last_ms != INT64_MAX) {
            moments[count++] = last_ms;
        }
    }
    qsort(moments, count, sizeof(*moments), compare_moments);
    *ret_moments = moments;
    return count;
}

/* The first time after now at which they fit, or SCHED_START_UNKNOWN.  Between
 * two moments at which windows close nodes, room only grows. */
static int64_t find_time(struct seeking *seeking)
{
    const struct round *round = seeking->r->round;
    int64_t low = round->now_ms, last_ms = seeking->m->last_ms;
    int64_t *moments = NULL;
    uint32_t count =
        windows_are_any(round->sched) ? list_moments(seeking, &moments) : 0;

    for (uint32_t i = 0; i < count && low < last_ms; i++) {
        int64_t high = moments[i] < last_ms ? moments[i] : last_ms;
        if (high <= low) {
            continue;
        }
        if (fits_at(seeking, high)) {
            return bisect(seeking, low, high);
        }
        low = high;
    }
    return last_ms > low && fits_at(seeking, INT64_MAX)
               ? bisect(seeking, low, last_ms)
               : SCHED_START_UNKNOWN;
}

/* Which nodes may be used at a time, or now where none is known. */
static const uint8_t *open_at(const struct seeking *seeking, int64_t at_ms)
{
    const struct round *round = seeking->r->round;
    size_t count = seeking->m->nodes.count;

    if (!windows_are_any(round->sched) || at_ms == SCHED_START_UNKNOWN) {
        return seeking->is_allowed;
    }
    uint8_t *open = arena_alloc_array(round->arena, count, 1);
    for (uint32_t i = 0; i < count; i++) {
        open[i] = is_open(seeking, i, at_ms);
    }
    return open;
}

int64_t reserve_first_time(struct reserving *r, const struct gang *gang,
                           uint32_t needed,
                           const struct label_group **ret_group,
                           const uint8_t **ret_allowed)
{
    struct round *round = r->round;
    const struct sched *sched = round->sched;
    struct resource_vec request =
        class_at(round, class_of_job(sched, r->claim->job))->request;
    struct profile_memory *m = reserve_recall(r, &request);
    const uint8_t *allowed = refresh(r, m);
    struct seeking seeking = {
        .r = r,
        .m = m,
        .gang = gang,
        .index = locality_groups(round, gang),
        .is_allowed = allowed,
        .needed = needed,
        .class = class_at(round, class_of_job(sched, r->claim->job)),
    };
    int64_t at_ms = round->now_ms;

    if (!fits_at(&seeking, at_ms)) {
        at_ms = find_time(&seeking);
        if (at_ms != SCHED_START_UNKNOWN) {
            (void)fits_at(&seeking, at_ms); /* for its group */
        }
    }
    ASSERT(at_ms >= round->now_ms);
    *ret_allowed = open_at(&seeking, at_ms);
    *ret_group = seeking.group;
    return at_ms;
}
