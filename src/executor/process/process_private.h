/*
 * process_private - what the files of the process runtime share:
 *
 *     process.c         watch, stop, say: pods that live
 *     process_account.c whom they may run as
 *     process_create.c  how they begin
 *     process_device.c  which GPUs they have
 *     process_space.c   what a job sees of its run, and its removal
 *     process_table.c   the table, what has ended
 *     process_gang.c    what members of a gang share
 *     process_layers.c  what keeps a pod apart
 *     process_open.c    opening and closing
 *     process_adopt.c   pods of a former life
 *     process_node.c    the node
 *     process_logs.c    reading logs
 *     process_output.c  what is kept of ended jobs
 *     process_time.c    whether its age can be believed
 *     process_files.c   reading files
 *     process_exec.c    letting users in
 *
 * Not for use outside the folder.
 */
#pragma once

#include "base/intern.h"
#include "base/jump.h"
#include "base/slots.h"
#include "executor/port/change_queue.h"
#include "executor/port/node_set.h"
#include "executor/process/process.h"
#include "executor/process/process_device.h"
#include "executor/process/process_spec.h"

enum {
    PROCESS_SCAN_MS = 5000,
    PROCESS_TRASH_MS = 10,     /* between two steps of removing */
    PROCESS_MEASURES_MAX = 16, /* outputs that are measured in one step */
    /* Entries of outputs that are looked at in one step; the walk that begins
     * below it is ended. */
    PROCESS_VISITED_MAX = 10000,
    PROCESS_NOTIFY_TAG = -1,
    PROCESS_TEXTS = 7,
    PROCESS_RANDOM_NAME_BYTES = 33,
};

/* A run that has not been forgotten.  Its texts share one allocation. */
struct process_pod {
    struct run_id run;
    struct job_id job;
    char *texts; /* owned */
    struct str queue, job_set, namespace_, node_name, gang_id, gang_dir;
    struct str pod_name;
    enum reconcile_phase phase, acked;
    uint64_t devices; /* its GPUs, a set */
    pid_t pid;        /* of the shim, when pidfd is open or is_child */
    int pidfd;        /* owned; -1: none */
    bool is_child;    /* of this process, so ours to reap */
    bool is_lost;     /* the shim is gone and left no end */
    bool is_stopping; /* it was told to end */
    bool is_used;
};

/* A run that is kept for its logs only. */
struct process_kept {
    struct run_id run;
    struct job_id job;
    int64_t done_ms; /* since the epoch */
    int64_t log_bytes;
    uint32_t queue; /* among `queues` */
};

/* What a job left at its outputPath. */
struct process_output {
    struct run_id run;
    struct job_id job;
    int64_t done_ms; /* since the epoch */
    int64_t byte_count;
    uint32_t queue; /* among `queues`; that of "" if it is not known */
};

struct process {
    struct runtime runtime;
    const struct clock *clock;
    struct process_options options; /* texts copied into the arena */
    struct arena arena;
    char *data_dir, *hidden_dir, *shim_path; /* in the arena */
    struct cgroup_layout cgroups;
    struct process_policy policy;
    struct process_devices devices;
    int lock_fd, data_fd, runs_fd, jobs_fd, spaces_fd, outputs_fd, gangs_fd;
    int trash_fd;
    int attempts_fd;
    int notify_fd, epoll_fd;
    unsigned int discard_count; /* makes names in the trash */
    bool has_trash;
    int64_t next_scan_ms;
    struct jump jump;      /* whether what is kept may expire by its age */
    int64_t time_noted_ms; /* that the file `time` has; 0: none */
    SLOTS(struct process_pod) pods;
    struct map by_id;
    struct change_queue changes;
    VEC(struct process_kept) kept; /* oldest first, from kept_first on */
    size_t kept_first;
    size_t folder_first;     /* those before it have no folders any more */
    int64_t kept_byte_count; /* of logs */
    struct intern queues;    /* of what is kept; none is given back */
    VEC(struct process_output) outputs; /* oldest first, from output_first on */
    size_t output_first;
    uint32_t measured_count;      /* of them, in this step */
    int64_t visited_count;        /* entries of those */
    int64_t output_byte_count;    /* of all of them */
    VEC(struct run_id) forgotten; /* read at opening */
    VEC(pid_t) exiting;           /* children to reap */
    struct node_set *nodes;       /* owned: this machine */
    const char *node_name;        /* in the arena */
};

/* The backend of a port. */
static inline struct process *process_of(struct runtime *runtime)
{
    return container_of(runtime, struct process, runtime);
}

/* Now, for waiting. */
static inline int64_t process_now_ms(const struct process *process)
{
    return (int64_t)(process->clock->mono_ns(process->clock) / 1000000);
}

/* Now, for telling. */
static inline int64_t process_wall_ms(const struct process *process)
{
    return process->clock->wall_ms(process->clock);
}

/* Whether what was done with at `done_ms` is as old as that at `now_ms`, as
 * process_expiry_ms() gives it. */
static inline bool process_is_aged(int64_t now_ms, int64_t done_ms,
                                   int64_t age_ms)
{
    return age_ms <= 0 || (now_ms != INT64_MIN && now_ms - done_ms >= age_ms);
}

