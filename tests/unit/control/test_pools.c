/* Pools as objects in the leader: what the log says of them stays, and what
 * may not be is refused. */
#include "leader_stage.h"
#include "unit.h"
#include "wire/message.h"
#include "wire/pool_codec.h"

static int setup(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct stage *s = *state;

    control_assert_valid(s->control);
    stage_fini(s);
    mem_free(s);
    return 0;
}

static void put(struct stage *s, const struct pool_record *record)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(record, &arena)->base, &arena);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

static void drop(struct stage *s, const char *name)
{
    struct event event = stage_event_make(EVENT_POOL_DELETED);

    event.pool.record.name = str_of(name);
    stage_do(s, stage_event_command("", "", "anna", &event));
}

/* All pools as text: "default a b". */
static void assert_pools(struct stage *s, const char *expected)
{
    struct command *command = command_create(COMMAND_QUERY_POOLS);
    auto_strbuf text = {0};

    stage_do(s, command);
    assert_int_equal(s->answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < s->answer->pools.row_count; i++) {
        const struct pool_row *row = &s->answer->pools.rows[i];
        assert_int_equal(row->is_default, i == 0);
        strbuf_addf(&text, "%s%.*s", i ? " " : "", STR_ARG(row->name));
    }
    strbuf_add_char(&text, '\0');
    assert_string_equal(text.bytes, expected);
}

static void restart(struct stage *s)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(s->control, &before);
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, after.byte_count);
}

static void pools_are_listed_in_order_of_names(void **state)
{
    struct stage *s = *state;

    assert_pools(s, "default");
    put(s, &(struct pool_record){.name = STR("b")});
    put(s, &(struct pool_record){.name = STR("a")});
    put(s, &(struct pool_record){.name = STR("c")});
    assert_pools(s, "default a b c");
    drop(s, "b");
    drop(s, "never-there");
    assert_pools(s, "default a c");
}

static void a_pool_set_again_is_as_it_was_set_last(void **state)
{
    struct stage *s = *state;
    struct pool_record record = {.name = STR("a")};

    put(s, &record);
    record.is_sharing_off = true;
    put(s, &record);
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

static void pools_outlive_the_leader(void **state)
{
    struct stage *s = *state;

    put(s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    put(s, &(struct pool_record){.name = STR("b")});
    drop(s, "b");
    restart(s);
    assert_pools(s, "default a");
}

static void pools_outlive_the_leader_by_a_checkpoint(void **state)
{
    struct stage *s = *state;

    s->checkpoint_events = 1;
    stage_crash(s);
    stage_start(s);
    put(s, &(struct pool_record){.name = STR("a"), .is_borrowing_off = true});
    stage_pass(s, 120 * 1000);
    restart(s);
    assert_pools(s, "default a");
}

static void a_pool_of_the_configuration_is_no_object(void **state)
{
    struct stage *s = *state;

    put(s, &(struct pool_record){.name = s->policy.pools[0].name});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    assert_pools(s, "default");
}

static void there_are_only_so_many_pools(void **state)
{
    struct stage *s = *state;

    for (int i = 0; i < POOL_OBJECTS_MAX; i++) {
        auto_strbuf name = {0};
        strbuf_addf(&name, "p%d", i);
        put(s, &(struct pool_record){.name = strbuf_str(&name)});
        assert_int_equal(s->answer->result, COMMAND_OK);
    }
    put(s, &(struct pool_record){.name = STR("one-more")});
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    put(s, &(struct pool_record){.name = STR("p7"), .is_sharing_off = true});
    assert_int_equal(s->answer->result, COMMAND_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define STAGED(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        STAGED(pools_are_listed_in_order_of_names),
        STAGED(a_pool_set_again_is_as_it_was_set_last),
        STAGED(pools_outlive_the_leader),
        STAGED(pools_outlive_the_leader_by_a_checkpoint),
        STAGED(a_pool_of_the_configuration_is_no_object),
        STAGED(there_are_only_so_many_pools),
    };

    return RUN_TESTS(tests);
}
