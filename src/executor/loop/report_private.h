/*
 * report_private - what the files of a report share:
 *
 *     report.c        phases, and how pods end
 *     report_facts.c  what is known of pods that live
 *
 * Not for use outside the folder.
 */
#pragma once

#include "executor/loop/report.h"

/* What a report is made of. */
typedef Armadaevents__EventSequence__Event report_event;

/* A struct of a protobuf-c type, in the arena, with its defaults. */
#define NEW(arena, type, init)                                 \
    __extension__({                                            \
        type *new_ = (type *)arena_alloc(arena, sizeof(type)); \
        init(new_);                                            \
        new_;                                                  \
    })

/* A copy of a text, counted. */
char *report_copy(struct report *report, struct str s);
/* The ids as text. */
char *report_job_text(struct report *report, struct job_id job);
/* See above. */
char *report_run_text(struct report *report, struct run_id run);
/* An event of the run, to be filled. */
report_event *report_new_event(struct report *report,
                               const struct report_run *run, int64_t at_ms);
/* The pod that a run became. */
Armadaevents__ObjectMeta *report_pod_meta(struct report *report,
                                          const struct report_run *run);
/* The same as a list of one. */
Armadaevents__KubernetesResourceInfo **
report_pod_infos(struct report *report, const struct report_run *run,
                 bool has_node);
