/*
 * run_file - what executor and shim write for each other, one directory per
 * run:
 *
 *     spec     what to run (executor, once, synced before the shim starts)
 *     lock     locked by the shim for as long as it lives
 *     state    how far it is (shim; replaced whole at each change)
 *     stop     a wish to end, with its grace (executor)
 *     acked    the phase that the server has acknowledged (executor)
 *     done     nothing more is to be told; kept for its logs (executor)
 *     log/N    what container N printed
 *     exec     socket at which the shim lets users in who bring the token
 *     output-gone  why what it left in `output` is gone (executor)
 *     space    link to what the job sees, which is elsewhere:
 *       work/       the directory the containers start in
 *       volumes/N   what is mounted
 *       output/     what is kept after the run, if the job says so
 *       tmp, var-tmp  what it sees as /tmp and /var/tmp
 *
 * spec, state and stop are kv files, with checksums: the reader of a damaged
 * one does not believe it.  A reader passes over keys it does not know.
 *
 * Ownership: a spec or state owns the bytes that its strings point into.
 * Threads: none of it is shared.
 */
#pragma once

#include "base/strbuf.h"
#include "base/vec.h"
#include "executor/files/cgroup.h"

enum {
    RUN_FILE_VERSION = 1,
    RUN_FILE_BYTES_MAX = 8 << 20,
    RUN_CONTAINERS_MAX = 64,
    RUN_ARGS_MAX = 8192, /* arguments or variables of one container */
    RUN_BINDS_MAX = 64,  /* mounts of one container */
    RUN_TEXT_BYTES_MAX = 4096,
};

/* Fixed names in a run's directory. */
#define RUN_SPEC_NAME "spec"
#define RUN_LOCK_NAME "lock"
#define RUN_STATE_NAME "state"
#define RUN_STOP_NAME "stop"
#define RUN_ACKED_NAME "acked"
#define RUN_DONE_NAME "done"
#define RUN_LOG_NAME "log"
#define RUN_EXEC_NAME "exec"
#define RUN_SPACE_NAME "space"
#define RUN_WORK_NAME "work"
#define RUN_VOLUMES_NAME "volumes"
#define RUN_OUTPUT_NAME "output"
#define RUN_OUTPUT_GONE_NAME "output-gone"
#define RUN_TMP_NAME "tmp"
#define RUN_VAR_TMP_NAME "var-tmp"

/* What keeps a pod apart from the machine, each for itself; which of them the
 * machine allows is tried when the executor starts. */
enum run_layer {
    RUN_LAYER_USER = 1 << 0,   /* a user namespace: for who is not root, or root
                                * without the capability to do without */
    RUN_LAYER_MOUNT = 1 << 1,  /* what it sees of the machine's files */
    RUN_LAYER_PID = 1 << 2,    /* its processes; needs MOUNT, for /proc */
    RUN_LAYER_IPC = 1 << 3,    /* shared memory, queues, semaphores */
    RUN_LAYER_FILTER = 1 << 4, /* of system calls; used wherever it is */
    RUN_LAYER_FENCE = 1 << 5,  /* Landlock around the data directory, for who
                                * has no MOUNT */
};

/* When a container runs. */
enum run_container_kind {
    RUN_INIT = 0,    /* one after the other, before the others */
    RUN_SIDECAR = 1, /* started in the order of the init ones, not awaited */
    RUN_MAIN = 2,    /* together; the pod ends when all of them have */
};

/* A directory to show at another path, where we may mount. */
struct run_bind {
    const char *source;
    const char *target;
    bool is_read_only;
};

/* One container of the spec.  `args` and `envs` end with a NULL. */
struct run_container {
    const char *name;
    enum run_container_kind kind;
    VEC(char *) args;
    VEC(char *) envs;
    VEC(struct run_bind) binds;
    const char *work_dir; /* "" is the run's own */
    int64_t uid, gid;     /* -1: as the shim */
    struct cgroup_limits limits;
};

/* What to run. */
struct run_spec {
    struct strbuf bytes;
    const char *run_id;
    const char *job_id, *queue, *job_set, *namespace_, *node, *gang_dir;
    const char *gang_id;     /* "": in no gang, or of an old release */
    const char *space_dir;   /* absolute; "": of an old release, as run */
    const char *hidden_dir;  /* what the job must not see, but for its own */
    const char *pod_name;    /* "": of an old release, by its job */
    const char *notify_path; /* FIFO to tell of changes; "" is none */
    const char *exec_token;  /* lets users in; "": of an old release */
    const char *devices;     /* numbers of its GPUs: "0,3"; "": none */
    int64_t deadline_ms;     /* 0: none */
    int64_t grace_ms;
    int64_t log_byte_count_max;
    int64_t layers;    /* set of enum run_layer */
    int64_t shm_bytes; /* of /dev/shm; 0: half of the machine's memory */
    struct cgroup_layout cgroups;
    VEC(struct run_container) containers;
};

/* Why a run ended as it did. */
enum run_cause {
    RUN_CAUSE_NONE = 0,     /* it succeeded, or has not ended */
    RUN_CAUSE_ERROR = 1,    /* a container failed */
    RUN_CAUSE_OOM = 2,      /* a container was killed for want of memory */
    RUN_CAUSE_DEADLINE = 3, /* it ran longer than it may */
    RUN_CAUSE_STOPPED = 4,  /* it was told to end */
    RUN_CAUSE_LOST = 5,     /* its shim is gone and left no end */
    RUN_CAUSE_START = 6,    /* a container could not be started */
};

/* How far a run is.  The numbers are those of enum reconcile_phase. */
enum run_phase {
    RUN_PENDING = 1,
    RUN_RUNNING = 2,
    RUN_SUCCEEDED = 3,
    RUN_FAILED = 4,
};

/* How one container ended. */
struct run_ended {
    const char *name;
    int64_t exit_code; /* 128 + n when killed by signal n */
    int64_t signal;    /* 0: it exited */
    bool is_oom;
    const char *reason;  /* "Error", "OOMKilled", "StartError" */
    const char *message; /* the last of its standard error */
};

/* How far a run is. */
struct run_state {
    struct strbuf bytes;
    enum run_phase phase;
    enum run_cause cause;
    int64_t pid, pid_start; /* of the shim; field 22 of its /proc stat */
    int64_t created_ms, started_ms, ended_ms; /* 0: not yet */
    VEC(struct run_ended) ended;
};

/* Read a run's spec.  -ERR_NOT_FOUND, -ERR_CORRUPT, -ERR_LIMIT, -ERR_IO. */
int run_spec_read(int dir_fd, struct run_spec *ret_spec,
                  struct err *err) must_check;
/* The same from bytes, which are copied.  -ERR_CORRUPT, -ERR_VERSION. */
int run_spec_decode(struct str bytes, struct run_spec *ret_spec) must_check;
/* Free what the spec owns. */
void run_spec_fini(struct run_spec *spec);

/* Replace the state by this one, synced.  `state->bytes` is not used. */
int run_state_write(int dir_fd, const struct run_state *state,
                    struct err *err) must_check;
/* Read the state.  Errors as run_spec_read(). */
int run_state_read(int dir_fd, struct run_state *ret_state,
                   struct err *err) must_check;
/* The same from bytes, which are copied.  -ERR_CORRUPT, -ERR_VERSION. */
int run_state_decode(struct str bytes, struct run_state *ret_state) must_check;
/* Free what the state owns. */
void run_state_fini(struct run_state *state);

/* When a process started, in ticks since boot, to tell it from another that
 * got its number; 0: there is no such process. */
int64_t run_pid_start(int64_t pid);
