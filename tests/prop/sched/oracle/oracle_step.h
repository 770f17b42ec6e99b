/*
 * oracle_step - one step in which gangs grow and shrink, in the making: what
 * oracle_growth.c and oracle_shrink.c share.
 *
 * Growers are those of oracle_growers(), by their places there.
 */
#pragma once

#include "oracle_private.h"

enum { CHANGES_MAX = INSTANCE_JOBS_MAX * 2 };

/* What becomes of a pod. */
struct change {
    int grower, job, node;
    bool is_lease;
};

struct step {
    struct oracle *o;
    struct grower growers[GROWERS_MAX];
    int count;
    struct change changes[CHANGES_MAX];
    int change_count;
};

/* What becomes of a pod of a grower is remembered, to be decided. */
void oracle_step_note(struct step *step, int grower, int job, bool is_lease);
/* Whether a grower is to get a pod more if there is room. */
bool oracle_step_wants(const struct grower *grower);
/* Whether more is asked for than growth may fill of what a grower asks for,
 * with so many of its pods more. */
bool oracle_step_is_overloaded(const struct step *step, int grower, int more);
/* Give a grower a pod more; false: there is no room. */
bool oracle_step_grow(struct step *step, int grower);
/* Which of two queues has less: below 0 the first, whose growth comes first. */
int oracle_step_compare_queues(const struct oracle *o, int a, int b);
/* Take pods while there is more load than allowed. */
void oracle_step_shed(struct step *step);
/* Move one pod from the right to the left of a queue whose scores are far from
 * even; whether that was done. */
bool oracle_step_even_out(struct step *step, int queue);
