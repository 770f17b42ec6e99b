/*
 * entries - protobuf's maps as the model's sorted lists.
 *
 * protobuf-c gives a map as an array of entry messages, one C type per map but
 * all of the same shape (key, value).  A client may name a key twice (the last
 * one counts), or leave key or value out (which reads as "" or 0).
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "model/requirement.h"

/* The pairs of a map<string, string>, sorted by key, each key once; in the
 * arena, strings borrowed.  `entries` is the field as protobuf-c has it. */
struct label *entries_labels(const void *entries, size_t entry_count,
                             struct arena *arena, uint32_t *ret_count);

/* Names in order; in the arena, the texts borrowed. */
struct str *entries_names(char *const *texts, size_t count,
                          struct arena *arena) must_check;

/* Read a map<string, Quantity> into an empty list that has room for
 * RESOURCE_LIST_MAX items.  -ERR_INVALID, -ERR_LIMIT. */
int entries_amounts(const void *entries, size_t entry_count,
                    struct resource_list *list, struct err *err) must_check;

/* An array of `count` entries of a map<string, string>, of `type`, in the
 * arena with all that it holds. */
void *entries_make_labels(const struct label *labels, size_t count,
                          const ProtobufCMessageDescriptor *type,
                          struct arena *arena) must_check;

/* An array of list->count entries of a map<string, Quantity>, likewise. */
void *entries_make_amounts(const struct resource_list *list,
                           const ProtobufCMessageDescriptor *type,
                           struct arena *arena) must_check;

/* The effect by its name ("" is any), or -ERR_INVALID. */
int effect_parse(struct str text);

/* The name of an effect; "" for any. */
const char *effect_name(enum taint_effect effect);

/* A taint as kubectl writes it: key=value:effect or key:effect.  The texts
 * point into `text`.  -ERR_INVALID: it is none. */
int taint_from_text(struct str text, struct taint *ret_taint) must_check;
