/*
 * objects: of each object that is no job, the last event is kept.
 */
#include "store/objects.h"
#include "store_fixture.h"

static void add_settings(struct store_world *world, struct str name,
                         struct str node)
{
    struct event event = {.type = EVENT_EXECUTOR_SETTINGS,
                          .settings.name = name,
                          .settings.node_name = node};

    store_add_event(world, event);
    store_world_apply(world);
}

static void an_object_is_as_its_last_event_left_it(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct event gone = {.type = EVENT_RETRY_POLICY_DELETED,
                         .retry_policy.name = STR("often")};
    struct stored_object *objects;
    auto_arena arena = {0};

    add_settings(world, STR("b"), STR(""));
    add_settings(world, STR("a"), STR(""));
    add_settings(world, STR("a"), STR("node"));
    add_settings(world, STR("b"), STR(""));
    store_add_event(world, gone);
    store_world_apply(world);
    assert_int_equal(store_objects(world->reader, 0, &arena, &objects, NULL),
                     4);
    assert_str(objects[0].name, "a");
    assert_str(objects[1].name, "a");
    assert_str(objects[2].name, "b");
    assert_int_equal(objects[2].kind, EVENT_EXECUTOR_SETTINGS);
    assert_str(objects[3].name, "often");
    assert_int_equal(objects[3].kind, EVENT_RETRY_POLICY_SET);
    uint64_t seq = objects[2].seq;
    assert_int_equal(store_objects(world->reader, seq, &arena, &objects, NULL),
                     1);
    assert_true(objects[0].event.byte_count > 0);
    assert_int_equal(
        store_objects(world->reader, seq + 1, &arena, &objects, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_object_is_as_its_last_event_left_it,
                                        store_set_up, store_tear_down),
    };
    return RUN_TESTS(tests);
}
