/*
 * training - TrainingJobs beside the jobs that are their pods
 * (model.md 4).
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "control/command/command.h"
#include "wire/log/log_codec.h"

struct control;

/* Fold TRAINING_JOB_SET and _DELETED. */
void training_fold(struct control *c, const struct log_item *item);
/* A TrainingJob from its encoding in the log, in the arena; NULL: a foreign log
 * has something else there. */
Berth__Api__TrainingJob *training_message(struct str encoded,
                                          struct arena *arena) must_check;
