/* berth.api.Berth: pools as objects (model.md 5).  The leader decides whether a
 * pool exists, since requests may come at the same time. */
#include "api/core/message.h"
#include "api/core/refusal.h"
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/objects/object_event.h"
#include "model/quantity.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"
#include "wire/policy/policy_codec.h"

enum { MS_PER_S = 1000 };

static void put_pool(struct api_call *call, struct str request,
                     enum object_wish wish)
{
    Berth__Api__Pool *pool;
    struct err err;

    if (!api_call_decode(call, &berth__api__pool__descriptor, request, &pool)) {
        return;
    }
    if (protobuf_c_message_get_packed_size(&pool->base) > OBJECT_BYTES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "a pool may have %d bytes",
                      OBJECT_BYTES_MAX);
        return;
    }
    if (pool_check(pool, &err) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "invalid pool: %s", err.text);
        return;
    }
    struct event event = event_now(call, EVENT_POOL_SET);
    event.pool.encoded = wire_encode_arena(&pool->base, &call->arena);
    object_post(call, &event, wish);
}

void handle_create_pool(struct api_call *call, struct str request)
{
    put_pool(call, request, OBJECT_WISH_NEW);
}

void handle_update_pool(struct api_call *call, struct str request)
{
    put_pool(call, request, OBJECT_WISH_THERE);
}

void handle_delete_pool(struct api_call *call, struct str request)
{
    Berth__Api__DeletePoolRequest *message;

    if (!api_call_decode(call, &berth__api__delete_pool_request__descriptor,
                         request, &message)) {
        return;
    }
    struct str name = str_of(message->name);
    if (!name.byte_count || str_equal(name, POOL_DEFAULT_NAME)) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "the default pool cannot be created, edited or deleted");
        return;
    }
    struct event event = event_now(call, EVENT_POOL_DELETED);
    event.pool.record.name = name;
    object_post(call, &event, OBJECT_WISH_THERE);
}

/* Listing. */

static char *amount_text(struct arena *arena, int64_t milli, bool is_binary)
{
    char text[QUANTITY_TEXT_BYTES_MAX];

    quantity_format(milli, is_binary, text);
    return message_copy(arena, str_of(text));
}

static Berth__Api__PoolResource *
resource_message(const char *name, const struct pool_amount *amount,
                 bool is_binary, struct arena *arena)
{
    Berth__Api__PoolResource *message =
        message_new(arena, &berth__api__pool_resource__descriptor);

    message->name = message_copy(arena, str_of(name));
    message->capacity = amount_text(arena, amount->capacity_milli, is_binary);
    message->allocatable =
        amount_text(arena, amount->allocatable_milli, is_binary);
    message->used = amount_text(arena, amount->used_milli, is_binary);
    message->shared = amount_text(arena, amount->shared_milli, is_binary);
    message->system = amount_text(arena, amount->system_milli, is_binary);
    message->pending = amount_text(arena, amount->pending_milli, is_binary);
    message->total = amount_text(arena, amount->total_milli, is_binary);
    return message;
}

static void add_resources(Berth__Api__PoolStatus *status,
                          const struct pool_row *row, struct arena *arena)
{
    static const struct {
        const char *name;
        enum pool_amount_kind kind;
        bool is_binary;
    } resources[] = {
        {"cpu", POOL_AMOUNT_CPU, false},
        {"gpu", POOL_AMOUNT_GPU, false},
        {"memory", POOL_AMOUNT_MEMORY, true},
        {"ephemeral-storage", POOL_AMOUNT_STORAGE, true},
        {"nodes", POOL_AMOUNT_NODES, false},
        {"pods", POOL_AMOUNT_PODS, false},
    };

    status->resources = arena_alloc_array(arena, ARRAY_COUNT(resources),
                                          sizeof(*status->resources));
    for (size_t i = 0; i < ARRAY_COUNT(resources); i++) {
        status->resources[status->n_resources++] = resource_message(
            resources[i].name, &row->amounts[resources[i].kind],
            resources[i].is_binary, arena);
    }
}

/* The pool of a row; of the Default pool its name. */
static Berth__Api__Pool *pool_of(const struct pool_row *row,
                                 struct arena *arena)
{
    ProtobufCMessage *message;
    struct err err;

    if (row->is_default ||
        wire_decode(&berth__api__pool__descriptor, row->encoded,
                    &wire_request_limits, arena, &message, &err) < 0) {
        Berth__Api__Pool *pool =
            message_new(arena, &berth__api__pool__descriptor);
        pool->name = message_copy(arena, row->name);
        return pool;
    }
    Berth__Api__Pool *pool = (void *)message;
    pool->name = message_copy(arena, row->name);
    return pool;
}

static Berth__Api__PoolStatus *status_message(const struct pool_row *row,
                                              struct arena *arena)
{
    Berth__Api__PoolStatus *status =
        message_new(arena, &berth__api__pool_status__descriptor);

