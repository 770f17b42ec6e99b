/* Mounts a pod's volumes in its containers. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/process/process_as.h"
#include "executor/process/process_spec.h"

enum { NAME_BYTES_MAX = 256 };

/* stat() as a user of jobs. */
static int stat_as(const char *path, int64_t uid, int64_t gid,
                   struct stat *ret_stat)
{
    struct process_as as;

    if (process_as_begin(&as, uid, gid) < 0) {
        return -1;
    }
    int rc = stat(path, ret_stat);
    process_as_end(&as);
    return rc;
}

/* Whether `source` can be shown at `target`, as far as the container's user
 * sees: both are files or directories, or the shim makes the target. */
static bool can_bind(struct process_job *job,
                     const K8s__Io__Api__Core__V1__Container *container,
                     const char *source, const char *target)
{
    struct stat from, to;
    int64_t uid, gid;
    struct err err;

    if (stat(source, &from) < 0 ||
        process_find_user(job, container, &uid, &gid, &err) < 0) {
        return false;
    }
    if (stat_as(target, uid, gid, &to) < 0) {
        return true;
    }
    return S_ISDIR(from.st_mode) == S_ISDIR(to.st_mode);
}

/* BERTH_VOLUME_<NAME>, in capitals, with anything odd as an underscore. */
static void variable_name(const char *volume, char *ret_name, size_t capacity)
{
    int n = snprintf(ret_name, capacity, "BERTH_VOLUME_%s", volume);

    ASSERT(n > 0);
    for (char *p = ret_name; *p; p++) {
        *p =
            isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
    }
}

/* Make a sub-path, which nobody but us can have touched yet. */
static int make_sub_path(struct process_job *job,
                         const struct process_volume *volume, const char *sub,
                         struct err *err)
{
    const char *inside = volume->path + strlen(job->place->space_dir) + 1;
    int volume_fd =
        file_open_below(job->place->space_fd, inside, O_RDONLY | O_DIRECTORY);

    if (volume_fd < 0) {
        return err_set(err, -ERR_IO, "open a volume: %s", strerror(errno));
    }
    int fd = process_make_dirs(job, volume_fd, sub, strlen(sub), err);
    close(volume_fd);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? fd : 0;
}

static int source_of(struct process_job *job,
                     const struct process_volume *volume,
                     const K8s__Io__Api__Core__V1__VolumeMount *mount,
                     char *ret_source, struct err *err)
{
    const char *sub = process_or_empty(mount->subpath);

    if (mount->subpathexpr && *mount->subpathexpr) {
        return err_set(err, -ERR_INVALID, "subPathExpr is not supported");
    }
    if (!*sub) {
        snprintf(ret_source, PROCESS_PATH_BYTES_MAX, "%s", volume->path);
        return 0;
    }
    if (!process_is_inside(sub)) {
        return err_set(err, -ERR_INVALID,
                       "subPath \"%.200s\" leads outside its volume", sub);
    }
    snprintf(ret_source, PROCESS_PATH_BYTES_MAX, "%.700s/%.250s", volume->path,
             sub);
    return volume->is_read_only ? 0 : make_sub_path(job, volume, sub, err);
}

static bool mentions(char *const *texts, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(process_or_empty(texts[i]), word)) {
            return true;
        }
    }
    return false;
}

/* Whether a container looks for the volume where its variable says. */
static bool knows_variable(const K8s__Io__Api__Core__V1__Container *container,
                           const char *name)
{
    for (size_t i = 0; i < container->n_env; i++) {
        if (strstr(process_or_empty(container->env[i]->value), name)) {
            return true;
        }
    }
    return mentions(container->command, container->n_command, name) ||
           mentions(container->args, container->n_args, name);
}

/* What is shown where in a container. */
struct showing {
    const char *what, *field; /* "volume v", "mountPath" */
    const char *target, *source;
    const char *variable; /* that names the source */
    bool is_read_only;
};

/* A container that would look for the volume at a path where it is not fails
 * by a message of its own, far from the cause. */
static int miss_mount(struct process_job *job,
                      const K8s__Io__Api__Core__V1__Container *container,
                      const struct showing *showing, struct err *err)
{
    bool can_mount = (job->policy->layers & RUN_LAYER_MOUNT) != 0;

    if (!knows_variable(container, showing->variable)) {
        return err_set(err, -ERR_INVALID,
                       "container %s: %s cannot be mounted at %s %.200s: %s; "
                       "the command may use $%s instead",
                       process_or_empty(container->name), showing->what,
                       showing->field, showing->target,
                       can_mount ? "only one of them is a directory"
                                 : "this machine allows no mounts",
                       showing->variable);
    }
    strbuf_addf(job->warnings,
                "%s cannot be mounted at %s; its directory is in $%s\n",
                showing->what, showing->target, showing->variable);
    return 0;
}

