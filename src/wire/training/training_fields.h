/*
 * training_fields - reads the members of a TrainingJob's objects by tables, and
 * adds the defaults of missing ones to the JSON.
 *
 * Answers: 0, or what training_refuse() gives, with "FIELD: what is wrong".
 * A path is that of the object within the resource, such as "spec.trainer".
 * Memory: texts are borrowed from the JSON.
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "wire/training/training_job.h"

enum { TRAINING_PATH_BYTES_MAX = 256 };

/* One resource while it is read. */
struct training_reading {
    const struct training_rules *rules;
    struct training_job *job;
    struct err *err;
};

/* What a value of an object must be. */
enum training_member_kind {
    MEMBER_TEXT,
    MEMBER_NUMBER,
    MEMBER_BOOL,
    MEMBER_OTHER, /* read elsewhere, or not at all */
};

/* One member that an object may have. */
struct training_member {
    const char *key;
    enum training_member_kind kind;
    size_t offset;    /* of a struct str, an int64_t or a bool */
    int64_t min, max; /* of numbers */
    int64_t initial;  /* of numbers that are not given */
};

/* Say what is wrong with the field `key` of the object at `path`; either may
 * be "".  -ERR_INVALID. */
int training_refuse(struct training_reading *r, const char *path,
                    const char *key, const char *what);

/* The value of a key, NULL when it is absent or null; borrowed. */
json_t *training_field(const json_t *object, const char *key);
/* The object under `key`, made if it is not there; borrowed. */
json_t *training_object(json_t *parent, const char *key);
/* The text of a value; "" when it is none. */
struct str training_text(const json_t *value);
/* Whether a value is a text, and one that goes into C strings. */
bool training_is_text(const json_t *value);

/* That a value is an object with no other members than these. */
int training_check_keys(struct training_reading *r, const char *path,
                        json_t *object, const struct training_member *members,
                        size_t count) must_check;
/* Read a number that has bounds and a default. */
int training_read_number(struct training_reading *r, const char *path,
                         const struct training_member *member, json_t *object,
                         int64_t *ret_number) must_check;
/* Read the members of `object` into `record`, where each has its offset, and
 * put the defaults of those that are not there into the object. */
int training_read_members(struct training_reading *r, const char *path,
                          json_t *object, const struct training_member *members,
                          size_t count, void *record) must_check;
/* Labels, annotations, a node selector: scalars, which become texts.  NULL is
 * an empty map. */
int training_read_texts(struct training_reading *r, const char *path,
                        json_t *map) must_check;
