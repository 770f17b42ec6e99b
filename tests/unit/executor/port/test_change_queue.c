/*
 * change_queue and node_set: what runtimes share.
 */
#include <stdio.h>

#include "executor/port/change_queue.h"
#include "executor/port/node_set.h"
#include "unit.h"

static void changes_are_copied_and_come_in_order(void **state)
{
    (void)state;
    struct change_queue queue = {0};
    struct runtime_change changes[2];
    char text[] = "why", name[] = "pod";
    const struct runtime_pod pod = {.pod_name = str_of(name),
                                    .phase = RECONCILE_RUNNING};

    change_queue_push(&queue, &(struct runtime_change){.kind = RUNTIME_RETURNED,
                                                       .run = {{0, 1}},
                                                       .text = str_of(text)});
    change_queue_push(&queue, &(struct runtime_change){.kind = RUNTIME_APPEARED,
                                                       .run = {{0, 2}},
                                                       .pod = &pod});
    text[0] = name[0] = 'x';
    change_queue_push(&queue, &(struct runtime_change){.kind = RUNTIME_PHASE,
                                                       .run = {{0, 3}}});

    assert_int_equal(change_queue_take(&queue, changes, 2), 2);
    assert_true(str_equal(changes[0].text, STR("why")));
    assert_true(str_equal(changes[1].pod->pod_name, STR("pod")));
    assert_int_equal(changes[1].pod->phase, RECONCILE_RUNNING);
    assert_false(change_queue_is_empty(&queue));
    assert_int_equal(change_queue_take(&queue, changes, 2), 1);
    assert_int_equal(changes[0].run.v.lo, 3);
    assert_int_equal(change_queue_take(&queue, changes, 2), 0);
    change_queue_fini(&queue);
}

static void put(struct node_set *set, const char *name, bool is_unschedulable)
{
    node_set_put(set,
                 &(struct node_record){.name = str_of(name),
                                       .is_unschedulable = is_unschedulable});
}

static void a_delta_has_what_changed_after_a_version(void **state)
{
    (void)state;
    auto_ptr(node_set) set = node_set_create();
    auto_arena arena = {0};
    struct node_set_delta delta;
    put(set, "a", false);
    put(set, "b", false);
    put(set, "c", false);
    uint64_t version = node_set_version(set);

    put(set, "b", true);
    put(set, "c", false); /* as it was */
    assert_true(node_set_remove(set, STR("a")));
    assert_false(node_set_remove(set, STR("a")));
    assert_true(node_set_since(set, version, &arena, &delta));

    assert_int_equal(delta.changed_count, 1);
    assert_true(str_equal(delta.changed[0].name, STR("b")));
    assert_true(delta.changed[0].is_unschedulable);
    assert_int_equal(delta.removed_count, 1);
    assert_true(str_equal(delta.removed[0], STR("a")));
    assert_true(node_set_since(set, delta.version, &arena, &delta));
    assert_int_equal(delta.changed_count + delta.removed_count, 0);
}

static void what_came_and_went_is_told_as_it_is_now(void **state)
{
    (void)state;
    auto_ptr(node_set) set = node_set_create();
    auto_arena arena = {0};
    struct node_set_delta delta;
    uint64_t version = node_set_version(set);

    for (int i = 0; i < 3; i++) {
        put(set, "goes", false);
        assert_true(node_set_remove(set, STR("goes")));
        put(set, "stays", false);
        assert_true(i == 2 || node_set_remove(set, STR("stays")));
    }
    assert_true(node_set_since(set, version, &arena, &delta));

    assert_int_equal(delta.removed_count, 1);
    assert_true(str_equal(delta.removed[0], STR("goes")));
    assert_int_equal(delta.changed_count, 1);
    assert_true(str_equal(delta.changed[0].name, STR("stays")));
    assert_null(node_set_find(set, STR("goes")));
}

/* Removals that nobody asks for are not kept for ever. */
static void too_long_ago_is_not_known(void **state)
{
    (void)state;
    auto_ptr(node_set) set = node_set_create();
    auto_arena arena = {0};
    struct node_set_delta delta;
    uint64_t version = node_set_version(set);

    for (int i = 0; i < 70000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%d", i);
        put(set, name, false);
        assert_true(node_set_remove(set, str_of(name)));
    }

    assert_false(node_set_since(set, version, &arena, &delta));
    assert_true(node_set_since(set, node_set_version(set) - 2, &arena, &delta));
    assert_int_equal(delta.removed_count, 1);
    assert_true(str_equal(delta.removed[0], STR("n69999")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(changes_are_copied_and_come_in_order),
        TEST(a_delta_has_what_changed_after_a_version),
        TEST(what_came_and_went_is_told_as_it_is_now),
        TEST(too_long_ago_is_not_known),
    };
    return RUN_TESTS(tests);
}
