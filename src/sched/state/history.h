/*
 * history - the part of the state that does not follow from queues, nodes and
 * jobs, so that a checkpoint must contain it.
 *
 * It is packed as *sections*, each with a name, a version of its own and its
 * length.  A feature adds a section by two functions in its row of
 * feature_table.h; the bytes must be canonical: equal states, equal bytes
 * (order by names and ids, never by indexes), and mean nothing new while the
 * feature is not used.  What is read back comes after all queues, nodes, jobs
 * and leases are there; a section that is missing leaves things as they are
 * then.  A section, or a version of one, that this release does not know is
 * refused, for skipping it would lose what it says.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* A section that is read. */
struct history_reader {
    struct pack_reader pack;
    uint64_t version; /* the section's, at most its row's */
    struct map *jobs; /* ids to jobs; see history_job() */
};

/* The job that has an id, or NONE. */
uint32_t history_job(const struct sched *sched, struct history_reader *reader,
                     struct job_id id);
/* The job whose id is next in the section; NONE: it is not there, or the
 * section is damaged. */
uint32_t history_read_job(const struct sched *sched,
                          struct history_reader *reader);

/* Something that a section has of a job or gang.  A gang is known by its member
 * with the lowest id (sub_groups_first()). */
struct history_item {
    struct job_id id;
    int64_t time_ms;
    const void *of; /* what the caller likes */
};

/* Put items in the order of their ids. */
void history_sort(struct history_item *items, uint32_t count);
/* Append items with their times, in order; nothing where there is none. */
void history_pack_times(struct strbuf *buf, struct history_item *items,
                        uint32_t count);
