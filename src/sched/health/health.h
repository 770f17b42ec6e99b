/*
 * health - the failure records of nodes (quarantine.h), and which nodes are
 * quarantined.  Private to src/sched; sched.h has what others call.
 *
 * What a record says is decided by the log alone: runs that ended and changes
 * of health, with their times.  Changes are proposed here and made only when
 * they are told back.
 */
#pragma once

#include "base/vec.h"
#include "sched/health/quarantine.h"
#include "sched/sched.h"

enum { HEALTH_GANGS_MAX = 1024 }; /* failures of gangs that are remembered */

/* A node's record, and the pool that its window is counted in. */
struct health_record {
    struct quarantine quarantine;
    uint32_t pool;
    uint64_t name;  /* a hash of the node's names */
    bool is_due;    /* it was to be taken out when it failed last */
    bool is_listed; /* in health.suspects */
    char *reason;   /* owned; why it is out or on trial, for people */
};

/* A failure of a gang's member, for when its mates fail elsewhere. */
struct gang_failure {
    uint64_t gang; /* a hash; 0: free */
    uint64_t node; /* a hash of its names */
    int64_t time_ms;
};

struct history_reader;

struct health {
    VEC(struct health_record *) nodes; /* owned, by node; NULL: no record */
    VEC(struct quarantine_window) pools;
    VEC(uint32_t) known; /* nodes with a record, in no order */
    VEC(uint32_t) held;  /* of them not NORMAL, in no order */
    VEC(uint32_t)
    suspects;          /* have failed since they were last judged, or
                          wait for a place among the held */
    int64_t window_ms; /* that windows are counted by */
    struct gang_failure gangs[HEALTH_GANGS_MAX];
    uint32_t gang_next;
    bool has_news;    /* something may be due that was not when last asked */
    int64_t swept_ms; /* empty records were dropped */
    VEC(struct sched_health_change) changes;
};

/* A node's record, or NULL. */
struct health_record *health_find(const struct sched *sched, uint32_t node);
/* The window of all of a pool. */
struct quarantine_window *health_of_pool(struct sched *sched, uint32_t pool);
/* Whether the rules want a node out at `now_ms`. */
bool health_is_due(struct sched *sched, uint32_t node, int64_t now_ms);
/* Without records. */
void health_init(struct sched *sched);
/* Free it all. */
void health_fini(struct sched *sched);
/* The rules are those of another policy from now on. */
void health_follow(struct sched *sched);
/* Append all records. */
void health_pack(const struct sched *sched, struct strbuf *buf);
/* Read them back; what is wrong with them is in the reader. */
void health_unpack(struct sched *sched, struct history_reader *reader);

/* The rules of quarantine. */
const struct quarantine_policy *health_rules(const struct sched *sched);
/* The record of a node, made when it is new. */
struct health_record *health_get(struct sched *sched, uint32_t node);
/* Look at the node when the next plan proposes nodes to quarantine. */
void health_suspect(struct sched *sched, uint32_t node);
/* List the node among those that are quarantined or on trial, or not. */
void health_hold(struct sched *sched, uint32_t node, bool is_held);
/* Let the planner use the node as its health allows. */
void health_show(struct sched *sched, uint32_t index, enum node_health health);

/* Forget what is known of a node's runs, in its pool too. */
void health_clear_window(struct sched *sched, struct health_record *record);
/* Drop the records that say nothing any more. */
void health_sweep(struct sched *sched);
