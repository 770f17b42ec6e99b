/*
 * yaml - YAML text to JSON values, and JSON values to YAML text.
 *
 * Reading follows the core schema of YAML 1.2 (null, true, false, numbers),
 * and Kubernetes' tools where they differ from it: yes, no, on and off are
 * booleans, 0644 is octal, and `<<` merges.  Numbers beyond an int64 become
 * reals.  Keys are texts.  JSON is YAML, so JSON files are read here too.
 * What stands where an alias stood is the same JSON value as the anchor's:
 * copy before changing.
 *
 * What a client's YAML can cost is bounded: its size, its depth, its anchors,
 * and how much its aliases expand to.  The same key twice in one mapping is an
 * error, because one of the two would be silently lost.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>

#include "base/strbuf.h"

enum {
    WIRE_YAML_BYTES_MAX = 64 << 20,
    WIRE_YAML_DEPTH_MAX = 64,
    WIRE_YAML_VALUES_MAX = 4 << 20, /* after the expansion of aliases */
    WIRE_YAML_ANCHORS_MAX = 1024,   /* in one document */
};

/* Read every document of `text` into a JSON array, which the caller
 * json_decref()s.  -ERR_INVALID or -ERR_LIMIT; the text begins with the line
 * number. */
int wire_yaml_read(struct str text, json_t **ret_documents,
                   struct err *err) must_check;

/* Read the first document alone; an empty text gives null. */
int wire_yaml_read_first(struct str text, json_t **ret_document,
                         struct err *err) must_check;

/* Append `value` as a YAML document in block style, without a `---` line.
 * Keys keep their order; texts are quoted where they would read as something
 * else. */
void wire_yaml_write(const json_t *value, struct strbuf *buf);
