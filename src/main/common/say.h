/*
 * say - one line per event on standard error, for people and for programs.
 *
 * For events of the daemon and users' actions, not for decisions: these are in
 * the log.  Levels: error, an operator must act; warn, the program coped; info,
 * life cycle, and changes by users; debug, every call.
 *
 * A line is logfmt, `time=... level=... event=... key=value ...`, or one JSON
 * object with the same keys; the time is RFC 3339 in UTC.  Values are quoted,
 * with JSON's escapes, where a parser needs it.
 *
 * Threads: any; a line is written at once.
 */
#pragma once

#include "base/clock.h"
#include "base/strbuf.h"
#include "wire/settings/settings.h"

/* Who is to read it. */
enum say_level {
    SAY_ERROR, /* somebody must act */
    SAY_WARN,  /* we coped */
    SAY_INFO,  /* life cycle, and what people changed */
    SAY_DEBUG, /* every call */
};

/* How lines are written. */
enum say_format {
    SAY_LOGFMT,
    SAY_JSON,
};

enum { SAY_VALUE_BYTES_MAX = 2048 }; /* of one text; the rest is left out */

/* One key and its value; made by the functions below. */
struct say_field {
    const char *key; /* NULL ends a list; a word */
    struct str text; /* p NULL: the number */
    int64_t number;
};

/* A text; p NULL is "". */
static inline struct say_field say_str(const char *key, struct str text)
{
    return (struct say_field){key, text.p ? text : STR(""), 0};
}

/* The same of a C string. */
static inline struct say_field say_text(const char *key, const char *text)
{
    return say_str(key, str_of(text));
}

/* A number. */
static inline struct say_field say_int(const char *key, int64_t number)
{
    return (struct say_field){key, {NULL, 0}, number};
}

/* What is said from now on, and how; info and logfmt at first. */
void say_set(enum say_level level, enum say_format format);

/* Whether lines of that level are written now. */
bool say_is_on(enum say_level level);

/* Write a line, if its level is on: say(SAY_INFO, "job.lost",
 * say_text("id", id)). */
#define say(level, event, ...) \
    say_fields(level, event, (const struct say_field[]){__VA_ARGS__, say_end()})
void say_fields(enum say_level level, const char *event,
                const struct say_field *fields);

/* What ends a list. */
static inline struct say_field say_end(void)
{
    return (struct say_field){0};
}

/* Write a line for each of `texts`. */
void say_each(enum say_level level, const char *event, const char *key,
              const struct setting_texts *texts);

/* Make a line, with its newline; pure. */
void say_line(enum say_format format, int64_t wall_ms, enum say_level level,
              const char *event, const struct say_field *fields,
              struct strbuf *out);

/* say_set() by the words of the configuration; other words are taken for info
 * and logfmt. */
void say_set_by_name(struct str level, struct str format);
