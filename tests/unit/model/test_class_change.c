/*
 * class_change: another priority or limit of a priority class.
 */
#include "model/class_change.h"
#include "unit.h"

static struct policy *make_policy(void)
{
    struct policy *policy = mem_alloc(sizeof(*policy));

    policy_defaults(policy);
    return policy;
}

static void a_priority_changes_alone(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct priority_class before = policy->classes[0];
    struct class_change change = {
        .name = before.name, .has_priority = true, .priority = -5};
    struct err err;

    (void)state;
    assert_int_equal(policy_change_class(policy, &change, &err), 0);
    assert_int_equal(policy->classes[0].priority, -5);
    policy->classes[0].priority = before.priority;
    assert_memory_equal(&policy->classes[0], &before, sizeof(before));
}

static void a_limit_is_changed_or_added(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct priority_class *class = &policy->classes[0];
    int32_t priority = class->priority;
    struct class_change change = {
        .name = class->name, .resource = STR("memory"), .fraction_ppm = 5};
    struct err err;

    (void)state;
    assert_int_equal(class->queue_limit_count, 2);
    assert_int_equal(policy_change_class(policy, &change, &err), 0);
    assert_int_equal(class->queue_limit_count, 2);
    assert_int_equal(class->queue_limits[1].fraction_ppm, 5);
    change.resource = STR("nvidia.com/gpu");
    assert_int_equal(policy_change_class(policy, &change, &err), 0);
    assert_int_equal(class->queue_limit_count, 3);
    assert_true(
        str_equal(class->queue_limits[2].resource, STR("nvidia.com/gpu")));
    assert_int_equal(class->priority, priority);
}

static void what_cannot_be_changed_is_said(void **state)
{
    auto_mem struct policy *policy = make_policy();
    struct priority_class *class = &policy->classes[0];
    struct class_change change = {.name = STR("none")};
    struct err err;

    (void)state;
    assert_int_equal(policy_change_class(policy, &change, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "there is no priority class \"none\"");
    class->queue_limit_count = POLICY_FRACTIONS_MAX;
    for (uint32_t i = 0; i < POLICY_FRACTIONS_MAX; i++) {
        class->queue_limits[i].resource = STR("other");
    }
    change = (struct class_change){.name = class->name, .resource = STR("cpu")};
    assert_int_equal(policy_change_class(policy, &change, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_priority_changes_alone),
        TEST(a_limit_is_changed_or_added),
        TEST(what_cannot_be_changed_is_said),
    };

    return RUN_TESTS(tests);
}
