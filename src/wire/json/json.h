/*
 * json - converts between protobuf messages and JSON values, by descriptor.
 *
 * One mapper for two worlds.  Armada's messages: keys in camelCase (the
 * field's own name is read too), enums by name or number, timestamps as text
 * or as {seconds, nanos}, 64-bit integers as numbers (texts are read too).
 * Below k8s.io the rules are Kubernetes': inlined structs, quantities as
 * text (numbers are read), ports by number or name, times as RFC 3339, bytes
 * in base64, raw JSON inside RawExtension.
 *
 * null reads as absent.  Written are fields that are set: zero, false and ""
 * only where Kubernetes tells absent from zero and means it.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* What to do where worlds differ. */
enum wire_json_flags {
    WIRE_JSON_STRICT = 1 << 0,       /* reading: unknown keys are errors */
    WIRE_JSON_ENUM_NUMBERS = 1 << 1, /* writing: enums as numbers */
    WIRE_JSON_TIME_PARTS = 1 << 2,   /* writing: {seconds, nanos}, not text */
};

/* Read `json` as a message of `type`; it lives in the arena.  -ERR_INVALID:
 * a value that does not fit its field; the text names the path to it. */
int wire_json_read(const ProtobufCMessageDescriptor *type, const json_t *json,
                   unsigned flags, struct arena *arena,
                   ProtobufCMessage **ret_message, struct err *err) must_check;

/* The JSON of `message`; the caller json_decref()s it.  Never NULL. */
json_t *wire_json_write(const ProtobufCMessage *message,
                        unsigned flags) must_check;

/* Append a value as text in one line, its keys in order. */
void wire_json_text(const json_t *json, struct strbuf *buf);

/* The JSON Schema of what wire_json_write() makes of a message of `type`, with
 * no flags: a reference into `defs`, an object that gets the definitions of all
 * messages that it needs, by their full names.  No field is required, since
 * what is zero is not written, and others may come.  The caller json_decref()s
 * it. */
json_t *wire_json_schema(const ProtobufCMessageDescriptor *type,
                         json_t *defs) must_check;

/* A json_t that is let go at end of scope. */
#define auto_json_t __attribute__((cleanup(wire_json_release))) json_t

/* For auto_json_t. */
static inline void wire_json_release(json_t **json)
{
    json_decref(*json);
}