/* Not at the root, which a process that runs already does not leave. */
bool process_is_mount_path(const char *path)
{
    bool has_part = false;

    if (*path != '/' || strchr(path, ':') ||
        strlen(path) >= PROCESS_PATH_BYTES_MAX) {
        return false;
    }
    while (*path) {
        path += strspn(path, "/");
        size_t byte_count = strcspn(path, "/");
        if (byte_count == 2 && memcmp(path, "..", 2) == 0) {
            return false;
        }
        has_part |= byte_count > 1 || (byte_count == 1 && *path != '.');
        path += byte_count;
    }
    return has_part;
}

/* Say in the environment where something is, and mount it if that can be. */
static int show(struct process_job *job,
                const K8s__Io__Api__Core__V1__Container *container,
                const struct showing *showing, struct strbuf *spec,
                struct process_variables *variables, struct err *err)
{
    int rc = process_variable_set(job, variables, showing->variable,
                                  showing->source, err);

    if (rc < 0) {
        return rc;
    }
    if ((job->policy->layers & RUN_LAYER_MOUNT) &&
        can_bind(job, container, showing->source, showing->target)) {
        auto_strbuf bind = strbuf_make(2 * PROCESS_PATH_BYTES_MAX + 4);
        strbuf_addf(&bind, "%c%s:%s", showing->is_read_only ? 'r' : 'w',
                    showing->target, showing->source);
        kv_add(spec, "bind", strbuf_str(&bind));
        return 0;
    }
    return miss_mount(job, container, showing, err);
}

static int add_mount(struct process_job *job,
                     const K8s__Io__Api__Core__V1__Container *container,
                     const struct process_volume *volume,
                     const K8s__Io__Api__Core__V1__VolumeMount *mount,
                     struct strbuf *spec, struct process_variables *variables,
                     struct err *err)
{
    const char *target = process_or_empty(mount->mountpath);
    char source[PROCESS_PATH_BYTES_MAX];
    char variable[NAME_BYTES_MAX], what[NAME_BYTES_MAX];

    if (!process_is_mount_path(target)) {
        return err_set(err, -ERR_INVALID,
                       "mountPath \"%.200s\" must be an absolute path below "
                       "/, without .. and colons, of less than %d bytes",
                       target, PROCESS_PATH_BYTES_MAX);
    }
    int rc = source_of(job, volume, mount, source, err);
    if (rc < 0) {
        return rc;
    }
    variable_name(process_or_empty(mount->name), variable, sizeof(variable));
    (void)snprintf(what, sizeof(what), "volume %s",
                   process_or_empty(mount->name));
    return show(job, container,
                &(struct showing){
                    .what = what,
                    .field = "mountPath",
                    .target = target,
                    .source = source,
                    .variable = variable,
                    .is_read_only = volume->is_read_only || mount->readonly,
                },
                spec, variables, err);
}

int process_output_mount(struct process_job *job,
                         const K8s__Io__Api__Core__V1__Container *container,
                         struct strbuf *spec,
                         struct process_variables *variables, struct err *err)
{
    char source[PROCESS_PATH_BYTES_MAX];

    if (!job->output_path) {
        return 0;
    }
    (void)snprintf(source, sizeof(source), "%.900s/%s", job->place->space_dir,
                   RUN_OUTPUT_NAME);
    return show(job, container,
                &(struct showing){
                    .what = "the job's folder for results",
                    .field = "outputPath",
                    .target = job->output_path,
                    .source = source,
                    .variable = "BERTH_OUTPUT_DIR",
                },
                spec, variables, err);
}

int process_volumes_mount(struct process_job *job,
                          const K8s__Io__Api__Core__V1__Container *container,
                          struct strbuf *spec,
                          struct process_variables *variables, struct err *err)
{
    size_t bind_count = container->n_volumemounts + (job->output_path != NULL);

    if (bind_count > RUN_BINDS_MAX) {
        return err_set(err, -ERR_INVALID, "more than %d mounts", RUN_BINDS_MAX);
    }
    for (size_t m = 0; m < container->n_volumemounts; m++) {
        const char *name = process_or_empty(container->volumemounts[m]->name);
        const struct process_volume *found = NULL;
        for (uint32_t v = 0; v < job->volume_count; v++) {
            if (strcmp(process_or_empty(job->volumes[v].volume->name), name) ==
                0) {
                found = &job->volumes[v];
            }
        }
        if (!found) {
            return err_set(
                err, -ERR_INVALID,
                "container %s mounts \"%s\", which is not a volume of the pod",
                process_or_empty(container->name), name);
        }
        int rc = add_mount(job, container, found, container->volumemounts[m],
                           spec, variables, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
