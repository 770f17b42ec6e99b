#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/process/process_spec.h"

typedef K8s__Io__Api__Core__V1__ConfigMap config_map_t;
typedef K8s__Io__Api__Core__V1__Volume volume_t;

enum { NAME_BYTES_MAX = 256 };

static const char *
name_of(const K8s__Io__Api__Core__V1__LocalObjectReference *r)
{
    return r ? process_or_empty(r->name) : "";
}

const config_map_t *process_config_map(const struct process_job *job,
                                       const char *name)
{
    const Armadaevents__SubmitJob *submit = job->run->submit;

    for (size_t i = 0; i < submit->n_objects; i++) {
        const Armadaevents__KubernetesObject *object = submit->objects[i];
        if (object->object_case !=
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP) {
            continue;
        }
        const char *have =
            object->objectmeta && *object->objectmeta->name
                ? object->objectmeta->name
            : object->configmap->metadata
                ? process_or_empty(object->configmap->metadata->name)
                : "";
        if (strcmp(have, name) == 0) {
            return object->configmap;
        }
    }
    return NULL;
}

bool process_is_inside(const char *path)
{
    if (*path == '/' || !*path || strlen(path) >= NAME_BYTES_MAX) {
        return false;
    }
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') ||
            (n == 2 && p[0] == '.' && p[1] == '.')) {
            return false;
        }
        p += n;
        p += *p == '/';
    }
    return true;
}

int process_hand_over(const struct process_job *job, int fd, struct err *err)
{
    bool is_done =
        (job->uid < 0 || fchown(fd, (uid_t)job->uid, (gid_t)job->gid) == 0) &&
        fchmod(fd, job->dir_mode) == 0;

    return is_done ? 0
                   : err_set(err, -ERR_IO, "hand over a directory: %s",
                             strerror(errno));
}

int process_count_entry(struct process_job *job, struct err *err)
{
    job->entry_count++;
    return job->entry_count <= PROCESS_ENTRIES_MAX
               ? 0
               : err_set(err, -ERR_INVALID,
                         "its volumes, sub-paths and input files name together "
                         "more than the %d files and folders allowed",
                         PROCESS_ENTRIES_MAX);
}

/* One directory, made or found; its descriptor.  A new one becomes the job's,
 * or stays ours. */
static int make_dir(struct process_job *job, bool is_jobs, int dir_fd,
                    const char *name, struct err *err)
{
    int counted = process_count_entry(job, err);
    if (counted < 0) {
        return counted;
    }
    bool is_new = mkdirat(dir_fd, name, 0755) == 0;
    int fd = is_new || errno == EEXIST
                 ? openat(dir_fd, name,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                 : -1;
    if (fd < 0) {
        return err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                       "make a directory of a volume: %s", strerror(errno));
    }
    int rc = is_new && is_jobs ? process_hand_over(job, fd, err) : 0;
    if (rc < 0) {
        close(fd);
    }
    return rc < 0 ? rc : fd;
}

static int make_dirs(struct process_job *job, bool is_jobs, int dir_fd,
                     const char *path, size_t byte_count, struct err *err)
{
    char name[NAME_BYTES_MAX];
    int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);

    for (size_t at = 0; fd >= 0 && at < byte_count;) {
        size_t n = strcspn(path + at, "/");
        snprintf(name, sizeof(name), "%.*s", (int)n, path + at);
        int next = make_dir(job, is_jobs, fd, name, err);
        close(fd);
        fd = next;
        at += n + 1;
    }
    return fd;
}

int process_make_dirs(struct process_job *job, int dir_fd, const char *path,
                      size_t byte_count, struct err *err)
{
    return make_dirs(job, true, dir_fd, path, byte_count, err);
}

static int open_new_file(struct process_job *job, int dir_fd, const char *path,
                         struct err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    int rc = process_count_entry(job, err);
    if (rc < 0) {
        return rc;
    }
    int parent_fd =
        make_dirs(job, false, dir_fd, path, (size_t)(name - path), err);
    if (parent_fd < 0) {
        return parent_fd;
    }
    (void)unlinkat(parent_fd, name,
                   0); /* of two with one path the last stays */
    int fd = openat(parent_fd, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        fd = err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    close(parent_fd);
    return fd;
}

static int write_file(struct process_job *job, int dir_fd, const char *path,
                      struct str bytes, mode_t mode, struct err *err)
{
    if (!process_is_inside(path)) {
        return err_set(err, -ERR_INVALID,
                       "config map: the key \"%.200s\" cannot be a file name",
                       path);
    }
    int fd = open_new_file(job, dir_fd, path, err);
    if (fd < 0) {
        return fd;
    }
    ssize_t written = write(fd, bytes.p, bytes.byte_count);
    bool is_written =
        written == (ssize_t)bytes.byte_count && fchmod(fd, mode & 0777) == 0;
    int error = errno;
    close(fd);
    return is_written ? 0
                      : err_set(err, error == ENOSPC ? -ERR_FULL : -ERR_IO,
                                "%s: %s", path, strerror(error));
}

static bool find_data(const config_map_t *map, const char *key,
                      struct str *ret_bytes)
{
    for (size_t i = 0; i < map->n_data; i++) {
        if (strcmp(process_or_empty(map->data[i]->key), key) == 0) {
            *ret_bytes = str_of(map->data[i]->value);
            return true;
        }
    }
    for (size_t i = 0; i < map->n_binarydata; i++) {
        if (strcmp(process_or_empty(map->binarydata[i]->key), key) == 0) {
            *ret_bytes = str_make(map->binarydata[i]->value.data,
                                  map->binarydata[i]->value.len);
            return true;
        }
    }
    return false;
}

static int write_all(struct process_job *job, int dir_fd,
                     const config_map_t *map, mode_t mode, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < map->n_data; i++) {
        rc = write_file(job, dir_fd, process_or_empty(map->data[i]->key),
                        str_of(map->data[i]->value), mode, err);
    }
    for (size_t i = 0; rc == 0 && i < map->n_binarydata; i++) {
        rc = write_file(job, dir_fd, process_or_empty(map->binarydata[i]->key),
                        str_make(map->binarydata[i]->value.data,
                                 map->binarydata[i]->value.len),
                        mode, err);
    }
    return rc;
}

