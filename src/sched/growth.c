#include "sched/growth.h"

#include "sched/floating.h"
#include "sched/lanes.h"
#include "sched/lend.h"
#include "sched/near_place.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/whole_node.h"

/* Load. */

static struct resource_vec foreign_of(const struct sched *sched,
                                      const struct node *node)
{
    struct resource_vec foreign = {0};

    if (node->record->foreign.count) {
        (void)!resource_request(&sched->policy->schema, &node->record->foreign,
                                &foreign);
    }
    return foreign;
}

/* What pods that are not ours have on the pool's nodes: kept from one round
 * to the next, for it changes only with nodes. */
static const struct resource_vec *foreign_sum(struct sched *sched, uint32_t p)
{
    struct pool *pool = &sched->pools.items[p];

    if (pool->is_foreign_known) {
        return &pool->foreign;
    }
    pool->foreign = (struct resource_vec){0};
    pool->is_foreign_known = true;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->pool == p && node_is_in_total(node)) {
            struct resource_vec foreign = foreign_of(sched, node);
            amounts_add(&pool->foreign, &foreign);
        }
    }
    return &pool->foreign;
}

void growth_load_of(struct sched *sched, uint32_t p,
                    struct growth_load *ret_load)
{
    const struct pool *pool = &sched->pools.items[p];
    const struct resource_vec *foreign = foreign_sum(sched, p);
    const struct pool_policy *policy =
        &sched->policy->pools[pool->policy_index];

    ret_load->total = pool->total;
    amounts_add(&ret_load->total, foreign);
    ret_load->now = *foreign;
    amounts_add(&ret_load->now, &pool->foreign_pending);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (node->pool == p && node_is_in_total(node)) {
            amounts_add(&ret_load->now, &node->capacity);
            amounts_subtract(&ret_load->now, &sched->free[i]);
        }
    }
    ret_load->max_ppm =
        policy->load_max_ppm ? policy->load_max_ppm : FRACTION_ONE_PPM;
}

void growth_measure(struct growth *growth)
{
    const struct round *round = growth->round;
    struct growth_load load;

    growth_load_of(round->sched, round->p, &load);
    growth->load = load.now;
    growth->total = load.total;
    growth->load_max_ppm = load.max_ppm;
}

int growth_overload(const struct sched *sched, const struct growth_load *load,
                    const struct resource_vec *request)
{
    int cpu = sched->cpu_column;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t with = load->now.v[r] + request->v[r];
        bool is_gpu = sched->gpu_columns >> r & 1;
        if (request->v[r] > 0 && is_gpu && with > load->total.v[r]) {
            return r;
        }
        if (request->v[r] > 0 && r == cpu &&
            (i128)with * FRACTION_ONE_PPM >
                (i128)load->total.v[r] * load->max_ppm) {
            return r;
        }
    }
    return -1;
}

/* Whether `load` would be above what is allowed, of something that is asked
 * for. */
static bool is_above(const struct growth *growth,
                     const struct resource_vec *load,
                     const struct resource_vec *request)
{
    const struct sched *sched = growth->round->sched;
    int cpu = sched->cpu_column;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((sched->gpu_columns >> r & 1) && request->v[r] > 0 &&
            load->v[r] > growth->total.v[r]) {
            return true;
        }
    }
    return cpu >= 0 && request->v[cpu] > 0 &&
           (i128)load->v[cpu] * FRACTION_ONE_PPM >
               (i128)growth->total.v[cpu] * growth->load_max_ppm;
}

static struct growth_part *part_of(const struct growth *growth, uint32_t index)
{
    return &growth->parts[growth->units[index].handle];
}

static struct growth_team *team_of(const struct growth *growth,
                                   const struct growth_part *part)
{
    return &growth->teams[part->team];
}

static bool is_overloaded(void *context, uint32_t index)
{
    const struct growth *growth = context;

    return is_above(growth, &growth->load, part_of(growth, index)->request);
}

/* GPUs. */

static bool asks_for_gpu(const struct sched *sched,
                         const struct resource_vec *request)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((sched->gpu_columns >> r & 1) && request->v[r] > 0) {
            return true;
        }
    }
    return false;
}

/* Whether what is left of a gang, once the plan is acted on, may start: who
 * loses a place of one without terms does not wait again. */
static bool is_left_to_wait(const struct sched *sched, const struct gang *gang)
{
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(&gang->leased, at)].run;
        if (gang->subs || sched->runs.items[run].state != RUN_PREEMPTED) {
            return true;
        }
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        if (sched->jobs.items[seq_get(&gang->waiting, at)].was_leased) {
            return true;
        }
    }
    return gang->subs || gang->waiting.count >= gang->cardinality;
}

