/*
 * process_spec - makes the shim's instructions from a leased job: programs,
 * arguments, environment, user, limits and directories.
 *
 * Parts that a process does not need (an image, probes, ports) give a warning.
 * Parts without which the job would run wrongly (a secret that it mounts, a
 * user that we may not become) are refused with -ERR_INVALID.
 *
 * Threads: no state.
 */
#pragma once

#include "executor/files/run_file.h"
#include "executor/process/process_device.h"
#include "executor/runtime.h"

enum {
    PROCESS_VOLUMES_MAX = 64,
    PROCESS_VARIABLES_MAX = 2048,
    PROCESS_PATH_BYTES_MAX = 1024,
    PROCESS_ENTRIES_MAX = 1024, /* files and folders that are made for a pod,
                                   while nothing else is done */
};

/* What this executor lets jobs do. */
struct process_policy {
    int64_t run_as_user, run_as_group; /* when the job names none */
    bool allows_root_jobs;
    const struct str *allowed_users; /* accounts, by name or number */
    uint32_t allowed_user_count;
    int64_t reserved_user, reserved_group; /* whom no job may be; 0: nobody */
    bool is_root;           /* we may become other users, and mount */
    int64_t layers;         /* around a pod: a set of enum run_layer */
    const char *hidden_dir; /* what jobs do not see, where that can be */
    int64_t log_byte_count_max;
    int64_t pids_max;
    const char *notify_path;
    const struct cgroup_layout *cgroups;
};

/* Where the run lives. */
struct process_place {
    int run_dir_fd;
    const char *space_dir;  /* of what the job sees; absolute */
    int space_fd;           /* of the same, which only we may enter yet */
    const char *gang_dir;   /* "": not in a gang */
    const char *exec_token; /* lets users in (run_file.h) */
    int gang_index;         /* of this member; -1: unknown */
    const struct process_devices *devices; /* of the machine */
    uint64_t used_devices;                 /* that other pods have */
};

/* One volume of the pod. */
struct process_volume {
    const K8s__Io__Api__Core__V1__Volume *volume;
    char path[PROCESS_PATH_BYTES_MAX]; /* "": cannot be given */
    bool is_read_only;
};

/* One variable; both texts live in the arena. */
struct process_variable {
    const char *name, *value;
};

/* The environment of one container. */
struct process_variables {
    struct process_variable items[PROCESS_VARIABLES_MAX];
    uint32_t count;
};

/* All that the parts of the translation need. */
struct process_job {
    const struct process_policy *policy;
    const struct process_place *place;
    const struct runtime_run *run;
    const K8s__Io__Api__Core__V1__PodSpec *pod;
    struct arena *arena;
    struct strbuf *warnings;
    struct process_volume volumes[PROCESS_VOLUMES_MAX];
    uint32_t volume_count;
    int64_t uid, gid;        /* that own what is made for the pod; -1: ours */
    uint64_t devices;        /* that the pod has, a set */
    uint32_t device_count;   /* of them: given to the main containers so far */
    const char *output_path; /* where it leaves its results; NULL */
    size_t expanded_byte_count; /* of its arguments and variables so far */
    uint32_t entry_count;       /* files and directories made so far */
    mode_t dir_mode; /* 0700; 0777 when containers run as several users */
};

/* Make the directories of the run, hand over to its user what the job sees,
 * and append its spec to `spec`.  `ret_devices`: the GPUs that the pod gets.
 * -ERR_INVALID: refused; -ERR_IO, -ERR_FULL, -ERR_LIMIT; -ERR_UNAVAILABLE: too
 * few GPUs are free. */
int process_spec_build(const struct process_policy *policy,
                       const struct process_place *place,
                       const struct runtime_run *run, struct strbuf *spec,
                       struct strbuf *warnings, uint64_t *ret_devices,
                       struct err *err) must_check;

/* The gang that a job says it is in: its id, or "". */
struct str process_gang_id(const struct runtime_run *run);
/* An annotation of the job, or NULL. */
const char *process_annotation(const struct runtime_run *run, const char *key);

