#include "executor/process/process_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/kv.h"
#include "executor/shim/shim.h"
#include "wire/kube/expand.h"

typedef K8s__Io__Api__Core__V1__Container container_t;
typedef K8s__Io__Api__Core__V1__PodSpec pod_t;

enum {
    GRACE_S_DEFAULT = 30,
};

const char *process_annotation(const struct runtime_run *run, const char *key)
{
    const Armadaevents__ObjectMeta *meta = run->submit->objectmeta;

    for (size_t i = 0; meta && i < meta->n_annotations; i++) {
        if (strcmp(meta->annotations[i]->key, key) == 0) {
            return meta->annotations[i]->value;
        }
    }
    return NULL;
}

struct str process_gang_id(const struct runtime_run *run)
{
    return str_of(process_annotation(run, "armadaproject.io/gangId"));
}

static const pod_t *pod_of(const struct runtime_run *run)
{
    const Armadaevents__KubernetesMainObject *main = run->submit->mainobject;

    return main && main->object_case ==
                       ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC
               ? main->pod_spec->pod_spec
               : NULL;
}

/* Warnings. */

static void warn_container(struct process_job *job,
                           const container_t *container)
{
    const K8s__Io__Api__Core__V1__SecurityContext *security =
        container->securitycontext;
    const char *name = process_or_empty(container->name);
    const struct {
        bool is_there;
        const char *what;
    } all[] = {
        {container->livenessprobe || container->readinessprobe ||
             container->startupprobe,
         "probes are not run"},
        {container->lifecycle != NULL, "lifecycle hooks are not run"},
        {container->stdin || container->tty,
         "there is no standard input and no terminal"},
        {container->n_volumedevices > 0, "volume devices are not supported"},
        {security && security->privileged, "the container is not privileged"},
        {security && security->capabilities &&
             security->capabilities->n_add > 0,
         "capabilities are not added"},
        {security && security->readonlyrootfilesystem,
         "the root file system is that of this machine"},
        {security && (security->seccompprofile || security->apparmorprofile ||
                      security->selinuxoptions),
         "security profiles are not applied"},
    };

    if (*process_or_empty(container->image)) {
        strbuf_addf(job->warnings,
                    "container %s: image %s is not used; the container runs "
                    "with the programs of this machine\n",
                    name, container->image);
    }
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i].is_there) {
            strbuf_addf(job->warnings, "container %s: %s\n", name, all[i].what);
        }
    }
}

static void warn_pod(struct process_job *job)
{
    const pod_t *pod = job->pod;
    const K8s__Io__Api__Core__V1__PodSecurityContext *security =
        pod->securitycontext;
    const struct {
        bool is_there;
        const char *what;
    } all[] = {
        {pod->hostnetwork,
         "hostNetwork: processes always share the network of this machine"},
        {pod->hostpid || pod->hostipc,
         "hostPID, hostIPC: the pod has its own where this machine allows"},
        {pod->n_hostaliases > 0, "hostAliases are not set"},
        {pod->dnsconfig != NULL, "dnsConfig is not applied"},
        {*process_or_empty(pod->runtimeclassname) != '\0',
         "runtimeClassName is not used"},
        {*process_or_empty(pod->serviceaccountname) != '\0',
         "service accounts are not supported"},
        {security && security->n_supplementalgroups > 0,
         "supplementalGroups are not joined"},
        {security && security->n_sysctls > 0, "sysctls are not set"},
        {pod->n_ephemeralcontainers > 0, "ephemeral containers are not run"},
        {pod->n_resourceclaims > 0, "resource claims are not honoured"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i].is_there) {
            strbuf_addf(job->warnings, "%s\n", all[i].what);
        }
    }
    for (size_t i = 0; i < job->run->submit->n_objects; i++) {
        Armadaevents__KubernetesObject__ObjectCase kind =
            job->run->submit->objects[i]->object_case;
        if (kind == ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE ||
            kind == ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS) {
            strbuf_addf(job->warnings,
                        "services and ingresses are not created\n");
        }
    }
}

/* A job that brings objects needs them. */
static int refuse_objects(const struct process_job *job, struct err *err)
{
    const Armadaevents__SubmitJob *submit = job->run->submit;

    for (size_t i = 0; i < submit->n_objects; i++) {
        if (submit->objects[i]->object_case ==
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST) {
            return err_set(err, -ERR_INVALID,
                           "objects of kind %s are not made by the runtime "
                           "process, which has config maps alone",
                           submit->objects[i]->manifest->kind);
        }
    }
    return 0;
}

