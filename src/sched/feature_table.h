/*
 * feature_table - the parts of the state, a row for each feature: functions
 * that create it, follow the policy, forget a queue, pack it into a checkpoint,
 * and check it.
 *
 * A feature comes after those that it stands on.  The rows' functions are
 * called in this order where something is made, and in the reverse order where
 * it goes. Sections of a checkpoint are in this order too; so a row that has
 * one keeps its name and its place among those that have.
 *
 * Private to src/sched, for the files of the room above all others.
 */
#pragma once

#include "sched/state/history.h"

/* Functions that are NULL have nothing to do. */
struct feature {
    const char *name; /* of its section, if it has one */
    /* Of a state that is new: zeroed, but for its policy. */
    void (*init)(struct sched *sched);
    /* Free what it has. */
    void (*fini)(struct sched *sched);
    /* The policy is about to be another one; then it is. */
    void (*let_go)(struct sched *sched);
    void (*follow)(struct sched *sched);
    /* A queue that has no jobs goes. */
    void (*forget_queue)(struct sched *sched, uint32_t queue);
    /* The version of the section that is written; 0: it has none. */
    uint64_t version;
    /* Append the section's bytes; none at all: the section is left out. */
    void (*pack)(const struct sched *sched, struct strbuf *buf);
    /* Take them back; bytes that make no sense set reader->pack.is_bad. */
    void (*unpack)(struct sched *sched, struct history_reader *reader);
    /* Whether what deltas keep up to date is what it would be made anew. */
    bool (*is_right)(const struct sched *sched, struct arena *scratch);
};

/* The features in order; NULL behind the last. */
const struct feature *feature_at(size_t index);
size_t feature_count(void);

/* Of check.c: nodes and their indexes, what runs and waits by account, gangs,
 * lists, and the runs that pools count. */
bool nodes_are_right(const struct sched *sched, struct arena *scratch);
bool accounts_are_right(const struct sched *sched, struct arena *scratch);
bool gangs_are_right(const struct sched *sched, struct arena *scratch);
bool queues_are_right(const struct sched *sched, struct arena *scratch);
bool run_counts_are_right(const struct sched *sched, struct arena *scratch);
