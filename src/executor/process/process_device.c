#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "executor/process/process_spec.h"

static const char file_prefix[] = "nvidia";

/* The N of nvidia<N>; -1: another file. */
static int number_of(const char *name)
{
    size_t n = sizeof(file_prefix) - 1;
    char *end;

    if (strncmp(name, file_prefix, n) != 0 || name[n] < '0' || name[n] > '9' ||
        strlen(name + n) > 4) {
        return -1;
    }
    long number = strtol(name + n, &end, 10);
    return *end == '\0' ? (int)number : -1;
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void process_devices_find(const char *dir, struct process_devices *ret_devices)
{
    DIR *stream = *dir ? opendir(dir) : NULL;

    *ret_devices = (struct process_devices){0};
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        int number = number_of(entry->d_name);
        if (number >= 0 && ret_devices->count < PROCESS_DEVICES_MAX) {
            ret_devices->numbers[ret_devices->count++] = number;
        }
    }
    if (stream) {
        closedir(stream);
    }
    qsort(ret_devices->numbers, ret_devices->count, sizeof(int),
          compare_numbers);
}

bool process_devices_take(const struct process_devices *devices, uint64_t used,
                          uint32_t count, uint64_t *ret_taken)
{
    *ret_taken = 0;
    for (uint32_t i = 0; i < devices->count && count > 0; i++) {
        if ((used >> i & 1) == 0) {
            *ret_taken |= (uint64_t)1 << i;
            count--;
        }
    }
    return count == 0;
}

void process_devices_print(const struct process_devices *devices, uint64_t set,
                           uint32_t skip, uint32_t count, struct strbuf *out)
{
    const char *before = "";

    for (uint32_t i = 0; i < devices->count && count > 0; i++) {
        if ((set >> i & 1) == 0) {
            continue;
        }
        if (skip > 0) {
            skip--;
            continue;
        }
        strbuf_addf(out, "%s%d", before, devices->numbers[i]);
        before = ",";
        count--;
    }
}

uint64_t process_devices_parse(const struct process_devices *devices,
                               const char *text)
{
    uint64_t set = 0;

    for (const char *p = text; *p;) {
        char *end;
        long number = strtol(p, &end, 10);
        for (uint32_t i = 0; end > p && i < devices->count; i++) {
            set |= devices->numbers[i] == number ? (uint64_t)1 << i : 0;
        }
        p = end > p ? end : p + 1;
    }
    return set;
}

/* Those of a pod. */

static uint32_t gpus_of(const K8s__Io__Api__Core__V1__Container *container)
{
    int64_t limit = process_amount(container, PROCESS_GPU_NAME, true);
    int64_t milli =
        limit >= 0 ? limit : process_amount(container, PROCESS_GPU_NAME, false);

    return milli <= 0                           ? 0
           : milli > PROCESS_DEVICES_MAX * 1000 ? UINT32_MAX / 4096
                                                : (uint32_t)(milli / 1000);
}

/* How many GPUs a pod has at once: its main containers and sidecars have them
 * all the time, the init containers before. */
static uint32_t pod_gpus(const K8s__Io__Api__Core__V1__PodSpec *pod)
{
    uint32_t kept = 0, most = 0;

    for (size_t i = 0; i < pod->n_initcontainers; i++) {
        uint32_t own = gpus_of(pod->initcontainers[i]);
        most = kept + own > most ? kept + own : most;
        kept += process_is_sidecar(pod->initcontainers[i]) ? own : 0;
    }
    for (size_t i = 0; i < pod->n_containers; i++) {
        kept += gpus_of(pod->containers[i]);
    }
    return kept > most ? kept : most;
}

int process_devices_reserve(struct process_job *job, struct err *err)
{
    uint32_t count = pod_gpus(job->pod);

    if (count > 0 && job->place->devices->count == 0) {
        strbuf_addf(job->warnings,
                    PROCESS_GPU_NAME ": this machine has none; it is only "
                                     "counted\n");
        return 0;
    }
    return process_devices_take(job->place->devices, job->place->used_devices,
                                count, &job->devices)
               ? 0
               : err_set(err, -ERR_UNAVAILABLE,
                         "fewer than %u of the %u GPUs are free", count,
                         job->place->devices->count);
}

int process_devices_show(struct process_job *job,
                         const K8s__Io__Api__Core__V1__Container *container,
                         enum run_container_kind kind,
                         struct process_variables *variables, struct err *err)
{
    uint32_t count = gpus_of(container);
    auto_strbuf text = {0};

    if (job->place->devices->count == 0) {
        return 0;
    }
    process_devices_print(job->place->devices, job->devices, job->device_count,
                          count, &text);
    job->device_count += kind == RUN_INIT ? 0 : count;
    int rc = process_variable_set(job, variables, "CUDA_DEVICE_ORDER",
                                  "PCI_BUS_ID", err);
    return rc < 0 ? rc
                  : process_variable_set(job, variables, "CUDA_VISIBLE_DEVICES",
                                         strbuf_text(&text), err);
}