/* Containers. */

static int add_args(struct process_job *job, const container_t *container,
                    const struct process_variables *variables,
                    struct strbuf *spec, struct err *err)
{
    size_t count = container->n_command + container->n_args;

    if (count == 0) {
        return err_set(err, -ERR_INVALID,
                       "container %s has neither command nor args, and the "
                       "runtime process uses no image",
                       process_or_empty(container->name));
    }
    if (count > RUN_ARGS_MAX - 1 || variables->count > RUN_ARGS_MAX - 1) {
        return err_set(err, -ERR_INVALID,
                       "container %s has more than %d arguments or variables",
                       process_or_empty(container->name), RUN_ARGS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = i < container->n_command
                               ? container->command[i]
                               : container->args[i - container->n_command];
        int rc =
            process_expand(job, variables, process_or_empty(text), &text, err);
        if (rc < 0) {
            return rc;
        }
        kv_add_text(spec, "arg", text);
    }
    for (uint32_t i = 0; i < variables->count; i++) {
        auto_strbuf pair = strbuf_make(EXPAND_VALUE_BYTES_MAX * 2);
        strbuf_addf(&pair, "%s=%s", variables->items[i].name,
                    variables->items[i].value);
        kv_add(spec, "env", strbuf_str(&pair));
    }
    return 0;
}

static void add_limits(const struct process_job *job,
                       const container_t *container, struct strbuf *spec)
{
    int64_t memory_milli = process_amount(container, "memory", true);
    int64_t cpu_milli = process_amount(container, "cpu", true);
    int64_t request_milli = process_amount(container, "cpu", false);
    int64_t storage_milli =
        process_amount(container, "ephemeral-storage", true);

    if (memory_milli > 0) {
        kv_add_int(spec, "memory_bytes", memory_milli / 1000);
    }
    if (cpu_milli > 0) {
        kv_add_int(spec, "cpu_milli", cpu_milli);
    }
    if (request_milli > 0) {
        kv_add_int(spec, "cpu_request_milli", request_milli);
    }
    if (storage_milli > 0) {
        kv_add_int(spec, "file_bytes", storage_milli / 1000);
    }
    kv_add_int(spec, "pids_max", job->policy->pids_max);
}

static int add_container(struct process_job *job, const container_t *container,
                         enum run_container_kind kind, struct strbuf *spec,
                         struct err *err)
{
    struct process_variables *variables =
        arena_alloc(job->arena, sizeof(*variables));
    int64_t uid, gid;

    int rc = process_find_user(job, container, &uid, &gid, err);
    if (rc == 0) {
        rc = process_env_build(job, container, variables, err);
    }
    if (rc == 0) {
        rc = process_devices_show(job, container, kind, variables, err);
    }
    if (rc < 0) {
        return rc;
    }
    kv_add_text(spec, "container", process_or_empty(container->name));
    kv_add_int(spec, "kind", kind);
    kv_add_int(spec, "uid", uid);
    kv_add_int(spec, "gid", gid);
    kv_add_text(spec, "work_dir", process_or_empty(container->workingdir));
    add_limits(job, container, spec);
    rc = process_volumes_mount(job, container, spec, variables, err);
    rc = rc < 0 ? rc
                : process_output_mount(job, container, spec, variables, err);
    if (rc == 0) {
        rc = add_args(job, container, variables, spec, err);
    }
    warn_container(job, container);
    return rc;
}

bool process_is_sidecar(const container_t *container)
{
    return strcmp(process_or_empty(container->restartpolicy), "Always") == 0;
}

static int add_containers(struct process_job *job, struct strbuf *spec,
                          struct err *err)
{
    const pod_t *pod = job->pod;
    int rc = 0;