    status->pool = pool_of(row, arena);
    status->is_default = row->is_default;
    status->node_count = row->node_count;
    status->queued_own_count = row->queued_own_count;
    status->queued_foreign_count = row->queued_foreign_count;
    status->running_own_count = row->running_own_count;
    status->running_foreign_count = row->running_foreign_count;
    status->conflicting_node_count = row->conflict_count;
    status->figures_age_ms = row->age_ms;
    add_resources(status, row, arena);
    return status;
}

/* A limit in so many of `one`, or NULL if it is switched off. */
static Google__Protobuf__DoubleValue *limit_or_none(int64_t limit, double one,
                                                    struct arena *arena)
{
    Google__Protobuf__DoubleValue *message =
        message_new(arena, &google__protobuf__double_value__descriptor);

    message->value = (double)limit / one;
    return limit == POLICY_OFF ? NULL : message;
}

static Berth__Api__PoolRules *rules_message(const struct pool_rules *rules,
                                            struct arena *arena)
{
    const struct pool_policy *policy = &rules->policy;
    Berth__Api__PoolRules *message =
        message_new(arena, &berth__api__pool_rules__descriptor);

    message->pool = message_copy(arena, rules->name);
    message->profile =
        message_copy(arena, str_of(policy_profile_word(policy->profile)));
    message->cost = message_copy(arena, str_of(policy_cost_word(policy->cost)));
    message->flow_half_time_seconds = policy->half_time_ms / MS_PER_S;
    message->admitted_window = policy->admitted_window;
    message->admitted_window_per_queue = policy->admitted_window_per_queue;
    message->strict_order = policy->is_strict;
    message->backfill =
        message_copy(arena, str_of(policy_backfill_word(policy)));
    message->over_share_factor =
        limit_or_none(policy->over_share_ppm, FRACTION_ONE_PPM, arena);
    message->excess_budget_minutes =
        limit_or_none(policy->excess_budget_minutes, 1, arena);
    message->starved_after_seconds = policy->starved_after_ms / MS_PER_S;
    message->short_job_penalty_seconds =
        policy->short_job_penalty_ms / MS_PER_S;
    message->protected_fraction_of_fair_share =
        (double)policy->protected_fraction_ppm / FRACTION_ONE_PPM;
    message->elastic_max_load = (double)policy->load_max_ppm / FRACTION_ONE_PPM;
    message->elastic_evenness = (double)policy->evenness_ppm / FRACTION_ONE_PPM;
    message->topology = arena_alloc_array(arena, policy->level_count,
                                          sizeof(*message->topology));
    for (uint32_t i = 0; i < policy->level_count; i++) {
        message->topology[message->n_topology++] =
            message_copy(arena, policy->topology[i]);
    }
    return message;
}

/* The classes of the policy, and those that jobs may name beside them. */
static void put_classes(Berth__Api__ListPoolsResponse *response,
                        const struct command *command,
                        const struct submit_rules *rules, struct arena *arena)
{
    uint32_t count = command->pools.class_count;

    response->priority_classes = arena_alloc_array(
        arena, count + rules->class_count, sizeof(*response->priority_classes));
    for (uint32_t i = 0; i < count; i++) {
        response->priority_classes[response->n_priority_classes++] =
            message_copy(arena, command->pools.classes[i]);
    }
    for (uint32_t i = 0; i < rules->class_count; i++) {
        bool is_there = false;
        for (uint32_t k = 0; k < count; k++) {
            is_there |= str_equal(rules->classes[i], command->pools.classes[k]);
        }
        if (!is_there) {
            response->priority_classes[response->n_priority_classes++] =
                message_copy(arena, rules->classes[i]);
        }
    }
}

/* What the configuration says. */
static void put_policy(Berth__Api__ListPoolsResponse *response,
                       struct command *command,
                       const struct submit_rules *rules)
{
    struct arena *arena = &command->arena;

    response->configured = arena_alloc_array(
        arena, command->pools.configured_count, sizeof(*response->configured));
    for (uint32_t i = 0; i < command->pools.configured_count; i++) {
        response->configured[response->n_configured++] =
            message_copy(arena, command->pools.configured[i]);
    }
    response->rules = arena_alloc_array(arena, command->pools.rules_count,
                                        sizeof(*response->rules));
    for (uint32_t i = 0; i < command->pools.rules_count; i++) {
        response->rules[response->n_rules++] =
            rules_message(&command->pools.rules[i], arena);
    }
    put_classes(response, command, rules, arena);
}

static void pools_known(struct command *command, void *ctx)
{
    Berth__Api__ListPoolsResponse response =
        BERTH__API__LIST_POOLS_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "log")) {
        response.pools = arena_alloc_array(
            &command->arena, command->pools.row_count, sizeof(*response.pools));
        for (uint32_t i = 0; i < command->pools.row_count; i++) {
            response.pools[response.n_pools++] =
                status_message(&command->pools.rows[i], &command->arena);
        }
        put_policy(&response, command, &call->api->config->submit);
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_pools(struct api_call *call, struct str request)
{
    Berth__Api__ListPoolsRequest *message;

    if (!api_call_decode(call, &berth__api__list_pools_request__descriptor,
                         request, &message)) {
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    command->pools.name = arena_str(&command->arena, str_of(message->name));
    api_call_post(call, command, pools_known);
}
