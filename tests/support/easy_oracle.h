/*
 * easy_oracle - backfilling on a flat machine in a hundred plain lines, to
 * compare the production scheduler with.  It shares nothing with it but the
 * log's rows.
 */
#pragma once

#include "sim/swf/swf.h"

enum { EASY_ORACLE_JOBS_MAX = 512 };

/* Fill in the starts of a log by the rules of swf.h, without the scheduler. */
void easy_oracle_play(struct swf_log *log, const struct swf_options *options);
