/*
 * elog_contract_private - what the parts of the suite share.
 *
 *     elog_contract_append.c      records: appended, read, refused
 *     elog_contract_follow.c      who waits for more
 *     elog_contract_checkpoints.c  checkpoints, and what is trimmed before them
 */
#pragma once

#include "base/strbuf.h"
#include "elog_contract.h"
#include "unit.h"

struct fixture {
    const struct elog_contract *contract;
    void *place;
    struct elog *log;
    struct elog_reader *reader;
    uint64_t epoch;
};

/* What was told, in order. */
struct told {
    uint32_t count;
    int result[64];
    uint64_t seq[64];
};

/* What a reader was shown. */
struct seen {
    uint64_t first, last;
    uint32_t count, stop_after;
    struct elog_record record; /* the last, without its payload */
    char text[64];
};

/* A log of its own for each test; for cmocka. */
int contract_set_up(void **state);
/* Close and remove it; for cmocka. */
int contract_tear_down(void **state);
/* Close and open again, as after a restart; without becoming the writer. */
void contract_reopen(struct fixture *f);
/* Submit a record, whose end `told` is told. */
int contract_submit(struct elog *log, uint64_t epoch, uint64_t seq,
                    struct str payload, struct told *told);
/* The same for many records: only how many are good is told. */
int contract_submit_counted(struct fixture *f, uint64_t seq,
                            uint32_t *good_count);
/* Poll until nothing is in flight. */
void contract_poll_all(struct elog *log);
/* Append records first..last, each holding its number as text. */
void contract_append(struct elog *log, uint64_t epoch, uint64_t first,
                     uint64_t last);
/* Told of each record that is read; `ctx` is a struct seen. */
int contract_on_record(void *ctx, const struct elog_record *record);
/* Read from a record on. */
struct seen contract_read_from(struct elog_reader *reader, uint64_t from_seq);
/* Which records a reader has. */
struct elog_bounds contract_bounds_of(struct elog_reader *reader);

/* Run a part of the suite: the number of tests that failed. */
int elog_contract_append(struct fixture *fixture);
int elog_contract_follow(struct fixture *fixture);
int elog_contract_checkpoints(struct fixture *fixture);

#define CASE(name)                                                \
    {                                                             \
        #name, name, contract_set_up, contract_tear_down, fixture \
    }
