/* Lists pools with their figures. */
#include "control/fold/pools.h"

#include <stdio.h>

#include "control/answer/answers.h"
#include "control/fold/executors.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

_Static_assert((int)POOL_AMOUNT_PODS == (int)SCHED_AMOUNT_PODS &&
                   (int)POOL_AMOUNT_NODES == (int)SCHED_AMOUNTS,
               "the planner's amounts, and nodes");

static void fill_amounts(const struct sched_usage *usage,
                         const struct sched_usage *all, struct pool_row *row)
{
    for (int i = 0; i < SCHED_AMOUNTS; i++) {
        row->amounts[i] = (struct pool_amount){
            .capacity_milli = usage->allocatable[i],
            .allocatable_milli = usage->allocatable[i],
            .used_milli = usage->system[i] + usage->own[i] + usage->shared[i],
            .shared_milli = usage->shared[i],
            .system_milli = usage->system[i],
            .pending_milli = usage->pending[i],
            .total_milli = all->allocatable[i],
        };
    }
    row->amounts[POOL_AMOUNT_NODES] = (struct pool_amount){
        .capacity_milli = (int64_t)usage->node_count * 1000,
        .allocatable_milli = (int64_t)usage->node_count * 1000,
        .total_milli = (int64_t)all->node_count * 1000,
    };
    ASSERT(usage->node_count <= all->node_count); /* its nodes are among all */
    row->node_count = usage->node_count;
    row->queued_own_count = usage->own_waiting_count;
    row->queued_foreign_count = usage->borrowed_waiting_count;
    row->running_own_count = usage->own_running_count;
    row->running_foreign_count = usage->borrowed_running_count;
}

static void add_usage(const struct sched_usage *usage, struct sched_usage *all)
{
    for (int i = 0; i < SCHED_AMOUNTS; i++) {
        all->allocatable[i] += usage->allocatable[i];
    }
    all->node_count += usage->node_count;
}

/* The shard of the object at a place; the Default pool stands before them. */
static uint32_t shard_at(const struct control *c, uint32_t row)
{
    return row == 0 ? POOLS_DEFAULT : pools_object_shard(c->pools, row - 1);
}

/* Names that go to rows by their shards. */
struct names_by_row {
    struct pool_row *rows;
    uint16_t row_of[POOLS_SHARDS_MAX];
};

/* Jobs of the table that one answer looks at. */
enum { PODS_LOOKS_MAX = 1 << 16 };

/* One more in a list that has room for `max`. */
static void add_name(struct arena *arena, struct str name, uint32_t max,
                     const struct str **list, uint32_t *count)
{
    if (!*list) {
        *list = arena_alloc_array(arena, max, sizeof(**list));
    }
    /* The array is our own, fresh from the arena. */
    ASSERT(*count < max);
    ((struct str *)(uintptr_t)*list)[(*count)++] = arena_str(arena, name);
}

static void name_nodes(const struct control *c, struct arena *arena,
                       struct names_by_row *names)
{
    uint32_t left = POOL_NODE_NAMES_MAX;

    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        for (uint32_t n = 0; executor && n < executor->nodes.count && left;
             n++) {
            const struct control_node *node = &executor->nodes.items[n];
            if (!node->bytes) {
                continue;
            }
            struct pool_row *row = &names->rows[names->row_of[pools_node_shard(
                c->pools, node->sched_node)]];
            add_name(arena, intern_get(&executor->node_names, n),
                     POOL_NODE_NAMES_MAX, &row->nodes, &row->node_name_count);
            left--;
        }
    }
}

static void name_pods(const struct control *c, struct arena *arena,
                      struct names_by_row *names)
{
    uint32_t end = jobs_index_end(c->jobs), left = POOL_POD_NAMES_MAX;

    for (uint32_t job = 0; job < end && job < PODS_LOOKS_MAX && left; job++) {
        char name[ID_TEXT_BYTES_MAX + 16], id[ID_TEXT_BYTES_MAX];
        struct job_view view;
        if (!jobs_is_live(c->jobs, job) ||
            jobs_state(c->jobs, job) != JOB_QUEUED ||
            !c->handles.items[job].is_planned) {
            continue;
        }
        jobs_get(c->jobs, job, &view);
        snprintf(name, sizeof(name), "armada-%s-0", job_id_format(view.id, id));
        struct pool_row *row =
            &names->rows[names->row_of[pools_job_shard(c->pools, job)]];
        add_name(arena, str_of(name), POOL_POD_NAMES_MAX, &row->pods,
                 &row->pod_name_count);
        left--;
    }
}

static void add_names(const struct control *c, struct arena *arena,
                      struct pool_row *rows, uint32_t count)
{
    struct names_by_row names = {.rows = rows};

