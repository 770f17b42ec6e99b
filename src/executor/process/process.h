/*
 * process - a runtime whose pods are processes of this machine, each pod under
 * a shim (shim.h) that outlives us.
 *
 *     <data>/lock        one executor per data directory
 *     <data>/runs/<id>/  one run (run_file.h); made once, so started once
 *     <data>/jobs/<id>   link to the job's latest run
 *     <data>/spaces/<r>/ what the job of a run sees; <r> is random
 *     <data>/outputs/<job>/  what a job left in its folder for results
 *     <data>/gangs/<r>/  what the members of a gang on this machine share
 *     <data>/attempts/   jobs whose pods are being made
 *     <data>/trash/      what is being removed, a little at each poll
 *     <data>/notify      FIFO: shims tell of changes
 *     <data>/forgotten   ids of runs that are removed
 *     <data>/time        the time as it was last believed (base/jump.h)
 *
 * A run's directory is made and synced before its shim is started, and a shim
 * starts nothing in a directory that has a state: so a run id starts at most
 * once, whatever crashes.  After a restart the executor adopts live shims; a
 * run whose shim is gone without an end has failed (its cause is LOST).
 *
 * A run whose creation has crashed the executor ATTEMPTS_MAX times (attempt.h)
 * is refused (-ERR_INVALID), and not tried again.
 *
 * docs/guide/process-runtime.md lists what a job may request, and what is
 * ignored.
 *
 * Threads: as runtime.h says.
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"
#include "executor/runtime.h"

enum {
    PROCESS_RUNS_MAX = 65536,
    PROCESS_LOG_BYTES_DEFAULT = 64 << 20,
    PROCESS_PIDS_DEFAULT = 4096,
    PROCESS_KEEP_MS_DEFAULT = 7 * 24 * 3600 * 1000,
    PROCESS_KEEP_COUNT_DEFAULT = 10000,
    PROCESS_FOLDER_MS_DEFAULT = 600 * 1000,
    PROCESS_FOLDER_COUNT_DEFAULT = 1000,
    PROCESS_OUTPUT_COUNT_DEFAULT = 1000,
    PROCESS_FORGOTTEN_MAX = 100000, /* ids that the file keeps */
    PROCESS_USER_DEFAULT = 65534,   /* nobody */
};

/* Storage is not limited, so the node offers what lets a thousand jobs with
 * Armada's default request of 8Gi run. */
#define PROCESS_STORAGE_BYTES ((int64_t)8 << 40)

#define PROCESS_KEEP_BYTES_DEFAULT ((int64_t)10 << 30)
#define PROCESS_OUTPUT_BYTES_DEFAULT ((int64_t)1 << 30)

/* Zero or NULL means the default, but for the users. */
struct process_options {
    const char *data_dir;  /* absolute; made if it is not there */
    const char *shim_path; /* of berth-shim; absolute */
    const struct rng *rng; /* borrowed; makes names that cannot be guessed */
    struct str node_name;  /* "": the host's */
    struct str pool, node_type;
    const struct label *labels; /* beside kubernetes.io/hostname */
    uint32_t label_count;
    const struct taint *taints;
    uint32_t taint_count;
    int64_t cpu_milli, memory_bytes; /* 0: what there is */
    int64_t storage_bytes;           /* 0: as much as is asked for */
    /* What else the node offers: counted, but not given; nvidia.com/gpu: at
     * most as many as are found, if any are. */
    struct resource_list others;
    const char *device_dir; /* of the GPUs' files; NULL or "": none are found */
    int64_t run_as_user, run_as_group; /* when we are root */
    bool allows_root_jobs;
    const struct str *allowed_users; /* accounts of this machine that jobs may
                                      * name, each a name or a number */
    uint32_t allowed_user_count;
    /* Whom no job may run as, since somebody who serves us does; 0: nobody. */
    int64_t reserved_user, reserved_group;
    bool has_no_cgroups;    /* do not even try */
    bool has_no_namespaces; /* the same */
    /* What jobs shall not see; the data directory lies in it.  NULL: that. */
    const char *hidden_dir;
    int64_t log_byte_count_max;
    int64_t pids_max;
    /* Of what has ended: its logs, and the folders that it worked in. */
    int64_t keep_ms, keep_byte_count_max;
    uint32_t keep_count_max;
    int64_t folder_ms;
    int lock_wait_ms; /* how long another executor's lock is waited for */
    uint32_t folder_count_max;
    /* The same of what jobs leave at their outputPath: bytes of one job, and
     * of all together. */
    int64_t output_ms, output_byte_count_max, outputs_byte_count_max;
    uint32_t output_count_max;
};

/* The defaults; data_dir, shim_path and rng are the caller's to set. */
void process_options_default(struct process_options *ret_options);

/* A runtime on `clock` (borrowed).  Options are copied.  `ret_info` says in a
 * sentence or two how limits are kept and what jobs run as.  -ERR_CONFLICT:
 * another executor uses the directory, and it may be tried again; -ERR_INVALID,
 * -ERR_IO. */
int process_open(const struct process_options *options,
                 const struct clock *clock, struct runtime **ret_runtime,
                 struct err *ret_info, struct err *err) must_check;

/* Whether any GPU was found; `runtime` is a process runtime. */
bool process_has_devices(struct runtime *runtime);

/* The log of a job's latest run in `data_dir`, without opening the runtime;
 * any thread, any process that may read it.  As runtime_ops.logs. */
int process_logs(const char *data_dir, const struct runtime_log_query *query,
                 struct strbuf *buf, struct err *err) must_check;

/* The files of its folder, in the same way: what the user who owns the folder
 * may read; a list is cut when by `clock` it takes too long.  As
 * runtime_ops.files. */
int process_files(const char *data_dir, const struct clock *clock,
                  const struct runtime_files_query *query, struct strbuf *buf,
                  struct err *err) must_check;

/* A connection to the shim of its latest run, which was said hello to, in the
 * same way.  As runtime_ops.exec. */
int process_exec(const char *data_dir, struct job_id job, int *ret_fd,
                 struct err *err) must_check;