/* Whether a gang asks for a GPU and waits yet; also one of which the plan
 * started some, or took some surplus (model.md 4.6). */
static bool gang_waits_for_gpu(const struct sched *sched,
                               const struct gang *gang)
{
    if (!asks_for_gpu(sched, &gang->waiting_sum)) {
        return false;
    }
    if (gang->planned != sched->plan_count) {
        return true;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t job = seq_get(&gang->waiting, at);
        if (!(sched->job_flags.items[job] & JOB_PLANNED) &&
            asks_for_gpu(
                sched,
                &sched->classes.items[class_of_job(sched, job)].request)) {
            return is_left_to_wait(sched, gang);
        }
    }
    return false;
}

/* Whether something of a list waits yet, and asks for a GPU. */
static bool waits_for_gpu(const struct round *round, const struct list *list)
{
    const struct sched *sched = round->sched;
    bool is_gangs = list->class_index == NONE;

    if (list->pool != NONE && list->pool != round->p) {
        return false;
    }
    if (!is_gangs &&
        !asks_for_gpu(sched,
                      &sched->classes.items[list->class_index].request)) {
        return false;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        uint32_t item = seq_get(&list->seq, at);
        if (is_gangs ? gang_waits_for_gpu(sched, &sched->gangs.items[item])
                     : !(sched->job_flags.items[item] & JOB_PLANNED)) {
            return true;
        }
    }
    return false;
}

/* Whether nodes with GPUs are to be kept for work that asks for them. */
static bool keeps_gpus(const struct round *round)
{
    const struct sched *sched = round->sched;

    if (!asks_for_gpu(sched, &round->pool->total)) {
        return false;
    }
    for (uint32_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (list->use_count && list->seq.count &&
            !sched->queues.items[list->queue].is_cordoned &&
            waits_for_gpu(round, list)) {
            return true;
        }
    }
    return false;
}

/* Growth. */

/* The next spare member, or NONE. */
static uint32_t next_spare(const struct growth *growth,
                           struct growth_part *part)
{
    const struct sched *sched = growth->round->sched;
    const struct seq *spare =
        &team_of(growth, part)->gang->subs->items[part->sub_group].spare;

    while (!seq_is_end(spare, part->next)) {
        uint32_t job = seq_get(spare, part->next);
        if (!(sched->job_flags.items[job] & JOB_PLANNED)) {
            return job;
        }
        seq_next(spare, &part->next);
    }
    return NONE;
}

/* Whether the limits of its queue and class, rates and load allow a pod. */
static bool may_grow(struct growth *growth, struct lane *lane,
                     const struct class *class)
{
    struct round *round = growth->round;
    const struct usage *usage = lane_usage(round, lane, class->priority_class);
    struct resource_vec load = growth->load;

    amounts_add(&load, &class->request);
    return !is_above(growth, &load, &class->request) &&
           (!usage || lend_is_within(round, usage, &class->request)) &&
           quota_short(round, lane, &class->request) < 0 &&
           floating_short(round->sched, round->p, &round->used,
                          &class->request) < 0 &&
           round_may_start(round, lane, 1, &class->request);
}

/* A free node, asked of each class and group only until there is none. */
static uint32_t room(struct growth *growth, const struct growth_team *team,
                     const struct search *search)
{
    struct round *round = growth->round;
    uint64_t group =
        team->only ? 1 + (uint64_t)(team->only - team->groups->groups) : 0;
    struct key128 key = {search->class_index, group};
    bool is_special = place_is_special(search);

    if ((team->groups && !team->only) ||
        (!is_special &&
         map_find(&growth->full, key) == (uint32_t)round->growth_count)) {
        return NONE;
    }
    uint32_t node = place_find(search);
    if (node == NONE && !is_special) {
        map_put(&growth->full, key, (uint32_t)round->growth_count);
    }
    return node;
}

/* Where the pods of a part are, with those that the plan starts. */
static void anchor_part(struct growth *growth, struct growth_part *part)
{
    struct round *round = growth->round;
    const struct sched *sched = round->sched;
    const struct topology *topology = topology_of(sched, round->p);
    const struct growth_team *team = team_of(growth, part);
    uint32_t gang = (uint32_t)(team->gang - sched->gangs.items);

    if (part->is_anchored) {
        return;
    }
    near_anchor_of(round, team->gang, part->sub_group, &part->anchor);
    for (size_t i = round->decision_first;
         team->started && i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE &&
            sched->jobs.items[decision->job].gang == gang &&
            sub_group_of(sched, decision->job) == part->sub_group) {
            near_anchor_add(topology, &part->anchor, decision->node);
        }
    }
    for (uint32_t at = part->change; at != NONE;
         at = growth->changes.items[at].previous) {
        if (growth->changes.items[at].is_lease) {
            near_anchor_add(topology, &part->anchor,
                            growth->changes.items[at].node);
        }
    }
    part->is_anchored = true;
}

