/*
 * forecaster - has forecasts made (control/command/forecasts.h), again and
 * again, as long as jobs wait.
 *
 * It asks the leader for a what-if without changes, which what_if_thread
 * answers.  Making them takes at most a twentieth of the time: after one that
 * took long the next one is made later.
 *
 * Threads: start, stop and destroy from one.
 */
#pragma once

#include "control/command/command.h"

struct forecaster;

/* Start its thread; a period of less than a second is one.  The inbox is
 * borrowed until forecaster_stop(). */
struct forecaster *forecaster_start(struct inbox *inbox, int64_t period_ms,
                                    struct err *err) must_check;
/* Ask no more, and join its thread.  NULL is fine. */
void forecaster_stop(struct forecaster *forecaster);
/* Free it, when all that it asked is answered: the inbox is destroyed.  NULL is
 * fine. */
void forecaster_destroy(struct forecaster *forecaster);
