/*
 * Pools as objects: who may make what, and what is asked of the leader before.
 */
#include <stdatomic.h>

#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

/* What the leader knows of pools; its thread asks. */
struct known {
    atomic_bool is_there;
    atomic_uint query_count;
};

static void answer_pools(struct fixture *fixture, struct command *command)
{
    struct known *known = fixture->exchange_ctx;

    assert_int_equal(command->kind, COMMAND_QUERY_POOLS);
    known->query_count++;
    if (!known->is_there) {
        return;
    }
    command->pools.rows =
        arena_alloc_array(&command->arena, 2, sizeof(*command->pools.rows));
    command->pools.row_count = 2;
    command->pools.rows[0] = (struct pool_row){
        .name = STR("default"),
        .is_default = true,
        .conflict_count = 3,
    };
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;
    pool.name = field("gpu");
    pool.disable_sharing = true;
    command->pools.rows[1] = (struct pool_row){
        .name = STR("gpu"),
        .encoded = wire_encode_arena(&pool.base, &command->arena),
        .node_count = 2,
        .running_foreign_count = 5,
        .amounts[POOL_AMOUNT_MEMORY].used_milli = (int64_t)2048 * 1000 << 20,
        .amounts[POOL_AMOUNT_CPU].shared_milli = 1500,
    };
    command->pools.rules =
        arena_alloc_array(&command->arena, 1, sizeof(*command->pools.rules));
    command->pools.rules_count = 1;
    command->pools.rules[0].name = STR("gpu");
    pool_policy_apply(&command->pools.rules[0].policy, PROFILE_FLOW);
    command->pools.classes =
        arena_alloc_array(&command->arena, 2, sizeof(*command->pools.classes));
    command->pools.class_count = 2;
    command->pools.classes[0] = STR("mine");
    command->pools.classes[1] = STR("production");
}

static void begin(struct fixture *f, struct known *known, bool is_there)
{
    *known = (struct known){.is_there = is_there};
    fixture_init(f);
    f->on_exchange = answer_pools;
    f->exchange_ctx = known;
}

static enum rpc_code create(struct fixture *f, const char *name)
{
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;

    pool.name = field(name);
    return fixture_code(f, "/berth.api.Berth/CreatePool", &pool.base);
}

static enum rpc_code update(struct fixture *f, const char *name)
{
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;

    pool.name = field(name);
    return fixture_code(f, "/berth.api.Berth/UpdatePool", &pool.base);
}

static enum rpc_code delete(struct fixture *f, const char *name) {
    Berth__Api__DeletePoolRequest request =
        BERTH__API__DELETE_POOL_REQUEST__INIT;

    request.name = field(name);
    return fixture_code(f, "/berth.api.Berth/DeletePool", &request.base);
}

static void whether_a_pool_is_there_is_the_leaders_to_say(void **state)
{
    struct fixture f;
    struct known known;
    (void)state;

    begin(&f, &known, false);
    fixture_start(&f);
    assert_int_equal(create(&f, "gpu"), RPC_OK);
    assert_int_equal(f.object_wish, OBJECT_WISH_NEW);
    assert_int_equal(update(&f, "gpu"), RPC_OK);
    assert_int_equal(f.object_wish, OBJECT_WISH_THERE);
    assert_int_equal(delete (&f, "gpu"), RPC_OK);
    assert_int_equal(f.object_wish, OBJECT_WISH_THERE);
    fixture_trouble(&f, COMMAND_NOT_FOUND, STR("could not find it"));
    assert_int_equal(update(&f, "gpu"), RPC_NOT_FOUND);
    assert_int_equal(delete (&f, "gpu"), RPC_NOT_FOUND);
    fixture_trouble(&f, COMMAND_EXISTS, STR("it exists already"));
    assert_int_equal(create(&f, "gpu"), RPC_ALREADY_EXISTS);
    assert_int_equal(known.query_count, 0);
    fixture_fini(&f);
}

static void what_may_not_be_is_refused_before_the_leader_is_asked(void **state)
{
    struct fixture f;
    struct known known;
    (void)state;

    begin(&f, &known, true);
    fixture_start(&f);
    assert_int_equal(create(&f, ""), RPC_INVALID_ARGUMENT);
    assert_int_equal(create(&f, "default"), RPC_INVALID_ARGUMENT);
    assert_int_equal(update(&f, "default"), RPC_INVALID_ARGUMENT);
    assert_int_equal(delete (&f, "default"), RPC_INVALID_ARGUMENT);
    assert_int_equal(create(&f, "No Name"), RPC_INVALID_ARGUMENT);
    auto_mem char *text = mem_alloc(OBJECT_BYTES_MAX + 1);
    char *names[] = {text};
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;
    memset(text, 'x', OBJECT_BYTES_MAX);
    pool.name = field("big");
    pool.borrowing_pools = names;
    pool.n_borrowing_pools = 1;
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/CreatePool", &pool.base),
        RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(f.status.message, "a pool may have"));
    assert_int_equal(known.query_count, 0);
    fixture_fini(&f);
}

