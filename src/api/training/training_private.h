/*
 * training_private - what the parts of TrainingJobs share; for training*.c
 * only.
 *
 *     training.c        submitted and changed
 *     training_build.c  what one is made of
 *     training_list.c   how they stand
 *
 * What is made lives in the call's arena.
 */
#pragma once

#include "api/core/message.h"
#include "api/core/refusal.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/submit/pod_group.h"
#include "berth/api.pb-c.h"
#include "wire/training/training_job.h"

/* One TrainingJob on its way in. */
struct training_incoming {
    struct api_call *call;
    struct training_job job; /* owned */
    char *queue, *job_set;
    struct refusal refusal;
    /* Of each sub-group, its component. */
    enum training_component parts[TRAINING_COMPONENTS];
    struct pod_group group;
};

/* Make the group of its pods: 0, or a code with the refusal. */
int training_group(struct training_incoming *in) must_check;
/* The request by which they are submitted. */
Berth__Submission__Request *training_request(struct training_incoming *in);
/* Give a command that has the jobs the event that makes the object. */
void training_put_event(struct training_incoming *in, struct command *command,
                        int64_t now_ms);
/* A command about the object of that name. */
struct command *training_command(struct api_call *call, enum command_kind kind,
                                 const char *queue, const char *name);