/* A text of a message, which may be missing. */
static inline const char *process_or_empty(const char *text)
{
    return text ? text : "";
}

/* Whom a container runs as; -1: as we do (process_account.c).  -ERR_INVALID:
 * whom it may not run as. */
int process_find_user(const struct process_job *job,
                      const K8s__Io__Api__Core__V1__Container *container,
                      int64_t *ret_uid, int64_t *ret_gid,
                      struct err *err) must_check;
/* Make the directories of the pod's volumes (process_volume.c). */
int process_volumes_make(struct process_job *job, struct err *err) must_check;
/* Whether a path stays below the directory that it begins at, and has nothing
 * odd in it. */
bool process_is_inside(const char *path);
/* Make the directories of the first `byte_count` bytes of such a path, each by
 * itself and through no link; the new ones become the job's.  The descriptor of
 * the last, for the caller to close, or an error. */
int process_make_dirs(struct process_job *job, int dir_fd, const char *path,
                      size_t byte_count, struct err *err) must_check;
/* Count a file or directory that is made for the pod.  -ERR_INVALID: there are
 * PROCESS_ENTRIES_MAX. */
int process_count_entry(struct process_job *job, struct err *err) must_check;
/* Give a directory to the job's user. */
int process_hand_over(const struct process_job *job, int fd,
                      struct err *err) must_check;
/* Append the binds of a container's mounts, and say in the environment where
 * each volume is (process_mount.c). */
int process_volumes_mount(struct process_job *job,
                          const K8s__Io__Api__Core__V1__Container *container,
                          struct strbuf *spec,
                          struct process_variables *variables,
                          struct err *err) must_check;
/* Whether something can be mounted at a path. */
bool process_is_mount_path(const char *path) must_check;
/* Write the files that the job brings (process_input.c).  -ERR_INVALID,
 * -ERR_FULL, -ERR_IO. */
int process_input_make(struct process_job *job, struct err *err) must_check;
/* The folder whose files are kept after the job (process_output.c): make it,
 * if the job has one.  -ERR_INVALID, -ERR_IO. */
int process_output_make(struct process_job *job, struct err *err) must_check;
/* The same as process_volumes_mount() for it (process_mount.c). */
int process_output_mount(struct process_job *job,
                         const K8s__Io__Api__Core__V1__Container *container,
                         struct strbuf *spec,
                         struct process_variables *variables,
                         struct err *err) must_check;
/* Whether an init container goes on beside the main ones. */
bool process_is_sidecar(const K8s__Io__Api__Core__V1__Container *container);
/* Choose the pod's GPUs (process_device.c); on a machine without any it gets
 * none, and a warning.  -ERR_UNAVAILABLE: too few are free. */
int process_devices_reserve(struct process_job *job,
                            struct err *err) must_check;
/* Say in the environment which of them are the container's, whatever the job
 * says itself. */
int process_devices_show(struct process_job *job,
                         const K8s__Io__Api__Core__V1__Container *container,
                         enum run_container_kind kind,
                         struct process_variables *variables,
                         struct err *err) must_check;
/* The inline config map `name` of the job, or NULL. */
const K8s__Io__Api__Core__V1__ConfigMap *
process_config_map(const struct process_job *job, const char *name);

/* Set a variable, replacing one of that name (process_env.c). */
int process_variable_set(struct process_job *job,
                         struct process_variables *variables, const char *name,
                         const char *value, struct err *err) must_check;
/* The variables that each container gets, and then its own. */
int process_env_build(struct process_job *job,
                      const K8s__Io__Api__Core__V1__Container *container,
                      struct process_variables *variables,
                      struct err *err) must_check;
/* Replace each $(NAME) of a known variable, $$ by $; in the arena.
 * -ERR_INVALID when it, or all of the pod, gets too long. */
int process_expand(struct process_job *job,
                   const struct process_variables *variables, const char *text,
                   const char **ret_text, struct err *err) must_check;
/* An amount of a container's limits or requests in milli units; -1: none. */
int64_t process_amount(const K8s__Io__Api__Core__V1__Container *container,
                       const char *name, bool is_limit);
