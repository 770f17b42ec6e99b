/*
 * say - one line per event on standard error: `level event key=value ...`.
 *
 * For what happens to a daemon, not for what it decides: decisions are in
 * the log.  Levels: error, somebody must act; warn, we coped; info, life
 * cycle.
 *
 * Threads: any; a line is written at once.
 */
#pragma once

#include "wire/settings/settings.h"

enum say_level {
    SAY_ERROR, /* somebody must act */
    SAY_WARN,  /* we coped */
    SAY_INFO,  /* life cycle */
};

enum { SAY_LINE_BYTES_MAX = 1024 };

/* Write a line; `format` makes the `key=value` part, "" for none.  Longer
 * lines are cut; newlines in it become spaces, and what a terminal would not
 * show as it is becomes an escape. */
void say(enum say_level level, const char *event, const char *format, ...)
    printf_like(3, 4);

/* Write a line for each of `texts`: `key="TEXT"`. */
void say_each(enum say_level level, const char *event, const char *key,
              const struct setting_texts *texts);
