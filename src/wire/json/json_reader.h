/*
 * json_reader - the parts of wire_json_read(): values as fields of messages.
 *
 * Internal to json.  Each read function takes one value that is not empty; a
 * value of the wrong kind or out of range is -ERR_INVALID with the path to it.
 * What is read is in the reader's arena.
 */
#pragma once

#include <jansson.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "wire/json/json_rules.h"

/* Where the walk stands, from the innermost step outwards. */
struct json_path {
    const struct json_path *up;
    const char *key; /* NULL: an index */
    size_t index;
};

/* What all steps of a walk share. */
struct json_reader {
    struct arena *arena;
    unsigned flags; /* of wire_json_read() */
    struct err *err;
};

/* Say what is wrong at a place; -ERR_INVALID. */
int json_refuse(struct json_reader *reader, const struct json_path *path,
                const char *what);
/* Whether a value is not there or null. */
bool json_is_empty(const json_t *json);
/* A whole number, given as one, as a real without a fraction, or as text. */
bool json_whole_number(const json_t *json, int64_t *ret_value);
/* Say that the field has a value, where a message keeps that. */
void json_mark_present(ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field);

/* A whole number of a range. */
int json_read_whole(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, int64_t min, int64_t max,
                    int64_t *ret_value) must_check;
/* One of 64 bits without a sign. */
int json_read_u64(struct json_reader *reader, const struct json_path *path,
                  const json_t *json, uint64_t *ret_value) must_check;
/* One of a field's type, which is not the above. */
int json_read_number(struct json_reader *reader, const struct json_path *path,
                     const json_t *json, ProtobufCType type,
                     void *to) must_check;
/* Any number. */
int json_read_double(struct json_reader *reader, const struct json_path *path,
                     const json_t *json, double *ret_value) must_check;
/* The same, rounded. */
int json_read_float(struct json_reader *reader, const struct json_path *path,
                    const json_t *json, float *ret_value) must_check;
/* True or false. */
int json_read_bool(struct json_reader *reader, const struct json_path *path,
                   const json_t *json,
                   protobuf_c_boolean *ret_value) must_check;
/* A value of an enum, by its name, with or without its prefix, or number. */
int json_read_enum(struct json_reader *reader, const struct json_path *path,
                   const json_t *json, const ProtobufCEnumDescriptor *type,
                   int32_t *ret_value) must_check;
/* A text without NUL. */
int json_read_text(struct json_reader *reader, const struct json_path *path,
                   const json_t *json, char **ret_text) must_check;
/* Bytes as base64. */
int json_read_bytes(struct json_reader *reader, const struct json_path *path,
                    const json_t *json,
                    ProtobufCBinaryData *ret_data) must_check;
/* A message that is no object of its fields. */
int json_read_special(struct json_reader *reader, const struct json_path *path,
                      const json_t *json, enum json_special special,
                      ProtobufCMessage *message) must_check;
