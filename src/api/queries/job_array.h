/*
 * job_array - the array that a job is of, by its labels berth.dev/array and
 * berth.dev/arrayIndex.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "store/store.h"

/* Say of which array a job is, if of any; 0, or what the store failed with. */
int job_array_of(struct store_reader *reader, struct job_id id,
                 struct arena *arena, Berth__Api__JobSummary *summary,
                 struct err *err) must_check;

/* Whether a job stands in a list for itself, or for its array, whose counts it
 * then gets: 1; 0: another job of the array does.  Else what the store failed
 * with. */
int job_array_stands(struct store_reader *reader, struct job_id id,
                     struct arena *arena, Berth__Api__JobSummary *summary,
                     struct err *err) must_check;

/* The oldest job of a job's array, if there is none of another array or of none
 * between it and the newest: 1, else 0.  Else what the store failed with. */
int job_array_oldest(struct store_reader *reader,
                     const Berth__Api__JobSummary *summary,
                     struct job_id *ret_oldest, struct err *err) must_check;
