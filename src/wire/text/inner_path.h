/*
 * inner_path - the path of a file below a folder, as a stranger says it: names
 * divided by single slashes, none of them "." or "..", so that it stays below.
 *
 * Pure.
 */
#pragma once

#include "base/str.h"

enum {
    INNER_PATH_BYTES_MAX = 4095,
    INNER_PATH_NAME_BYTES_MAX = 255,
};

/* Whether a text is one; "" is none. */
bool inner_path_is_good(struct str path) must_check;

/* What every such path is, for errors: the rest of "X must be ". */
#define INNER_PATH_RULE                                                  \
    "names divided by single slashes, of at most 255 bytes each and "    \
    "4095 in all, which do not begin with a slash and are not . or .., " \
    "in UTF-8"
