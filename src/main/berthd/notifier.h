/*
 * notifier - the thread that tells targets of the configuration that jobs and
 * job sets have ended.
 *
 * It follows the log behind the projector, so it holds up nobody.  How far each
 * target has been told stands in a file, written now and then and at the stop:
 * after a crash a target is told again what it may have been told, so that it
 * hears of each end at least once.  A target that the file does not know is
 * told from now on.
 *
 * Threads: start and stop from one; notifier_metrics() from any.
 */
#pragma once

#include "base/clock.h"
#include "elog/elog.h"
#include "main/berthd/projector.h"
#include "notify/outbox.h"
#include "notify/runner.h"
#include "notify/target.h"
#include "store/store.h"

enum { NOTIFIER_SAVE_MS = 5000 };

struct notifier;

/* All borrowed until notifier_stop(). */
struct notifier_options {
    struct elog *log;
    struct store *store;
    const struct projector *projector;
    const struct clock *clock;
    const struct notify_target *targets;
    struct runner *runner; /* NULL: no target is a command */
    uint32_t target_count; /* 1 .. NOTIFY_TARGETS_MAX */
    uint32_t queued_count_max;
    int64_t keep_ms;
    const char *path; /* of the file */
};

/* Begin to follow.  NULL with `err` set. */
struct notifier *notifier_start(const struct notifier_options *options,
                                struct err *err) must_check;

/* Stop; what was not told is told after the next start.  NULL is fine. */
void notifier_stop(struct notifier *notifier);

/* How a target stands; false: there is none with that index. */
bool notifier_metrics(struct notifier *notifier, uint32_t target,
                      struct str *ret_name,
                      struct outbox_counts *ret_counts) must_check;
