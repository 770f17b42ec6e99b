/*
 * extras - what a node has only so many of, beside the columns of the policy:
 * host ports, and resources that only few jobs ask for (docs/decisions/0046).
 *
 * A class may have extras: pairs of a number and an amount, sorted by number.
 * A number is an interned name, that of a resource or `port:TCP:8080`.  A
 * resource has what the node reports, less what pods of others use.  Of a port
 * there is one for all addresses of the node, or one for each address.
 *
 * What runs is counted in rows by node and number, which live while something
 * of the number runs on the node.  Classes without extras have none of this.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

struct class_extra {
    uint32_t number; /* in sched.extra_names */
    int64_t amount;
    int64_t capacity; /* of each node; -1: what the node reports */
};

/* What a class asks for beside the columns, by the present policy; whether
 * that is all it asks for beside them. */
bool extras_resolve(struct sched *sched, struct class *class,
                    const struct requirement *requirement);
/* Free what a class has. */
void extras_drop(struct sched *sched, struct class *class);
/* Start with none; free all. */
void extras_init(struct sched *sched);
void extras_fini(struct sched *sched);
/* Nothing runs any more. */
void extras_forget(struct sched *sched);
/* Add (count > 0) or take off so many jobs of a class that has extras. */
void extras_count_each(struct sched *sched, uint32_t node,
                       const struct class *class, int64_t count);
/* The same of any class: most have none. */
static inline void extras_count(struct sched *sched, uint32_t node,
                                const struct class *class, int64_t count)
{
    if (class->extra_count > 0) {
        extras_count_each(sched, node, class, count);
    }
}
/* How many more jobs of the class a node has extras for, at most `most`. */
uint32_t extras_times(const struct sched *sched, uint32_t node,
                      const struct class *class, uint32_t most);
/* The same of an empty node. */
uint32_t extras_times_empty(const struct sched *sched, uint32_t node,
                            const struct class *class, uint32_t most);
/* The first that a node has too little left of; "": none. */
struct str extras_lacking(const struct sched *sched, uint32_t node,
                          const struct class *class);
/* Whether what is counted is what runs. */
bool extras_are_right(const struct sched *sched);

/* Whether one more job of the class has its extras on a node. */
static inline bool extras_fit(const struct sched *sched, uint32_t node,
                              const struct class *class)
{
    return class->extra_count == 0 || extras_times(sched, node, class, 1) == 1;
}

/* What a node has left of each extra of the class. */
void extras_left(const struct sched *sched, uint32_t node,
                 const struct class *class, i128 *ret_left);
/* Add what a job of another class has of each extra of the class. */
void extras_sum_add(i128 *sums, const struct class *class,
                    const struct class *other);
