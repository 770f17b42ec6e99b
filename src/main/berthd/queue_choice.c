#include "main/berthd/queue_choice.h"

#include <stdlib.h>

/* A queue by its name, and whether it has jobs. */
struct choice {
    struct str name;
    bool has_jobs;
};

static int by_name(const void *a, const void *b)
{
    return str_compare(((const struct choice *)a)->name,
                       ((const struct choice *)b)->name);
}

static int by_need(const void *a, const void *b)
{
    const struct choice *one = a, *two = b;

    return one->has_jobs != two->has_jobs ? (two->has_jobs ? 1 : -1)
                                          : by_name(a, b);
}

/* The queues of the answer, each once, by name: their count. */
static uint32_t list_queues(const struct command *command,
                            struct choice *choices)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        const struct queue_share *share = &command->queues.shares[i];
        choices[i] = (struct choice){share->queue, share->job_count > 0};
    }
    qsort(choices, command->queues.share_count, sizeof(*choices), by_name);
    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        if (count > 0 && by_name(&choices[count - 1], &choices[i]) == 0) {
            choices[count - 1].has_jobs |= choices[i].has_jobs;
        } else {
            choices[count++] = choices[i];
        }
    }
    return count;
}

static bool is_kept(const struct choice *kept, uint32_t count, struct str name)
{
    struct choice wanted = {.name = name};

    return bsearch(&wanted, kept, count, sizeof(*kept), by_name) != NULL;
}

static uint32_t keep_waits(struct command *command, const struct choice *kept,
                           uint32_t kept_count)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < command->queues.wait_count; i++) {
        if (is_kept(kept, kept_count, command->queues.waits[i].queue)) {
            command->queues.waits[count++] = command->queues.waits[i];
        }
    }
    return count;
}

uint32_t queue_choice_keep(struct command *command, uint32_t count_max)
{
    auto_mem struct choice *choices = mem_alloc_array(
        (size_t)command->queues.share_count + 1, sizeof(*choices));
    uint32_t count = list_queues(command, choices);
    uint32_t share_count = 0, transition_count = 0;

    if (count <= count_max) {
        return 0;
    }
    qsort(choices, count, sizeof(*choices), by_need);
    qsort(choices, count_max, sizeof(*choices), by_name);
    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        if (is_kept(choices, count_max, command->queues.shares[i].queue)) {
            command->queues.shares[share_count++] = command->queues.shares[i];
        }
    }
    for (uint32_t i = 0; i < command->queues.transition_count; i++) {
        const struct job_transition *row = &command->queues.transitions[i];
        if (is_kept(choices, count_max, row->queue)) {
            command->queues.transitions[transition_count++] = *row;
        }
    }
    command->queues.wait_count = keep_waits(command, choices, count_max);
    command->queues.share_count = share_count;
    command->queues.transition_count = transition_count;
    return count - count_max;
}
