/*
 * printable - escapes untrusted text for terminals and log lines.
 *
 * What moves the cursor, changes what is seen or hides it is written as an
 * escape: control characters (also those of ISO 6429 in UTF-8), bytes that are
 * no UTF-8, and the characters of Unicode that turn or hide text.
 *
 * Pure.
 */
#pragma once

#include "base/strbuf.h"

enum printable {
    PRINTABLE_LINE, /* one line, as \xNN and \u{NNNN} */
    PRINTABLE_TEXT, /* the same; line feeds and tabs stay */
    /* The same, but no line feed ends it, and what follows one is indented by
     * two spaces: such a line looks like none of those around the text. */
    PRINTABLE_INDENTED,
    PRINTABLE_JSON, /* a JSON document: as \uNNNN; white space stays */
};

/* Append a text so. */
void wire_printable(struct str text, enum printable how, struct strbuf *out);

/* Whether it would stay as it is, on one line. */
bool wire_is_printable(struct str text) must_check;

/* For those who write texts in a form of their own. */

/* The character at `at`, which is within `text`, and how many bytes it has; 0:
 * the byte there is no UTF-8, and is answered itself. */
size_t wire_next_char(struct str text, size_t at, uint32_t *ret_char);

/* Whether a character does something to what is seen of others. */
bool wire_is_hidden(uint32_t c);

/* Append the escape of a character. */
void wire_put_escape(uint32_t c, enum printable how, struct strbuf *out);
