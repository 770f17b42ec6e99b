/*
 * training_private - what the parts of training_job.h share.
 */
#pragma once

#include "wire/training/training_job.h"

struct training_reading;

/* The amounts ("requests" or "limits") of a component as completed, or NULL;
 * borrowed. */
json_t *training_amounts(const struct training_job *job,
                         enum training_component component, const char *which);

/* Read the metadata into the job. */
int training_read_metadata(struct training_reading *r) must_check;

/* Check what the object of a component says of resources, and complete it. */
int training_read_resources(struct training_reading *r,
                            enum training_component component,
                            json_t *object) must_check;

/* That the pods of each component ask for enough cores to keep their gpus
 * busy; how much of both the trainers ask for goes into the job. */
int training_check_gpus(struct training_reading *r) must_check;
