/* Pools as objects in the leader: what the log says of them stays, and what
 * may not be is refused. */
#include "pools_fixture.h"

static void pools_are_listed_in_order_of_names(void **state)
{
    struct stage *s = *state;

    pools_assert_all(s, "default");
    pools_put(s, &(struct pool_record){.name = STR("b")});
    pools_put(s, &(struct pool_record){.name = STR("a")});
    pools_put(s, &(struct pool_record){.name = STR("c")});
    pools_assert_all(s, "default a b c");
    pools_drop(s, "b");
    pools_drop(s, "never-there");
    pools_assert_all(s, "default a c");
}

static void a_pool_set_again_is_as_it_was_set_last(void **state)
{
    struct stage *s = *state;
    struct pool_record record = {.name = STR("a")};

    pools_put(s, &record);
    record.is_sharing_off = true;
    pools_put(s, &record);
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    command->pools.name = STR("a");
    stage_do(s, command);
    assert_int_equal(s->answer->pools.row_count, 1);
    auto_arena arena = {0};
    struct err err;
    assert_int_equal(
        pool_decode(s->answer->pools.rows[0].encoded, &arena, &record, &err),
        0);
    assert_true(record.is_sharing_off);
}

/* Of each of the configuration's pools, then of each object that is shown,
 * which goes by those of `default`. */
static void a_list_says_by_which_rules_pools_go(void **state)
{
    struct stage *s = *state;

    pools_put(s, &(struct pool_record){.name = STR("a")});
    pools_put(s, &(struct pool_record){.name = STR("b")});
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    command->pools.name = STR("b");
    stage_do(s, command);
    assert_int_equal(s->answer->pools.configured_count, 1);
    assert_int_equal(s->answer->pools.rules_count, 2);
    const struct pool_rules *rules = s->answer->pools.rules;
    assert_true(str_equal(rules[0].name, s->policy.pools[0].name));
    assert_true(str_equal(rules[1].name, STR("b")));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rules[i].policy.profile, PROFILE_BERTH);
        assert_int_equal(rules[i].policy.admitted_window, 1);
    }
    assert_int_equal(s->answer->pools.class_count, s->policy.class_count);
    assert_true(
        str_equal(s->answer->pools.classes[0], s->policy.classes[0].name));
}

static void pools_outlive_the_leader(void **state)
{
    struct stage *s = *state;

    pools_put(
        s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    pools_put(s, &(struct pool_record){.name = STR("b")});
    pools_drop(s, "b");
    pools_restart(s);
    pools_assert_all(s, "default a");
}

static void pools_outlive_the_leader_by_a_checkpoint(void **state)
{
    struct stage *s = *state;

    s->checkpoint_events = 1;
    stage_crash(s);
    stage_start(s);
    pools_put(
        s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    stage_pass(s, 120 * 1000);
    pools_restart(s);
    pools_assert_all(s, "default a");
}

static struct command *wish_command(const char *name, enum event_type type,
                                    enum object_wish wish)
{
    auto_arena arena = {0};
    struct pool_record record = {.name = str_of(name)};
    struct event event = stage_event_make(type);

    event.pool.record = record;
    event.pool.encoded =
        wire_encode_arena(&pool_message_of(&record, &arena)->base, &arena);
    struct command *command = stage_event_command("", "", "anna", &event);
    command->events.object_wish = wish;
    return command;
}

static void
of_two_who_make_a_pool_at_once_one_is_told_that_it_exists(void **state)
{
    struct stage *s = *state;

    stage_post(s, wish_command("a", EVENT_POOL_SET, OBJECT_WISH_NEW));
    stage_do(s, wish_command("a", EVENT_POOL_SET, OBJECT_WISH_NEW));
    assert_int_equal(s->answer->result, COMMAND_EXISTS);
    assert_int_equal(stage_count(s, EVENT_POOL_SET), 1);
    stage_do(s, wish_command("a", EVENT_POOL_SET, OBJECT_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static void of_two_who_delete_a_pool_at_once_one_finds_none(void **state)
{
    struct stage *s = *state;

    stage_do(s, wish_command("a", EVENT_POOL_SET, OBJECT_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    stage_do(s, wish_command("a", EVENT_POOL_SET, OBJECT_WISH_NEW));
    stage_post(s, wish_command("a", EVENT_POOL_DELETED, OBJECT_WISH_THERE));
    stage_do(s, wish_command("a", EVENT_POOL_DELETED, OBJECT_WISH_THERE));
    assert_int_equal(s->answer->result, COMMAND_NOT_FOUND);
    pools_assert_all(s, "default");
}

static void a_pool_of_the_configuration_is_no_object(void **state)
{
    struct stage *s = *state;

    pools_put(s, &(struct pool_record){.name = s->policy.pools[0].name});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    pools_assert_all(s, "default");
}

static void there_are_only_so_many_pools(void **state)
{
    struct stage *s = *state;

    for (int i = 0; i < POOL_OBJECTS_MAX; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "p%d", i);
        pools_put(s, &(struct pool_record){.name = strbuf_str(&name)});
        assert_int_equal(s->answer->result, COMMAND_OK);
    }
    pools_put(s, &(struct pool_record){.name = STR("one-more")});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    pools_put(s,
              &(struct pool_record){.name = STR("p7"), .is_sharing_off = true});
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static void assert_out_for(struct stage *s, const char *pool, struct str reason)
{
    struct command *command = command_create(COMMAND_QUERY_NODES);

    command->nodes.pool = str_of(pool);
    command->nodes.count_max = 1;
    stage_do(s, command);
    assert_int_equal(s->answer->nodes.node_count, 1);
    assert_string_equal(s->answer->nodes.nodes->state, "pinned");
    assert_true(str_equal(s->answer->nodes.nodes->reason, reason));
}

static void a_node_keeps_why_it_is_out_from_pool_to_pool(void **state)
{
    static const char *const labels[] = {"gpu"};
    struct event event = stage_event_make(EVENT_NODE_HEALTH);
    struct stage *s = *state;

    pools_offer_up_to(s, labels, 1, 10000);
    event.health.node_name = STR("n0");
    event.health.health = NODE_OUT;
    event.health.is_pinned = true;
    event.health.reason = STR("smells of smoke");
    stage_event(s, "", "", "root", &event);
    stage_settle(s);
    pools_select(s, "gpu", false);
    assert_out_for(s, "gpu", event.health.reason);
    pools_drop(s, "gpu");
    assert_out_for(s, "default", event.health.reason);
}

int main(void)
{
#define STAGED(name) \
    cmocka_unit_test_setup_teardown(name, pools_setup, pools_teardown)
    const struct CMUnitTest tests[] = {
        STAGED(pools_are_listed_in_order_of_names),
        STAGED(a_node_keeps_why_it_is_out_from_pool_to_pool),
        STAGED(a_pool_set_again_is_as_it_was_set_last),
        STAGED(a_list_says_by_which_rules_pools_go),
        STAGED(pools_outlive_the_leader),
        STAGED(pools_outlive_the_leader_by_a_checkpoint),
        STAGED(of_two_who_make_a_pool_at_once_one_is_told_that_it_exists),
        STAGED(of_two_who_delete_a_pool_at_once_one_finds_none),
        STAGED(a_pool_of_the_configuration_is_no_object),
        STAGED(there_are_only_so_many_pools),
    };

    return RUN_TESTS(tests);
}
