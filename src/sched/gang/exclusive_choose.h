/*
 * exclusive_choose - which places a gang with exclusive nodes would take, by
 * the rule of exclusive_node.h: sub-group after sub-group, on what it holds,
 * then on a cover of empty nodes, then on nodes that are cleared.
 *
 * It decides nothing: exclusive_place.c places what was chosen.  All lives in
 * the round's arena.  Private to src/sched.
 */
#pragma once

#include "sched/place/exclusive_node.h"
#include "sched/place/place.h"

/* A place for a member. */
struct exclusive_place {
    uint32_t job, node, class_index;
    uint32_t room; /* of choice.rooms */
};

/* A node that may be chosen. */
struct exclusive_candidate {
    uint32_t node;
    bool is_held; /* by the gang, so that it costs nothing more */
    bool is_busy; /* others are there: `left` is what it has without them */
    struct resource_vec left;
};

/* What is chosen for a gang, and of which rooms. */
struct exclusive_choice {
    struct round *round;
    bool may_clear; /* others may go */
    bool is_later;  /* not to be placed now */
    const struct gang *gang;
    uint32_t holder;                   /* 1 + the gang's index */
    struct exclusive_candidate *rooms; /* by name */
    uint32_t room_count;
    struct exclusive_place *places;
    uint32_t place_count;
};

/* The rooms of a choice: the pool's nodes, or those of a group. */
void exclusive_choose_rooms(struct exclusive_choice *choice,
                            const struct label_group *only);
/* Choose places for all that sub-groups ask for; false: there are none, and
 * what was chosen is nothing. */
bool exclusive_choose(struct exclusive_choice *choice, uint32_t sub_group_first,
                      uint32_t sub_group_count);
