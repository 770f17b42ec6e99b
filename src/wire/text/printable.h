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
    PRINTABLE_JSON, /* a JSON document: as \uNNNN; white space stays */
};

/* Append a text so. */
void wire_printable(struct str text, enum printable how, struct strbuf *out);
