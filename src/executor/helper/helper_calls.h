/*
 * helper_calls - requests and answers between the processes.
 *
 * A request is a struct helper_request, and for CREATE, LOGS and FILES a
 * payload of `byte_count` bytes; its answer is a struct helper_answer and a
 * payload, for EXEC a descriptor (fd_pass.h) behind it.  Both ends are one
 * program, so that numbers are as the machine has them.
 *
 * Private to executor/helper.  Threads: no state.
 */
#pragma once

#include "executor/runtime.h"

enum {
    HELPER_CREATE_BYTES_MAX = 64 << 20, /* as a lease's message */
    HELPER_LOGS_BYTES_MAX = 1024,
    HELPER_FILES_BYTES_MAX = 8192,
    HELPER_ANSWER_BYTES_MAX = 256 << 20,
    HELPER_GRACE_MS_MAX = 3600 * 1000,
};

/* What is asked.  CREATE to FORGET are not answered: changes tell how they
 * end. */
enum helper_kind {
    HELPER_OPEN,   /* -> information, how many pods at once */
    HELPER_LIST,   /* -> the pods */
    HELPER_CREATE, /* run, job, payload */
    HELPER_STOP,   /* run, number: grace in ms, -1 for its own */
    HELPER_ACK,    /* run, number: phase */
    HELPER_FORGET, /* run */
    HELPER_POLL,   /* -> changes, and what has changed of the nodes */
    HELPER_STATUS, /* run -> how it stands */
    HELPER_LOGS,   /* job, number: lines, limit: bytes, payload -> text */
    HELPER_FILES,  /* job, number: offset, limit: bytes, payload -> message */
    HELPER_EXEC,   /* job -> a connection, as a descriptor */
    HELPER_KINDS,
};

/* The head of each request. */
struct helper_request {
    uint32_t kind, byte_count;
    struct run_id run;
    struct job_id job;
    int64_t number, limit;
};

/* The head of each answer. */
struct helper_answer {
    int32_t rc; /* as the call's */
    uint32_t byte_count;
};

/* Whether a request has an answer. */
static inline bool helper_is_answered(uint32_t kind)
{
    return kind < HELPER_CREATE || kind > HELPER_FORGET;
}

/* Whether it is one of the connection of the logs. */
static inline bool helper_is_for_logs(uint32_t kind)
{
    return kind == HELPER_LOGS || kind == HELPER_FILES || kind == HELPER_EXEC;
}

/* Whether a request may be believed, for the calls or for the logs.
 * -ERR_INVALID with why not. */
int helper_request_check(const struct helper_request *request, bool is_for_logs,
                         struct err *err) must_check;

/* Send a head and a payload, all of it.  -ERR_IO. */
int helper_send(int fd, const void *head, size_t head_bytes,
                struct str payload) must_check;
/* Receive exactly so many bytes.  -ERR_IO: the other end is gone. */
int helper_receive(int fd, void *bytes, size_t byte_count) must_check;
/* Append them to a buffer. */
int helper_receive_into(int fd, struct strbuf *buf,
                        size_t byte_count) must_check;