    if (pod->n_containers == 0 ||
        pod->n_containers + pod->n_initcontainers > RUN_CONTAINERS_MAX) {
        return err_set(
            err, -ERR_INVALID, "a pod has 1 to %d containers, this one has %zu",
            RUN_CONTAINERS_MAX, pod->n_containers + pod->n_initcontainers);
    }
    for (size_t i = 0; rc == 0 && i < pod->n_initcontainers; i++) {
        const container_t *container = pod->initcontainers[i];
        rc = add_container(
            job, container,
            process_is_sidecar(container) ? RUN_SIDECAR : RUN_INIT, spec, err);
    }
    for (size_t i = 0; rc == 0 && i < pod->n_containers; i++) {
        rc = add_container(job, pod->containers[i], RUN_MAIN, spec, err);
    }
    return rc;
}

/* The whole. */

/* What its containers may have of memory together; 0: one has no limit. */
static int64_t shm_bytes(const pod_t *pod)
{
    int64_t sum = 0;

    for (size_t i = 0; i < pod->n_containers; i++) {
        int64_t milli = process_amount(pod->containers[i], "memory", true);
        if (milli <= 0 || milli / 1000 > INT64_MAX - sum) {
            return 0;
        }
        sum += milli / 1000;
    }
    return sum;
}

static void add_head(const struct process_job *job, struct strbuf *spec)
{
    static const char *const cgroup_keys[CGROUP_CONTROLLERS] = {
        "cgroup_memory", "cgroup_cpu", "cgroup_pids", "cgroup_freezer"};
    const struct process_policy *policy = job->policy;
    const struct runtime_run *run = job->run;
    char text[ID_TEXT_BYTES_MAX];
    int64_t grace_s = job->pod->has_terminationgraceperiodseconds
                          ? job->pod->terminationgraceperiodseconds
                          : GRACE_S_DEFAULT;

    kv_add_int(spec, "berth_spec", RUN_FILE_VERSION);
    kv_promise_seal(spec);
    kv_add_text(spec, "run_id", run_id_format(run->run, text));
    kv_add_text(spec, "job_id", job_id_format(run->job, text));
    kv_add(spec, "queue", run->queue);
    kv_add(spec, "job_set", run->job_set);
    kv_add(spec, "namespace", run->namespace_);
    kv_add(spec, "node", run->node_name);
    kv_add_text(spec, "gang_dir", job->place->gang_dir);
    kv_add(spec, "gang_id", process_gang_id(run));
    kv_add(spec, "pod", run->pod_name);
    kv_add_text(spec, "space", job->place->space_dir);
    kv_add_text(spec, "hidden", policy->hidden_dir);
    kv_add_text(spec, "notify", policy->notify_path);
    kv_add_text(spec, "exec_token", process_or_empty(job->place->exec_token));
    if (job->devices) {
        auto_strbuf devices = {0};
        process_devices_print(job->place->devices, job->devices, 0,
                              PROCESS_DEVICES_MAX, &devices);
        kv_add_text(spec, "devices", strbuf_text(&devices));
    }
    kv_add_int(spec, "layers", policy->layers);
    kv_add_int(spec, "shm_bytes", shm_bytes(job->pod));
    if (job->pod->has_activedeadlineseconds &&
        job->pod->activedeadlineseconds > 0) {
        int64_t seconds = job->pod->activedeadlineseconds;
        kv_add_int(spec, "deadline_ms",
                   seconds > INT64_MAX / 4000 ? INT64_MAX / 4 : seconds * 1000);
    }
    kv_add_int(spec, "grace_ms",
               grace_s < 0                          ? 0
               : grace_s > SHIM_GRACE_MS_MAX / 1000 ? SHIM_GRACE_MS_MAX
                                                    : grace_s * 1000);
    kv_add_int(spec, "log_byte_count_max", policy->log_byte_count_max);
    kv_add_int(spec, "cgroup_kind", policy->cgroups->kind);
    kv_add_int(spec, "cgroup_missing", policy->cgroups->missing);
    for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
        kv_add_text(spec, cgroup_keys[c], policy->cgroups->parents[c]);
    }
}

/* Who owns what is made: the user of the containers.  Where they have several,
 * each may write everything in the pod's volumes, and the work directory is
 * the first one's. */
static int find_owner(struct process_job *job, struct err *err)
{
    const pod_t *pod = job->pod;
    int rc =
        process_find_user(job, pod->containers[0], &job->uid, &job->gid, err);

    job->dir_mode = 0700;
    for (size_t i = 0; rc == 0 && i < pod->n_containers + pod->n_initcontainers;
         i++) {
        const container_t *container =
            i < pod->n_containers ? pod->containers[i]
                                  : pod->initcontainers[i - pod->n_containers];
        int64_t uid, gid;
        rc = process_find_user(job, container, &uid, &gid, err);
        job->dir_mode = uid == job->uid ? job->dir_mode : 0777;
    }
    return rc;
}

