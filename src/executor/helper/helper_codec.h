/*
 * helper_codec - what a request or an answer carries, as bytes.
 *
 * Numbers of eight bytes, and texts with their length before them.  A reader
 * never goes beyond the bytes: what is missing reads as 0 or "", and the reader
 * is then bad.  Texts that are read borrow the bytes, unless an arena is given.
 *
 * Private to executor/helper.  Threads: no state.
 */
#pragma once

#include "executor/port/node_set.h"
#include "executor/runtime.h"

/* Where a reader is. */
struct helper_reader {
    struct str rest;
    bool is_bad;
};

/* Append a number. */
void helper_put_int(struct strbuf *buf, int64_t number);
/* Append a text. */
void helper_put_str(struct strbuf *buf, struct str text);
/* The next number. */
int64_t helper_take_int(struct helper_reader *reader);
/* The next text. */
struct str helper_take_str(struct helper_reader *reader);
/* Whether all was there, and nothing is left. */
bool helper_is_whole(const struct helper_reader *reader);

/* The run of a CREATE, but for its ids. */
void helper_put_run(struct strbuf *buf, const struct runtime_run *run);
/* The same, decoded as a message from a stranger; in the arena. -ERR_INVALID.
 */
int helper_take_run(struct str bytes, struct arena *arena,
                    struct runtime_run *ret_run, struct err *err) must_check;

/* What logs are wanted, but for the job and the numbers. */
void helper_put_query(struct strbuf *buf,
                      const struct runtime_log_query *query);
/* The same; borrows the bytes. -ERR_INVALID. */
int helper_take_query(struct str bytes, struct runtime_log_query *ret_query,
                      struct err *err) must_check;

/* What files are wanted, but for the job and the numbers. */
void helper_put_files_query(struct strbuf *buf,
                            const struct runtime_files_query *query);
/* The same; borrows the bytes. -ERR_INVALID. */
int helper_take_files_query(struct str bytes,
                            struct runtime_files_query *ret_query,
                            struct err *err) must_check;

/* A pod. */
void helper_put_pod(struct strbuf *buf, const struct runtime_pod *pod);
/* The same. */
void helper_take_pod(struct helper_reader *reader, struct runtime_pod *ret_pod);

/* A change. */
void helper_put_change(struct strbuf *buf, const struct runtime_change *change);
/* The same; `pod` has what it points to, if it does. */
void helper_take_change(struct helper_reader *reader, struct runtime_pod *pod,
                        struct runtime_change *ret_change);

/* How a pod stands. */
void helper_put_status(struct strbuf *buf, const struct runtime_status *status);
/* The same; texts in the arena. */
void helper_take_status(struct helper_reader *reader, struct arena *arena,
                        struct runtime_status *ret_status);

/* What changed of the nodes after `version`, or all of them. */
void helper_put_nodes(struct strbuf *buf, const struct node_set *nodes,
                      uint64_t version);
/* The same, into a set. */
void helper_take_nodes(struct helper_reader *reader, struct node_set *nodes);
