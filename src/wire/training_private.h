/*
 * training_private - what the two halves of training_job.h share.
 */
#pragma once

#include "wire/training_job.h"

/* The amounts ("requests" or "limits") of a component as completed, or NULL;
 * borrowed. */
json_t *training_amounts(const struct training_job *job,
                         enum training_component component, const char *which);
