/*
 * executors - executors and their nodes as the log has them, what they
 * say of pods that are not Berth's, and what they were told of runs.
 *
 * Ownership: the table owns all; an executor stays until it is deleted.
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"
#include "control/command/session.h"
#include "control/state/window_table.h"
#include "model/event.h"

struct control;

/* A node, by the index of its name within the executor.  `bytes` is an event
 * EXECUTOR_NODES that sets this node alone: the form of the log and of
 * checkpoints, and what inventories are compared by. */
struct control_node {
    char *bytes; /* owned; NULL: not there */
    uint32_t byte_count;
    uint32_t sched_node;
    uint32_t seen_no;        /* the last exchange that listed it */
    bool is_cordoned;        /* by an operator, here; goes with the node */
    bool has_conflict;       /* several pools match it: c->conflict_count */
    struct window_set about; /* as c->window_table counts it */
};

enum {
    /* An executor says something at least so often, unless it was seen to come
     * less often. */
    EXECUTOR_BEAT_MS = 5000,
    EXECUTOR_GAP_MS = 1000,    /* the least that is one between beats */
    EXECUTOR_BEATS_MISSED = 3, /* then it counts as silent */
};

/* An executor, by the index of its name. */
struct control_executor {
    struct str id; /* borrowed from its name */
    bool is_known; /* has a record: an inventory in the log */
    bool is_cordoned, has_settings;
    bool accepts; /* what the scheduler was told */
    bool is_in_batch;
    enum executor_state state;
    char *cordon_reason; /* owned */
    char *pool;          /* owned */
    struct control_pending {
        char *bytes; /* owned: an event that sets it alone; NULL: nothing */
        uint32_t byte_count;
    } pending;                        /* what others ask for there in vain */
    struct control_pending protected; /* runs, by disruption budgets */
    uint64_t heard_ns, gap_ns;        /* gap: between the last two beats */
    uint32_t unacknowledged_count;    /* leased, not reported */
    uint32_t in_batch_count;          /* leases in the batch being formed */
    uint32_t node_count;
    struct intern node_names;
    VEC(struct control_node) nodes;
    struct exchange_session *session; /* or NULL */
    uint64_t instance;                /* of the session's program, or 0 */
    uint32_t session_no, credit;
    VEC(struct unsent_run {
        uint32_t run;
        struct run_id id;
    })
    unsent; /* of the session, oldest first */
    size_t unsent_first;
    VEC(struct run_id) cancels; /* of the session */
};

/* What an executor has been told of a run, by the run's index. */
struct run_note {
    uint32_t executor;    /* index */
    uint32_t exchange_no; /* the last that listed it */
    uint32_t session_no;  /* of the session that knows it */
};

/* executors.c */

/* The executor of that name, made if it is new. */
struct control_executor *executor_get(struct control *c, struct str id);
/* The one of that name, or NULL. */
struct control_executor *control_find_executor(const struct control *c,
                                               struct str id);
/* How long ago it was last heard. */
int64_t executor_silent_ms(const struct control *c,
                           const struct control_executor *executor);
/* Whether it has missed EXECUTOR_BEATS_MISSED of its beats. */
bool executor_is_silent(const struct control *c,
                        const struct control_executor *executor);
/* The index of an executor: that of its name. */
uint32_t executor_index(const struct control *c,
                        const struct control_executor *executor);
/* Tell the scheduler whether it gets new leases. */
void executor_sync(struct control *c, struct control_executor *executor);
/* Make room in the table, if nothing speaks of an executor any more. */
void executor_drop_if_unused(struct control *c,
                             struct control_executor *executor);
/* Free all executors. */
void executors_fini(struct control *c);

/* nodes.c */

/* Cordon a node, or take it up again; one that is not there is passed over. */
void node_cordon(struct control *c, struct control_executor *executor,
                 struct str name, bool is_cordoned);
/* Write a node in the form that nodes are compared and kept in. */
void node_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                 const struct node_record *record);
/* A node is as this record says, of a pool unless the record names another. */
void node_fold(struct control *c, struct control_executor *executor,
               struct str pool, const struct node_record *record);
/* A node is gone; one that is not there is passed over. */
void node_remove(struct control *c, struct control_executor *executor,
                 struct str name);
/* All nodes of an executor are gone. */
void executor_drop_nodes(struct control *c, struct control_executor *executor);
/* Tell the planner of all nodes anew, in order of names: their pools are others
 * now. */
void executors_fold_again(struct control *c);

/* executor_events.c */

/* Fold EXECUTOR_NODES, _SETTINGS, _DELETED and _STATE. */
void executor_fold(struct control *c, const struct event *event);

/* run_notes.c */

/* Release an executor's session, if it has one. */
void session_detach(struct control_executor *executor,
                    enum command_result result);
/* A run began, was acknowledged, or was ended by us: note it. */
void note_run_began(struct control *c, uint32_t run, struct str executor_id,
                    struct run_id id);
/* The like: its executor has reported it for the first time, or it ended. */
void note_run_acknowledged(struct control *c, uint32_t run);
/* The like: its executor must stop it. */
void note_run_unwanted(struct control *c, uint32_t run, struct run_id id);

/* pending.c */

/* The event that sets what others ask for in vain at an executor, into a buffer
 * that is cleared; nothing: none. */
void pending_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                    const struct resource_list *pending);
/* It is this from now on. */
void pending_fold(struct control *c, struct control_executor *executor,
                  struct str pool, const struct resource_list *pending);
/* Tell the planner all of it anew: resources are counted otherwise. */
void pending_sync(struct control *c);

/* protected.c */

/* Whether an executor protects other runs than it did. */
bool protected_differs(const struct control_executor *executor,
                       const struct exchange_request *request);
/* The runs of an exchange as texts, in the arena. */
const struct str *protected_texts(const struct exchange_request *request,
                                  struct arena *arena);
/* An executor protects these from now on, and no others. */
void protected_fold(struct control *c, struct control_executor *executor,
                    const struct str *runs, uint32_t count);
/* Tell the planner of all of them: its runs are new. */
void protected_sync(struct control *c);