    for (uint32_t i = 0; i < count; i++) {
        ASSERT(shard_at(c, i) < POOLS_SHARDS_MAX);
        names.row_of[shard_at(c, i)] = (uint16_t)i;
    }
    name_nodes(c, arena, &names);
    name_pods(c, arena, &names);
}

/* What a pool is; NULL: Default. */
static struct pool_row row_of(const struct pool_entry *entry,
                              struct arena *arena)
{
    struct pool_row row = {.name = POOL_DEFAULT_NAME, .is_default = true};

    if (entry) {
        row = (struct pool_row){
            .name = arena_str(arena, entry->record.name),
            .encoded = arena_str(arena, entry->encoded),
            .is_preemption_off = entry->record.is_preemption_off,
            .is_borrowing_off = entry->record.is_borrowing_off,
            .is_sharing_off = entry->record.is_sharing_off,
        };
    }
    return row;
}

static void name_configured(const struct control *c, struct command *command)
{
    const struct policy *policy = &c->policy->policy;

    command->pools.configured =
        arena_alloc_array(&command->arena, policy->pool_count,
                          sizeof(*command->pools.configured));
    for (uint32_t i = 0; i < policy->pool_count; i++) {
        command->pools.configured[command->pools.configured_count++] =
            arena_str(&command->arena, policy->pools[i].name);
    }
}

static void add_rules(const struct control *c, struct command *command,
                      struct str name)
{
    struct pool_rules *rules =
        &command->pools.rules[command->pools.rules_count++];

    rules->name = arena_str(&command->arena, name);
    rules->policy = *policy_pool_of(&c->policy->policy, name);
    rules->policy.name = (struct str){0};
    for (uint32_t i = 0; i < rules->policy.level_count; i++) {
        rules->policy.topology[i] =
            arena_str(&command->arena, rules->policy.topology[i]);
    }
}

/* What the policy says of the pools of an answer whose rows are there. */
static void put_policy(const struct control *c, struct command *command)
{
    const struct policy *policy = &c->policy->policy;
    uint32_t count = policy->pool_count + command->pools.row_count;

    command->pools.rules = arena_alloc_array(&command->arena, count,
                                             sizeof(*command->pools.rules));
    for (uint32_t i = 0; i < policy->pool_count; i++) {
        add_rules(c, command, policy->pools[i].name);
    }
    for (uint32_t i = 0; i < command->pools.row_count; i++) {
        if (!command->pools.rows[i].is_default) {
            add_rules(c, command, command->pools.rows[i].name);
        }
    }
    command->pools.classes = arena_alloc_array(
        &command->arena, policy->class_count, sizeof(*command->pools.classes));
    for (uint32_t i = 0; i < policy->class_count; i++) {
        command->pools.classes[command->pools.class_count++] =
            arena_str(&command->arena, policy->classes[i].name);
    }
}

/* The Default pool stands first. */
/* A row for each pool, with what it has unless the answer is brief, and the sum
 * of that. */
static void measure(struct control *c, struct command *command,
                    struct pool_row *rows, struct sched_usage *usages,
                    struct sched_usage *all)
{
    for (uint32_t i = 0; i <= c->pool_table.entries.count; i++) {
        rows[i] = row_of(i ? c->pool_table.entries.items[i - 1] : NULL,
                         &command->arena);
        if (!command->pools.is_brief) {
            rows[i].age_ms = pools_usage(c->pools, shard_at(c, i),
                                         control_now_ms(c), &usages[i]);
            add_usage(&usages[i], all);
        }
    }
}

void pool_objects_answer(struct control *c, struct command *command)
{
    uint32_t count = (uint32_t)c->pool_table.entries.count + 1;
    struct arena *arena = &command->arena;
    struct sched_usage *usages =
        arena_alloc_array(arena, count, sizeof(*usages));
    struct pool_row *rows = arena_alloc_array(arena, count, sizeof(*rows));
    struct sched_usage all = {0};
    struct str wanted = command->pools.name;
    bool is_metrics = command->kind == COMMAND_POOL_METRICS;

    if (is_metrics && count == 1) {
        command_answer(command, COMMAND_OK, ""); /* nobody pays who has none */
        return;
    }
    measure(c, command, rows, usages, &all);
    rows[0].conflict_count = c->conflict_count;
    if (is_metrics) {
        add_names(c, arena, rows, count);
    }
    name_configured(c, command);
    command->pools.rows = rows;
    for (uint32_t i = 0; i < count; i++) {
        fill_amounts(&usages[i], &all, &rows[i]);
        if (!wanted.byte_count || str_equal(wanted, rows[i].name)) {
            rows[command->pools.row_count++] = rows[i];
        }
    }
    if (!is_metrics) {
        put_policy(c, command);
    }
    command_answer(command, COMMAND_OK, "");
}
