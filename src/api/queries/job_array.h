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

/* What a job stands for in a list that has arrays once. */
enum job_array_row {
    JOB_ARRAY_HIDDEN, /* nothing: another job of its array does */
    JOB_ARRAY_ALL,    /* its array, whose counts it then has */
    JOB_ARRAY_ALONE,  /* itself */
};

/* Whoever submits a job chooses its labels.  So jobs are of one array only with
 * others of their queue and owner: where the oldest or the newest of those that
 * have the label is somebody else's, each of them stands alone.  The return is
 * one of enum job_array_row, or what the store failed with. */
int job_array_stands(struct store_reader *reader, struct job_id id,
                     struct arena *arena, Berth__Api__JobSummary *summary,
                     struct err *err) must_check;

/* The oldest job of the array that a job stands for, if there is none of
 * another array or of none between it and the newest: 1, else 0.  Else what the
 * store failed with. */
int job_array_oldest(struct store_reader *reader,
                     const Berth__Api__JobSummary *summary,
                     struct job_id *ret_oldest, struct err *err) must_check;
