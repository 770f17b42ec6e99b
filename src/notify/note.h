/*
 * note - the end of a job or of a job set, and its text for programs: one JSON
 * object {"type", "timestamp", "data"}.  Keys are only ever added.
 *
 *     job.ended       a job has succeeded, failed, or been cancelled,
 *                     preempted or rejected
 *     job_set.ended   no job of the set is left that has not
 *
 * A program can show the text to people as it is: control characters and those
 * that turn or hide text are escaped (wire/text/printable.h).
 *
 * Pure.  All is borrowed.
 */
#pragma once

#include "base/strbuf.h"
#include "store/store.h"

enum {
    NOTE_ID_BYTES_MAX = 96,
    NOTE_REASON_BYTES_MAX = 4096, /* of a text; the rest is left out */
};

/* The word for a state in which jobs end, "failed"; "" for others. */
const char *note_state_word(enum stored_job_state state);
/* The state of a word; 0 if it is none of an end. */
enum stored_job_state note_state_of(struct str word) must_check;

/* What a set ended as: failed if a job failed, was rejected or preempted; else
 * cancelled if one was cancelled; else succeeded. */
enum stored_job_state note_set_state(const struct stored_job_set *set);
/* Whether a set has jobs, all of which have ended. */
bool note_set_has_ended(const struct stored_job_set *set) must_check;

/* By which a receiver knows a note that it gets twice: the same however often
 * it is made. */
void note_job_id(const struct stored_job *job, char text[NOTE_ID_BYTES_MAX]);
void note_set_id(const struct stored_job_set *set,
                 char text[NOTE_ID_BYTES_MAX]);

/* Append the text about a job and its last run (NULL: it had none). */
void note_put_job(const struct stored_job *job, const struct stored_run *run,
                  struct strbuf *out);
/* Append the text about a job set. */
void note_put_set(const struct stored_job_set *set, struct strbuf *out);