static int
write_items(struct process_job *job, int dir_fd, const config_map_t *map,
            const K8s__Io__Api__Core__V1__ConfigMapVolumeSource *from,
            mode_t mode, struct err *err)
{
    for (size_t i = 0; i < from->n_items; i++) {
        const K8s__Io__Api__Core__V1__KeyToPath *item = from->items[i];
        struct str bytes;
        if (!find_data(map, process_or_empty(item->key), &bytes)) {
            if (from->optional) {
                continue;
            }
            return err_set(err, -ERR_INVALID,
                           "config map \"%s\" has no key \"%s\"",
                           name_of(from->localobjectreference),
                           process_or_empty(item->key));
        }
        int rc = write_file(job, dir_fd, process_or_empty(item->path), bytes,
                            item->has_mode ? (mode_t)item->mode : mode, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int
fill_config_map(struct process_job *job, int dir_fd,
                const K8s__Io__Api__Core__V1__ConfigMapVolumeSource *from,
                struct err *err)
{
    const config_map_t *map =
        process_config_map(job, name_of(from->localobjectreference));
    /* The job's user is not the owner, so what the owner may, all may. */
    mode_t mode = from->has_defaultmode ? (mode_t)from->defaultmode : 0644;

    mode |= (mode & 0500) >> 3 | (mode & 0500) >> 6;
    if (!map) {
        return from->optional ? 0
                              : err_set(err, -ERR_INVALID,
                                        "the job brings no config map \"%s\"",
                                        name_of(from->localobjectreference));
    }
    return from->n_items > 0 ? write_items(job, dir_fd, map, from, mode, err)
                             : write_all(job, dir_fd, map, mode, err);
}

static bool is_mounted(const struct process_job *job, const char *name)
{
    const K8s__Io__Api__Core__V1__PodSpec *pod = job->pod;

    for (size_t c = 0; c < pod->n_containers + pod->n_initcontainers; c++) {
        const K8s__Io__Api__Core__V1__Container *container =
            c < pod->n_containers ? pod->containers[c]
                                  : pod->initcontainers[c - pod->n_containers];
        for (size_t m = 0; m < container->n_volumemounts; m++) {
            if (strcmp(process_or_empty(container->volumemounts[m]->name),
                       name) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* What cannot be given: refused when a container mounts it. */
static int refuse_volume(struct process_job *job, const volume_t *volume,
                         struct err *err)
{
    const char *name = process_or_empty(volume->name);

    if (is_mounted(job, name)) {
        return err_set(
            err, -ERR_INVALID,
            "volume \"%s\" has a kind that the runtime process does not "
            "support (it supports emptyDir and inline configMap)",
            name);
    }
    strbuf_addf(job->warnings, "volume %s is not created: nothing mounts it\n",
                name);
    return 0;
}

static int make_volume(struct process_job *job, struct process_volume *volume,
                       uint32_t index, int volumes_fd, struct err *err)
{
    const K8s__Io__Api__Core__V1__VolumeSource *source =
        volume->volume->volumesource;
    bool is_empty = source && (source->emptydir || source->ephemeral ||
                               source->persistentvolumeclaim);
    char name[16];

    if (!source || (!is_empty && !source->configmap)) {
        return refuse_volume(job, volume->volume, err);
    }
    snprintf(name, sizeof(name), "%u", index);
    snprintf(volume->path, sizeof(volume->path), "%s/%s/%s",
             job->place->space_dir, RUN_VOLUMES_NAME, name);
    volume->is_read_only = source->configmap != NULL;
    if (source->persistentvolumeclaim || source->ephemeral) {
        strbuf_addf(job->warnings,
                    "volume %s: persistent volumes are not supported; it is an "
                    "empty directory that is deleted with the run\n",
                    process_or_empty(volume->volume->name));
    }
    /* A config map stays ours, so that the job cannot change it. */
    int fd = make_dir(job, !source->configmap, volumes_fd, name, err);
    int rc = fd;
    if (fd >= 0) {
        rc = source->configmap
                 ? fill_config_map(job, fd, source->configmap, err)
                 : 0;
        close(fd);
    }
    return rc;
}

int process_volumes_make(struct process_job *job, struct err *err)
{
    const K8s__Io__Api__Core__V1__PodSpec *pod = job->pod;
    int rc = 0;

    if (pod->n_volumes == 0) {
        return 0;
    }
    if (pod->n_volumes > PROCESS_VOLUMES_MAX) {
        return err_set(err, -ERR_INVALID, "more than %d volumes",
                       PROCESS_VOLUMES_MAX);
    }
    int fd = openat(job->place->space_fd, RUN_VOLUMES_NAME,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, -ERR_IO, "open the volumes: %s", strerror(errno));
    }
    for (uint32_t i = 0; rc == 0 && i < pod->n_volumes; i++) {
        struct process_volume *volume = &job->volumes[job->volume_count++];
        volume->volume = pod->volumes[i];
        rc = make_volume(job, volume, i, fd, err);
    }
    close(fd);
    return rc;
}
