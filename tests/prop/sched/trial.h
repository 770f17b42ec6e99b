/*
 * trial - an instance, its planner, and a plan made but not yet acted on;
 * what the properties of plans have in common.
 */
#pragma once

#include "built.h"

enum { TRIAL_NOW = 100 };

struct trial {
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    enum round_kind kind;
    int now; /* ms */
};

/* What is to hold of a trial. */
typedef bool check_fn(struct trial *trial);

/* A property with its name. */
struct property {
    const char *name;
    prop_fn *holds;
};

/* Check each, `run_count` times; the number of those that do not hold. */
int trial_check_all(const struct property *properties, size_t count,
                    unsigned run_count);
/* Plan; the instance and the planner's state stay as they are. */
void trial_plan(struct trial *trial, enum round_kind kind);
/* Let all decisions of the plan happen. */
void trial_act(struct trial *trial);
/* Let a plan happen to an instance and its planner.  Pods of gangs with terms
 * wait again when they lose their places. */
void trial_act_on(struct instance *instance, struct built *built,
                  const struct sched_plan *plan, int now);
/* Like trial_act(), and all that were preempted ask again at once. */
void trial_act_again(struct trial *trial);
/* Make the planner forget that it had nothing left to do. */
void trial_force(struct trial *trial);
/* Whether two plans decide the same; nodes are compared by number. */
bool trial_same_plan(const struct trial *a, const struct trial *b);
/* The priority of a job's class. */
int trial_level(const struct trial *trial, uint32_t job);
/* Draw an instance, plan a round of either kind, and check. */
bool trial_holds(struct tape *tape, check_fn *check);
/* Likewise a balance round for a uniform instance. */
bool trial_holds_uniform(struct tape *tape, check_fn *check);

/* Likewise in a pool that admits work ahead of its turn, gangs too. */
bool trial_holds_windowed(struct tape *tape, check_fn *check);

/* Properties made of checks. */
#define OF_PLANS(name)                           \
    static bool name##_always(struct tape *tape) \
    {                                            \
        return trial_holds(tape, name);          \
    }
/* Of uniform instances. */
#define OF_UNIFORM_PLANS(name)                   \
    static bool name##_always(struct tape *tape) \
    {                                            \
        return trial_holds_uniform(tape, name);  \
    }
/* Of pools that admit work ahead of its turn. */
#define OF_WINDOWED_PLANS(name)                    \
    static bool name##_windowed(struct tape *tape) \
    {                                              \
        return trial_holds_windowed(tape, name);   \
    }
/* An entry of a list of properties. */
#define PROPERTY(name) \
    {                  \
        #name, name    \
    }
/* Likewise of one made by OF_PLANS(). */
#define PLAN_PROPERTY(name)  \
    {                        \
        #name, name##_always \
    }
/* Likewise of one made by OF_WINDOWED_PLANS(). */
#define WINDOWED_PROPERTY(name)            \
    {                                      \
        #name "_windowed", name##_windowed \
    }
