/*
 * matrix - every method with what it needs, and calls of it.
 *
 * What a method needs is said here once more, by hand, and not taken from the
 * table (api/methods.h): whoever changes a row there changes one here.
 *
 * The server has two queues with a job each.  Callers are root, granted (has
 * all permissions), owner (owns the first queue), reader (may view it),
 * cluster (executes jobs), stranger, one for each permission and each verb on
 * the first queue (matrix_permitted(), matrix_allowed()), and NULL: without
 * credentials.
 */
#pragma once

#include "api_fixture.h"

/* Who may; all but ANYBODY, PERMITTED and EXECUTORS of their own queue. */
enum who {
    ANYBODY,
    PERMITTED, /* root, granted */
    EXECUTORS, /* and cluster */
    ACTORS,    /* permitted, owner */
    VIEWERS,   /* actors, reader; others are refused */
    SEERS,     /* the same; others see nothing */
};

struct matrix_row {
    const char *path;
    enum who who;
    enum permission permission; /* that is enough */
    enum queue_verb verb;       /* that is enough on its queue */
    /* How the request names its queue and its job; 0: it does not. */
    uint32_t queue_field, job_set_field, job_field;
    uint32_t wrapped_in; /* the job's field is in the message of this field */
    const char *extra;   /* further fields, encoded */
    size_t extra_bytes;
};

extern const struct matrix_row matrix_rows[];
extern const size_t matrix_row_count;

/* The queues, and jobs in them; nothing is there at MATRIX_UNKNOWN. */
enum { MATRIX_OWN, MATRIX_FOREIGN, MATRIX_UNKNOWN };

struct matrix {
    struct fixture f;
    char jobs[2][ID_TEXT_BYTES_MAX], runs[2][ID_TEXT_BYTES_MAX];
};

/* How a call came out. */
struct outcome {
    enum rpc_code code;
    const char *message;
    struct str reply; /* the first message of it */
};

void matrix_start(struct matrix *m);
void matrix_end(struct matrix *m);

/* Who has one permission, or one verb on the first queue, and nothing else. */
const char *matrix_permitted(enum permission permission);
const char *matrix_allowed(enum queue_verb verb);

/* Call about the queue and the job of this place. */
struct outcome matrix_call(struct matrix *m, const struct matrix_row *row,
                           const char *caller, int which);
/* Whether a caller is let, or, where others see nothing, sees something. */
bool matrix_lets(struct matrix *m, const struct matrix_row *row,
                 const char *caller, int which, struct outcome *ret_outcome);
