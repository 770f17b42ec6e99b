/*
 * log_records - the parts of the log that tables do not describe: queues with
 * their limits (log_queues.c), and nodes with labels, taints and amounts.
 *
 * Internal to log_codec.  Threads: as there.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/event.h"
#include "wire/message/field.h"

/* -ERR_CORRUPT, said. */
int log_corrupt(struct err *err, const char *what) must_check;

/* One entry of a protobuf map: key in field 1, value in field 2. */
struct log_entry {
    struct str key;
    struct field value; /* number 0: absent, which reads as zero or "" */
};
/* Read one; false: it is none. */
bool log_read_entry(const struct field *from,
                    struct log_entry *ret_entry) must_check;

/* How many fields of this number `message` has, up to what is malformed. */
uint32_t log_count_fields(struct str message, uint32_t number);

/* Fill in event->nodes.set from an encoded berth.log.ExecutorNodes. */
int log_decode_nodes(struct str encoded, struct arena *arena,
                     struct event *event, struct err *err) must_check;

/* Append a map of amounts as field `number`. */
void log_encode_amounts(struct strbuf *buf, uint32_t number,
                        const struct resource_list *list);

/* Append the encoding of one berth.log.NodeRecord. */
void log_encode_node(struct strbuf *buf, const struct node_record *node);
