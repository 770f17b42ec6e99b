/*
 * queue_choice: metrics are bounded, and say the same of the same queues.
 */
#include <stdio.h>

#include "main/berthd/queue_choice.h"
#include "unit.h"

enum { QUEUES = 100, POOLS = 2 };

/* Queues q00 to q99 in two pools; those divisible by 10 have jobs in one. */
static struct command *sample(void)
{
    struct command *command = command_create(COMMAND_QUERY_QUEUES);
    struct arena *arena = &command->arena;

    command->queues.shares = arena_alloc_array(arena, QUEUES * POOLS,
                                               sizeof(*command->queues.shares));
    command->queues.transitions =
        arena_alloc_array(arena, QUEUES, sizeof(*command->queues.transitions));
    for (int i = 0; i < QUEUES * POOLS; i++) {
        char name[8];
        snprintf(name, sizeof(name), "q%02d", i % QUEUES);
        command->queues.shares[command->queues.share_count++] =
            (struct queue_share){
                .queue = arena_str(arena, str_of(name)),
                .pool = i < QUEUES ? STR("a") : STR("b"),
                .job_count = i >= QUEUES && i % 10 == 0,
            };
        if (i < QUEUES) {
            command->queues.transitions[command->queues.transition_count++] =
                (struct job_transition){
                    .queue = command->queues.shares[i].queue, .count = 1};
        }
    }
    return command;
}

static void queues_with_jobs_come_first(void **state)
{
    auto_ptr(command) command = sample();

    (void)state;
    assert_int_equal(queue_choice_keep(command, 12), QUEUES - 12);
    assert_int_equal(command->queues.share_count, 12 * POOLS);
    assert_int_equal(command->queues.transition_count, 12);
    static const char *const kept[] = {"q00", "q01", "q02", "q10",
                                       "q20", "q30", "q40", "q50",
                                       "q60", "q70", "q80", "q90"};
    for (uint32_t i = 0; i < 12; i++) {
        assert_true(
            str_equal(command->queues.shares[i].queue, str_of(kept[i])));
        assert_true(
            str_equal(command->queues.shares[12 + i].queue, str_of(kept[i])));
        assert_true(
            str_equal(command->queues.transitions[i].queue, str_of(kept[i])));
    }
}

static void within_the_bound_nothing_changes(void **state)
{
    auto_ptr(command) command = sample();

    (void)state;
    assert_int_equal(queue_choice_keep(command, QUEUES), 0);
    assert_int_equal(command->queues.share_count, QUEUES * POOLS);
    assert_int_equal(command->queues.transition_count, QUEUES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(queues_with_jobs_come_first),
        TEST(within_the_bound_nothing_changes),
    };

    return RUN_TESTS(tests);
}