/* A free node where the topology has a say, or where it has none. */
static uint32_t find(struct growth *growth, struct growth_part *part,
                     const struct search *search)
{
    const struct growth_team *team = team_of(growth, part);

    if (!near_matters(growth->round, team->gang)) {
        return room(growth, team, search);
    }
    anchor_part(growth, part);
    return team->groups && !team->only
               ? NONE
               : near_find(search, team->gang, part->sub_group, &part->anchor);
}

static void note_change(struct growth *growth, struct growth_part *part,
                        struct growth_change change)
{
    change.previous = part->change;
    part->change = (uint32_t)growth->changes.count;
    VEC_PUSH(&growth->changes, change);
}

static bool grow(void *context, uint32_t index)
{
    struct growth *growth = context;
    struct round *round = growth->round;
    struct growth_part *part = part_of(growth, index);
    struct growth_team *team = team_of(growth, part);
    uint32_t job = next_spare(growth, part);

    if (job == NONE) {
        return false;
    }
    uint32_t class_index = class_of_job(round->sched, job);
    struct class *class = class_round(round, class_index);
    struct search search = {round, class_index, job, team->only};
    if (!asks_for_gpu(round->sched, &class->request) && !growth->is_gpu_known) {
        round->keeps_gpus = keeps_gpus(round);
        growth->is_gpu_known = true;
    }
    uint32_t node = may_grow(growth, team->lane, class)
                        ? find(growth, part, &search)
                        : NONE;
    if (node == NONE) {
        return false;
    }
    place_put(round, team->lane, class_index, node, 1);
    if (part->is_anchored) {
        near_anchor_add(topology_of(round->sched, round->p), &part->anchor,
                        node);
    }
    if (whole_node_is_for(team->gang)) {
        whole_node_take(
            round, (uint32_t)(team->gang - round->sched->gangs.items), node);
        class->cached_node = NONE;
    }
    gang_started(round, team->lane, 1, &class->request);
    amounts_add(&growth->load, &class->request);
    growth->is_cost_known[team->lane->rank] = false;
    note_change(growth, part,
                (struct growth_change){
                    .job = job,
                    .node = node,
                    .class_index = class_index,
                    .is_lease = true,
                });
    seq_next(&team->gang->subs->items[part->sub_group].spare, &part->next);
    return true;
}

static bool shrink(void *context, uint32_t index)
{
    struct growth *growth = context;
    struct round *round = growth->round;
    struct sched *sched = round->sched;
    struct growth_part *part = part_of(growth, index);
    struct growth_team *team = team_of(growth, part);
    uint32_t job = sub_group_last_surplus(sched, team->gang, part->sub_group);

    if (job == NONE) {
        return false;
    }
    uint32_t node = sched->runs.items[sched->jobs.items[job].run].node;
    uint32_t class_index = class_of_job(sched, job);
    place_preempt(round, job);
    part->is_anchored = false;
    round->growth_count++;
    VEC_PUSH(&round->grown, node);
    amounts_subtract(&growth->load, &class_at(round, class_index)->request);
    growth->is_cost_known[team->lane->rank] = false;
    note_change(growth, part,
                (struct growth_change){
                    .job = job, .node = node, .class_index = class_index});
    return true;
}

static uint64_t mark(void *context)
{
    struct growth *growth = context;

    growth->load_before = growth->load;
    return (uint64_t)growth->round->sched->journal.count << 32 |
           growth->changes.count;
}

/* Only pods that were taken are ever given back: growth that fails takes
 * nothing. */
static void back(void *context, uint64_t mark)
{
    struct growth *growth = context;
    uint32_t count = (uint32_t)mark;

    while (growth->changes.count > count) {
        uint32_t last = (uint32_t)growth->changes.count - 1;
        for (uint32_t i = 0; i < growth->unit_count; i++) {
            if (growth->parts[i].change == last) {
                growth->parts[i].change = growth->changes.items[last].previous;
            }
        }
        growth->changes.count--;
    }
    place_rollback(growth->round, (size_t)(mark >> 32));
    growth->load = growth->load_before;
    for (uint32_t i = 0; i < growth->unit_count; i++) {
        growth->is_cost_known[growth->units[i].lane] = false;
        growth->parts[i].is_anchored = false;
    }
}

