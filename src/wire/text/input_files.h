/*
 * input_files - small files that a job brings, as the text of an annotation:
 * a line PATH:BASE64 for each.
 *
 * A path is an inner_path.h without colons and line feeds.  No two are the
 * same, and none lies in another.  Folders are counted, too: who puts the files
 * into place makes them one by one.
 *
 * Pure.
 */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"

enum {
    INPUT_FILES_MAX = 64,
    INPUT_FILES_BYTES_MAX = 64 << 10, /* of all of a job together */
    INPUT_FILE_FOLDERS_MAX = 31, /* that a file lies in, one in the other */
    INPUT_FOLDERS_MAX = 256,     /* the same, of all files together */
};

/* A file; both are in the arena, the path terminated. */
struct input_file {
    struct str path, bytes;
};

/* Read a text: how many files it has, in its order.  -ERR_INVALID: which rule
 * it breaks; -ERR_LIMIT: there are too many, or they are too large. */
int input_files_read(struct str text, struct arena *arena,
                     struct input_file **ret_files, struct err *err) must_check;

/* Append the line of a file. */
void input_files_add(struct strbuf *text, struct str path, struct str bytes);
