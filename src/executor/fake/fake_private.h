/*
 * fake_private - what the files of the fake runtime share:
 *
 *     fake.c       the port's operations
 *     fake_pods.c  pods that begin, run and end
 *     fake_play.c  what goes wrong in a cluster, on demand
 *
 * Not for use outside the folder.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/slots.h"
#include "executor/fake/fake_nodes.h"
#include "executor/port/change_queue.h"

/* How a creation ends. */
struct fake_end_of_creation {
    enum runtime_change_kind kind;
    enum runtime_scope scope;
    char *text; /* owned; NULL is "" */
};

struct fake_pod {
    struct run_id run;
    enum reconcile_phase phase; /* NEVER: it is being created */
    int32_t exit_code;
    uint32_t node; /* of `names`, with a reference; INTERN_NONE */
    bool is_used;
    enum runtime_cause cause;         /* why it ended, or is to end now */
    char *text;                       /* owned; with it; NULL: made up */
    struct fake_end_of_creation *end; /* owned, until it is created */
    struct runtime_address address;   /* in the runtime's arena; "": none */
    struct resource_list used;        /* likewise */
    int64_t run_ms;
    int64_t due_ms; /* when the phase changes next */
    int64_t created_ms, started_ms, ended_ms;
};

/* A pod's next change; entries of pods that changed meanwhile are stale. */
struct due {
    int64_t at_ms;
    uint64_t order;
    struct run_id run;
};

struct fake {
    struct runtime runtime;
    const struct clock *clock;
    struct fake_options options;
    struct arena arena;
    struct node_set *nodes; /* owned */
    struct intern *names;   /* of the pods' nodes; owned */
    struct change_queue changes;
    bool is_listed;
    int64_t listed_at_ms;
    struct fake_end_of_creation answer;
    uint32_t lost_request_count; /* that are still to get lost */
    SLOTS(struct fake_pod) pods;
    struct map by_id;
    VEC(struct due) heap; /* least (at_ms, order) first */
    uint64_t order;
    struct resource_list pending; /* of others; in the arena */
    VEC(struct run_id) protected_runs;
};

/* Now, for waiting. */
static inline int64_t fake_now_ms(const struct fake *fake)
{
    return (int64_t)(fake->clock->mono_ns(fake->clock) / 1000000);
}

/* The backend of a port. */
static inline struct fake *fake_of(struct runtime *runtime)
{
    return container_of(runtime, struct fake, runtime);
}

/* The pod of a run, or NULL. */
struct fake_pod *fake_find(struct fake *fake, struct run_id run);
/* A pod that was not there; it is being created. */
struct fake_pod *fake_add(struct fake *fake, struct run_id run,
                          struct str node_name);
/* Look at the pod then. */
void fake_heap_push(struct fake *fake, int64_t at_ms, struct run_id run);
/* Replace how a creation ends. */
void fake_set_end(struct fake_end_of_creation *end,
                  enum runtime_change_kind kind, enum runtime_scope scope,
                  struct str text);
/* Forget a pod. */
void fake_remove(struct fake *fake, struct fake_pod *pod);
/* Push a change of a run that says no more than its kind. */
void fake_push(struct fake *fake, enum runtime_change_kind kind,
               struct run_id run);
/* How the creation of a pod that has just been added will end. */
void fake_foresee_end(struct fake *fake, struct fake_pod *pod,
                      struct str node_name);
/* Free that. */
void fake_drop_end(struct fake_pod *pod);
/* Push what has happened until now. */
void fake_look(struct fake *fake);
/* Let a pod end at once. */
void fake_end_pod(struct fake *fake, struct fake_pod *pod,
                  enum runtime_cause cause);
