/* Describes this machine as a node. */
#include <sched.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "executor/process/process_private.h"

static int64_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? CPU_COUNT(&set)
               : sysconf(_SC_NPROCESSORS_ONLN);
}

static int64_t free_bytes(const char *path)
{
    struct statvfs st;

    return statvfs(path, &st) == 0 ? (int64_t)st.f_bavail * (int64_t)st.f_frsize
                                   : 0;
}

static int compare_labels(const void *a, const void *b)
{
    const struct label *left = a, *right = b;

    return str_compare(left->key, right->key);
}

void process_make_node(struct process *process)
{
    const struct process_options *options = &process->options;
    struct arena *arena = &process->arena;
    char host[256] = "localhost";
    struct label *labels =
        arena_alloc_array(arena, options->label_count + 1, sizeof(*labels));
    struct resource_amount *amounts =
        arena_alloc_array(arena, 3, sizeof(*amounts));

    (void)!gethostname(host, sizeof(host) - 1);
    process->node.name =
        arena_str(arena, options->node_name.byte_count > 0 ? options->node_name
                                                           : str_of(host));
    labels[0] =
        (struct label){STR("kubernetes.io/hostname"), process->node.name};
    for (uint32_t i = 0; i < options->label_count; i++) {
        labels[i + 1] =
            (struct label){arena_str(arena, options->labels[i].key),
                           arena_str(arena, options->labels[i].value)};
    }
    qsort(labels, options->label_count + 1, sizeof(*labels), compare_labels);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    amounts[0] = (struct resource_amount){
        STR("cpu"),
        options->cpu_milli > 0 ? options->cpu_milli : count_cpus() * 1000};
    amounts[1] = (struct resource_amount){
        STR("ephemeral-storage"),
        (options->storage_bytes > 0 ? options->storage_bytes
                                    : free_bytes(process->data_dir)) *
            1000};
    amounts[2] = (struct resource_amount){
        STR("memory"),
        (options->memory_bytes > 0 ? options->memory_bytes : memory) * 1000};
    process->node.pool = arena_str(arena, options->pool);
    process->node.node_type = arena_str(arena, options->node_type);
    process->node.labels = labels;
    process->node.label_count = options->label_count + 1;
    process->node.total = (struct resource_list){amounts, 3};
}
