/*
 * history_private - what the files of this room share.
 */
#pragma once

#include "sim/history/history.h"

/* The sample that a moment belongs to. */
static inline uint32_t history_sample_at(const struct history *history,
                                         int64_t at_ms)
{
    int64_t at = history->span_ms > 0
                     ? at_ms * HISTORY_SAMPLES / (history->span_ms + 1)
                     : 0;

    return at < HISTORY_SAMPLES ? (uint32_t)at : HISTORY_SAMPLES - 1;
}

/* A job as far as a result goes. */
struct history_course {
    int64_t submitted_ms, started_ms; /* -1: never */
    int64_t ended_ms;                 /* -1: not */
    uint32_t queue;
};

/* Sum up waits: in all, and by queue. */
void history_sum_waits(const struct history *history,
                       struct history_course *jobs, size_t count,
                       struct history_result *result);
