/*
 * state_class - scheduling classes, and which nodes they may use (match.c).
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "sched/sched.h"
#include "sched/state/state_links.h"

/* In the order of what is due a limit counts for so long at most, and for that
 * where there is none. */
#define CLASS_LIMIT_MAX_MS (INT64_C(24) * 3600 * 1000)

/* A scheduling class: what sched_class_add() was given. */
struct class
{
    struct resource_vec request;
    char *packed; /* owned; the requirement */
    uint32_t packed_bytes;
    uint32_t list_count; /* lists that are of it */
    uint64_t serial;     /* no other class has or had it */
    uint8_t level;
    uint8_t priority_class;
    bool is_live;
    bool is_away;        /* a variant of `base`; see away.h */
    uint32_t match_work; /* beside the look at a node, when it is asked */
    uint8_t away;        /* which of its priority class's types */
    uint32_t base;       /* of a variant */
    uint32_t variant;    /* the first, or next one; or NONE */
    uint32_t sweep[2];   /* by round_kind: no place in this one; see sweep.h */
    uint32_t lent_sweep[2];     /* the like, for work of other pools */
    uint32_t barred_sweep[2];   /* the like: none of it can be admitted */
    bool is_plain;              /* asks nothing of labels */
    bool asks_names;            /* asks for nodes by name */
    bool never_preempts;        /* nobody loses a place for it */
    bool has_wishes;            /* prefers some nodes to others */
    bool is_impossible;         /* asks for a resource that nobody counts */
    struct class_extra *extras; /* owned, but by variants; see extras.h */
    uint32_t extra_count;
    /* How long it may not be preempted for fairness (or LIFETIME_INFINITE),
     * and how long it may run (INT64_MAX: for ever). */
    int64_t lifetime_ms, deadline_ms;
    /* Of one round only, see class_round(). */
    bool is_blocked;     /* fits in no free space */
    bool is_blocked_all; /* not by preemption either */
    bool is_barred;      /* none of it can be admitted */
    uint32_t stamp;
    uint32_t size_stamp; /* in which round `size` was found; affordable.c */
    uint64_t size;
    uint32_t lane_first;     /* lanes whose next new work is of it */
    uint64_t blocked_growth; /* the round's, when it was blocked */
    /* What a search taught: of the nodes before this place of the index none
     * will do, but for those that moved since. */
    uint64_t *kinds; /* a bit each: asked about, and then allowed */
    bool has_cursor;
    bool was_kept;    /* maybe from nodes with GPUs, while that was so */
    bool was_growing; /* what was learnt is for what gangs grow by */
    uint64_t cursor_key;
    uint32_t cursor_rank;
    uint32_t moved_seen; /* of round.watch.moved */
    uint32_t cached_node;
    uint64_t cached_version;
    int64_t *wishes; /* by kind, see wishes.h; NULL: none are known */
    struct requirement *requirement; /* decoded, in the round's arena */
    struct climb *climb;             /* see eviction_index.c */
    struct group_rooms *group_rooms; /* see group_room.c */
    struct domain_room *domain_room; /* see domain_room.h */
    struct domain_room *empty_room;  /* likewise, of nodes that nobody uses */
    struct domain_room *held_room;   /* likewise, or that a gang has */
    struct borrowed *borrowed;       /* see recall.h */
};

/* Why a class may not use a node, as far as labels and taints go;
 * SCHED_EXCLUSIONS: it may. */
enum sched_exclusion match_static(const struct sched *sched,
                                  const struct requirement *requirement,
                                  uint32_t node);
/* The decoded requirement of a class; lives in `arena`. */
struct requirement *class_decode(const struct sched *sched,
                                 uint32_t class_index, struct arena *arena);
/* Whether a job avoids a node. */
bool job_avoids(const struct sched *sched, uint32_t job, uint32_t node);
/* A slot for a class or a variant of one; its row is the caller's to fill. */
uint32_t class_take(struct sched *sched);
/* Request, level and so on of a class by the present policy. */
void class_resolve(struct sched *sched, uint32_t class_index);
/* Whether the limit of a class tells it from others in the order of what is due
 * (sched/order/due_order.h). */
static inline bool class_is_limited(const struct class *class)
{
    return class->deadline_ms < CLASS_LIMIT_MAX_MS;
}
/* Free all classes. */
void classes_fini(struct sched *sched);