static const struct cost *cost_of_lane(struct growth *growth, uint32_t rank)
{
    if (!growth->is_cost_known[rank]) {
        growth->costs[rank] =
            lane_new_cost(growth->round, growth->lanes[rank], NULL);
        growth->is_cost_known[rank] = true;
    }
    return &growth->costs[rank];
}

static int compare_lanes(void *context, uint32_t a, uint32_t b)
{
    struct growth *growth = context;

    return cost_compare(&growth->round->pool->base, cost_of_lane(growth, a),
                        cost_of_lane(growth, b));
}

struct elastic_space growth_space(struct growth *growth)
{
    return (struct elastic_space){
        .context = growth,
        .grow = grow,
        .shrink = shrink,
        .is_overloaded = is_overloaded,
        .mark = mark,
        .back = back,
        .compare_lanes = compare_lanes,
    };
}

/* Decisions. */

/* A gang that the plan starts is not scaled by it. */
static void decide(struct growth *growth, const struct growth_part *part,
                   uint32_t index, uint32_t for_job)
{
    struct round *round = growth->round;
    struct sched *sched = round->sched;
    const struct growth_team *team = team_of(growth, part);
    const struct growth_change *change = &growth->changes.items[index];
    const struct class *class = class_at(round, change->class_index);

    if (change->is_lease && team->lane->is_stepwise) {
        order_leased(round, change->job);
    }
    round_decide(round,
                 (struct sched_decision){
                     .action = change->is_lease ? SCHED_LEASE : SCHED_PREEMPT,
                     .preemption = change->is_lease ? SCHED_PREEMPT_NONE
                                                    : SCHED_PREEMPT_SCALED,
                     .job = change->job,
                     .node = change->node,
                     .priority = change->is_lease
                                     ? sched->level_priority[class->level]
                                     : 0,
                     .for_job = for_job,
                     .is_scaling = team->gang->leased.count > 0,
                 });
    sched->gangs.items[sched->jobs.items[change->job].gang].planned =
        sched->plan_count;
}

/* All that becomes of a unit, in the order in which it did. */
static void decide_part(struct growth *growth, const struct growth_part *part,
                        uint32_t *scratch, uint32_t for_job)
{
    uint32_t count = 0;

    for (uint32_t at = part->change; at != NONE;
         at = growth->changes.items[at].previous) {
        scratch[count++] = at;
    }
    while (count > 0) {
        decide(growth, part, scratch[--count], for_job);
    }
}

/* A pod that moved: one was taken, then another took its room. */
static bool is_move(const struct growth *growth)
{
    return growth->changes.count == 2 && !growth->changes.items[0].is_lease &&
           growth->changes.items[1].is_lease;
}

static void decide_all(struct growth *growth)
{
    struct round *round = growth->round;
    uint32_t *scratch = arena_alloc_array(
        round->arena, growth->changes.count + 1, sizeof(*scratch));
    bool has_moved = is_move(growth);

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < growth->unit_count; i++) {
            const struct growth_part *part = part_of(growth, i);
            if (part->change == NONE ||
                growth->changes.items[part->change].is_lease != (pass == 1)) {
                continue;
            }
            decide_part(growth, part, scratch,
                        has_moved && pass == 0 ? growth->changes.items[1].job
                                               : NONE);
            round->group += !has_moved || pass == 1;
        }
    }
}

void growth_step(struct round *round)
{
    struct sched *sched = round->sched;
    const struct pool_policy *policy =
        &sched->policy->pools[round->pool->policy_index];
    struct growth growth = {.round = round};
    size_t left = sched->decisions.count < round->decision_max
                      ? round->decision_max - sched->decisions.count
                      : 0;

    growth_gather(&growth);
    if (growth.unit_count == 0) {
        return;
    }
    growth_measure(&growth);
    round->is_growing = true;
    growth.costs = arena_alloc_array(round->arena, sched->queues.count,
                                     sizeof(*growth.costs));
    growth.is_cost_known = arena_alloc_array(round->arena, sched->queues.count,
                                             sizeof(*growth.is_cost_known));
    struct elastic_rules rules = {
        .aging_ms = sched->aging_ms,
        .evenness_ppm = policy->evenness_ppm,
        .growth_max = (uint32_t)left,
        .has_changed = growth.has_changed,
    };
    struct elastic_space space = growth_space(&growth);
    round->is_cut |= elastic_step(growth.units, growth.unit_count, &rules,
                                  &space, round->arena);
    decide_all(&growth);
    round->keeps_gpus = round->is_growing = false;
    VEC_FREE(&growth.changes);
    map_fini(&growth.full);
}
