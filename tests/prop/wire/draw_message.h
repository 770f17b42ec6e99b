/*
 * draw_message - any message of a type, drawn from a tape.
 *
 * Fields that hold text in a form of its own (amounts, raw JSON, times) get
 * values that are in that form, so that the message has a JSON.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "prop.h"

enum { DRAW_TEXTS_COUNT = 24 };

/* Texts that are easily mistaken for something else. */
extern const char *const draw_texts[DRAW_TEXTS_COUNT];

/* A text of the above. */
char *draw_text(struct tape *tape, struct arena *arena);

/* A message of `type` in the arena; it spends at most `*budget` fields. */
ProtobufCMessage *draw_message(struct tape *tape,
                               const ProtobufCMessageDescriptor *type,
                               struct arena *arena, unsigned *budget);
