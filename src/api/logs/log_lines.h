/*
 * log_lines - the text of a log as lines with their times.
 *
 * Pure.  Threads: any.
 */
#pragma once

#include "api/logs/log_query.h"

struct log_line {
    int64_t seconds; /* since the epoch; 0: the line does not say */
    int32_t nanos;   /* after them */
    struct str text; /* without time and newline; UTF-8 */
};

/* Split `answer` into at most LOG_LINES_MAX lines in the arena: their count.
 * What is over that is left out, and answer->is_cut says so.  Bytes that are
 * not UTF-8 become '?'. */
uint32_t log_lines_split(struct log_answer *answer, struct arena *arena,
                         struct log_line **ret_lines);