static void each_needs_its_permission(void **state)
{
    struct fixture f;
    struct known known;
    (void)state;

    begin(&f, &known, true);
    f.config.auth.grants[PERMISSION_CREATE_POOL].group_count = 0;
    f.config.auth.grants[PERMISSION_DELETE_POOL].group_count = 0;
    fixture_start(&f);
    assert_int_equal(create(&f, "gpu"), RPC_PERMISSION_DENIED);
    assert_int_equal(update(&f, "gpu"), RPC_PERMISSION_DENIED);
    assert_int_equal(delete (&f, "gpu"), RPC_PERMISSION_DENIED);
    assert_int_equal(known.query_count, 0);
    fixture_fini(&f);
}

static void a_list_says_what_pools_are_and_have(void **state)
{
    Berth__Api__ListPoolsRequest request = BERTH__API__LIST_POOLS_REQUEST__INIT;
    struct fixture f;
    struct known known;
    (void)state;

    begin(&f, &known, true);
    fixture_start(&f);
    Berth__Api__ListPoolsResponse *list =
        fixture_call(&f, "/berth.api.Berth/ListPools", &request.base,
                     &berth__api__list_pools_response__descriptor);
    assert_non_null(list);
    assert_int_equal(list->n_pools, 2);
    assert_true(list->pools[0]->is_default);
    assert_string_equal(list->pools[0]->pool->name, "default");
    assert_int_equal(list->pools[0]->conflicting_node_count, 3);
    assert_string_equal(list->pools[1]->pool->name, "gpu");
    assert_true(list->pools[1]->pool->disable_sharing);
    assert_int_equal(list->pools[1]->running_foreign_count, 5);
    assert_int_equal(list->pools[1]->n_resources, 6);
    assert_string_equal(list->pools[1]->resources[0]->name, "cpu");
    assert_string_equal(list->pools[1]->resources[0]->shared, "1500m");
    assert_string_equal(list->pools[1]->resources[2]->used, "2Gi");
    assert_int_equal(list->n_rules, 1);
    assert_string_equal(list->rules[0]->pool, "gpu");
    assert_string_equal(list->rules[0]->profile, "flow");
    assert_string_equal(list->rules[0]->backfill, "inOrder");
    assert_int_equal(list->rules[0]->excess_budget_minutes->value, 60);
    /* The policy's classes, then those that only submissions know. */
    assert_int_equal(list->n_priority_classes, 8);
    assert_string_equal(list->priority_classes[0], "mine");
    assert_string_equal(list->priority_classes[1], "production");
    assert_string_equal(list->priority_classes[2], "armada-default");
    fixture_fini(&f);
}

static struct job_digest digest_of(struct arena *arena,
                                   const char *const *pairs, uint32_t count)
{
    Berth__Submission__Item *item =
        message_new(arena, &berth__submission__item__descriptor);
    struct job_digest digest = {0};

    for (uint32_t i = 0; i < count; i++) {
        sample_annotation(arena, item, pairs[2 * i], pairs[2 * i + 1]);
    }
    annotations_digest(item, &(struct gang){0}, &digest);
    return digest;
}

static void
a_job_names_its_home_and_is_made_again_when_it_loses_it(void **state)
{
    static const char *const pairs[] = {"armadaproject.io/pool",  "a",
                                        "resource.aibee.cn/pool", "b",
                                        "berth.dev/onPreemption", "fail"};
    auto_arena arena = {0};
    (void)state;

    struct job_digest digest = digest_of(&arena, pairs, 1);
    assert_true(str_equal(digest.pool, STR("a")));
    assert_int_equal(digest.on_preemption, ON_LOSS_FAIL);
    digest = digest_of(&arena, pairs, 2);
    assert_true(str_equal(digest.pool, STR("b")));
    assert_int_equal(digest.on_preemption, ON_LOSS_REQUEUE);
    digest = digest_of(&arena, pairs, 3);
    assert_int_equal(digest.on_preemption, ON_LOSS_FAIL);
    digest = digest_of(&arena, pairs, 0);
    assert_int_equal(digest.pool.byte_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whether_a_pool_is_there_is_the_leaders_to_say),
        TEST(what_may_not_be_is_refused_before_the_leader_is_asked),
        TEST(each_needs_its_permission),
        TEST(a_job_names_its_home_and_is_made_again_when_it_loses_it),
        TEST(a_list_says_what_pools_are_and_have),
    };

    return RUN_TESTS(tests);
}