/* The directory of a run, opened; the caller closes it; < 0: errno. */
int process_run_dir(const struct process *process, struct run_id run);
/* Whether the run's shim lives. */
bool process_is_locked(const struct process *process, struct run_id run);
/* Kill what is left of a run, as far as it can be found. */
void process_kill_run(struct process *process, struct run_id run);

/* The layers around a pod that this machine allows, a set of enum run_layer.
 * `ret_text` says which, and which are missing. */
int64_t process_probe_layers(struct process *process, struct err *ret_text);
/* This machine as the node that the options describe. */
void process_make_node(struct process *process);
/* Take up the pods of a former life again, and remove what no pod of them
 * needs.  -ERR_IO: what there is cannot be listed. */
int process_adopt(struct process *process, struct err *err) must_check;

/* A new pod.  `texts`: queue, job set, namespace, node, gang, its directory,
 * pod. */
uint32_t process_add(struct process *process, struct run_id run,
                     struct job_id job, const struct str texts[PROCESS_TEXTS]);
/* Take a pod out of the table. */
void process_remove(struct process *process, uint32_t index);
/* The pod is done with: only its directory stays, since `done_ms`. */
void process_keep(struct process *process, uint32_t index, int64_t done_ms);
/* Remove the folders, and later the logs, of what has been kept long enough: as
 * many as may be measured in a step, the others in the next ones. */
void process_expire(struct process *process);

/* Begin to watch the clock: by the time that a former life noted, else by what
 * it has kept. */
void process_time_begin(struct process *process);
/* The time by which what is kept grows old: INT64_MIN, by which nothing does,
 * while the clock is not believed. */
int64_t process_expiry_ms(struct process *process);

/* What a run left in its folder for results is kept from now on, if there is
 * one and it is within the bounds; else its run says why it is gone. */
void process_output_keep(struct process *process,
                         const struct process_kept *kept);
/* Remove what has been kept long enough at `now_ms`. */
void process_outputs_expire(struct process *process, int64_t now_ms);
/* Take up what a former life has kept. */
void process_outputs_adopt(struct process *process);
/* Open what is kept of a job; whoever reads it needs no runtime.  -1: nothing
 * is. */
int process_output_open(const char *data_dir, struct job_id job) must_check;

/* 32 hexadecimal digits that nobody can guess. */
void process_random_name(const struct process *process,
                         char ret_name[PROCESS_RANDOM_NAME_BYTES]);
/* Make the directory of what a run's job sees, which only we may enter until
 * process_spec_build() has filled it and handed it over; its descriptor, to be
 * closed by the caller, or an error.  `ret_dir`: its path. */
int process_space_make(struct process *process, int run_fd, char *ret_dir,
                       struct err *err) must_check;
/* The name of a run's space; false: it has none. */
bool process_space_name(const struct process *process, const char *run_name,
                        char ret_name[PROCESS_RANDOM_NAME_BYTES]);
/* Take a directory away at once, and remove what is in it by and by. */
void process_discard(struct process *process, int dir_fd, const char *name);
/* The same for all of a run. */
void process_discard_run(struct process *process, const char *run_name);
/* The same of what its job could write, alone. */
void process_discard_space(struct process *process, const char *run_name);
/* Remove a little of what was taken away. */
void process_empty_trash(struct process *process);
/* Take away the spaces of no run. */
void process_sweep_spaces(struct process *process);

/* Make or find the gang's directory and a place in it.  A job that is in no
 * gang gets "" and -1. */
int process_gang_join(struct process *process, const struct runtime_run *run,
                      char *ret_dir, int *ret_index,
                      struct err *err) must_check;
/* A member is gone; the last one takes the directory with it. */
void process_gang_leave(struct process *process, const char *dir,
                        struct run_id run);

/* Watch a shim for its end. */
void process_watch(struct process *process, uint32_t index, pid_t pid,
                   bool is_child);
/* Watch it no more. */
void process_unwatch(struct process *process, struct process_pod *pod);
/* Look at a pod's state and note what has changed. */
void process_refresh(struct process *process, uint32_t index);
/* The directory of a job's latest run; whoever reads it needs no runtime.
 * -ERR_NOT_FOUND: there are no `what` of it. */
int process_open_job(const char *data_dir, struct job_id job, const char *what,
                     struct err *err) must_check;
/* Start the shim of a run that is written and synced. */
int process_start(struct process *process, uint32_t index, int run_fd,
                  struct err *err) must_check;

/* The functions of runtime_ops: as runtime_ops.create. */
void process_create(struct runtime *runtime, const struct runtime_run *run);
/* As runtime_ops.stop. */
void process_stop(struct runtime *runtime, struct run_id run, int64_t grace_ms);
/* As runtime_ops.ack. */
void process_ack(struct runtime *runtime, struct run_id run,
                 enum reconcile_phase phase);
/* As runtime_ops.forget. */
void process_forget(struct runtime *runtime, struct run_id run);
/* As runtime_ops.poll. */
uint32_t process_poll(struct runtime *runtime,
                      struct runtime_change *ret_changes, uint32_t change_max);
/* As runtime_ops.next_wake_ms. */
int64_t process_next_wake_ms(struct runtime *runtime);
/* As runtime_ops.status. */
bool process_status(struct runtime *runtime, struct run_id run,
                    struct arena *arena, struct runtime_status *ret_status);