/* What the pod sees as /tmp or /var/tmp: its user's, or that of all of its
 * users, as usual there. */
static int make_temporary(struct process_job *job, const char *name,
                          struct err *err)
{
    int fd =
        process_make_dirs(job, job->place->space_fd, name, strlen(name), err);

    if (fd < 0) {
        return fd;
    }
    int rc = fchmod(fd, job->dir_mode | S_ISVTX) < 0
                 ? err_set(err, -ERR_IO, "make %s: %s", name, strerror(errno))
                 : 0;
    close(fd);
    return rc;
}

/* The gang's directory stays ours, so that no member undoes another's files;
 * the first member opens it to its group, one of another group to all. */
static int open_gang(const struct process_job *job, struct err *err)
{
    const char *path = job->place->gang_dir;
    struct stat st;

    if (!*path || job->uid < 0) {
        return 0;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_good = fd >= 0 && fstat(fd, &st) == 0;
    if (is_good && (st.st_mode & 0777) == 0700 && job->dir_mode == 0700) {
        is_good = fchown(fd, (uid_t)-1, (gid_t)job->gid) == 0 &&
                  fchmod(fd, 01770) == 0;
    } else if (is_good && (job->dir_mode != 0700 || st.st_gid != job->gid)) {
        is_good = fchmod(fd, 01777) == 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_good ? 0
                   : err_set(err, -ERR_IO, "open the gang's directory: %s",
                             strerror(errno));
}

static int make_dirs(struct process_job *job, struct err *err)
{
    int fd = job->place->space_fd;

    int rc = find_owner(job, err);
    if (rc < 0) {
        return rc;
    }
    if (mkdirat(job->place->run_dir_fd, RUN_LOG_NAME, 0700) < 0 ||
        mkdirat(fd, RUN_WORK_NAME, 0700) < 0 ||
        mkdirat(fd, RUN_VOLUMES_NAME, 0711) < 0) {
        return err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                       "make the run's directories: %s", strerror(errno));
    }
    if (job->uid >= 0 && fchownat(fd, RUN_WORK_NAME, (uid_t)job->uid,
                                  (gid_t)job->gid, AT_SYMLINK_NOFOLLOW) < 0) {
        return err_set(err, -ERR_IO, "hand over the work directory: %s",
                       strerror(errno));
    }
    rc = open_gang(job, err);
    rc = rc < 0 ? rc : make_temporary(job, RUN_TMP_NAME, err);
    return rc < 0 ? rc : make_temporary(job, RUN_VAR_TMP_NAME, err);
}

/* From here on the job may enter, and nothing of ours goes in by itself. */
static int open_space(const struct process_job *job, struct err *err)
{
    return fchmod(job->place->space_fd, 0711) < 0
               ? err_set(err, -ERR_IO, "open the run's directories: %s",
                         strerror(errno))
               : 0;
}

int process_spec_build(const struct process_policy *policy,
                       const struct process_place *place,
                       const struct runtime_run *run, struct strbuf *spec,
                       struct strbuf *warnings, uint64_t *ret_devices,
                       struct err *err)
{
    auto_arena arena = {0};
    struct process_job *job = arena_alloc(&arena, sizeof(*job));

    job->policy = policy;
    job->place = place;
    job->run = run;
    job->pod = pod_of(run);
    job->arena = &arena;
    job->warnings = warnings;
    if (!job->pod || job->pod->n_containers == 0) {
        return err_set(err, -ERR_INVALID, "the job has no containers");
    }
    int rc = refuse_objects(job, err);
    if (rc < 0) {
        return rc;
    }
    rc = process_devices_reserve(job, err);
    *ret_devices = job->devices;
    rc = rc < 0 ? rc : make_dirs(job, err);
    if (rc == 0) {
        rc = process_volumes_make(job, err);
    }
    rc = rc < 0 ? rc : process_output_make(job, err);
    rc = rc < 0 ? rc : process_input_make(job, err);
    if (rc < 0) {
        return rc;
    }
    add_head(job, spec);
    rc = add_containers(job, spec, err);
    kv_seal(spec);
    warn_pod(job);
    if (rc == 0 && spec->is_over) {
        rc = err_set(err, -ERR_INVALID,
                     "the job's spec is too large for the runtime process");
    }
    return rc == 0 ? open_space(job, err) : rc;
}
