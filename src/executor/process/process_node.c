/* Describes this machine as a node. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/process/process_private.h"

static int64_t count_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? CPU_COUNT(&set)
               : sysconf(_SC_NPROCESSORS_ONLN);
}

/* What the options offer beside cpu, memory and storage, and the GPUs that are
 * there. */
static void add_others(struct process *process, struct resource_list *list)
{
    const struct resource_list *others = &process->options.others;
    int64_t found = process->devices.count;
    bool is_named = false;

    for (uint32_t i = 0; i < others->count; i++) {
        struct str name = others->items[i].name;
        int64_t milli = others->items[i].milli;
        bool is_gpu = str_equal(name, STR(PROCESS_GPU_NAME));
        is_named |= is_gpu;
        milli =
            is_gpu && found > 0 && milli > found * 1000 ? found * 1000 : milli;
        (void)!resource_list_add(list, arena_str(&process->arena, name), milli);
    }
    if (!is_named && found > 0) {
        (void)!resource_list_add(list, STR(PROCESS_GPU_NAME), found * 1000);
    }
}

static int compare_labels(const void *a, const void *b)
{
    const struct label *left = a, *right = b;

    return str_compare(left->key, right->key);
}

void process_make_node(struct process *process)
{
    const struct process_options *options = &process->options;
    auto_arena scratch = {0};
    struct arena *arena = &scratch;
    struct node_record node = {0};
    char host[256] = "localhost";
    struct label *labels =
        arena_alloc_array(arena, options->label_count + 1, sizeof(*labels));
    struct resource_amount *amounts =
        arena_alloc_array(arena, RESOURCE_LIST_MAX, sizeof(*amounts));

    (void)!gethostname(host, sizeof(host) - 1);
    node.name =
        arena_str(arena, options->node_name.byte_count > 0 ? options->node_name
                                                           : str_of(host));
    labels[0] = (struct label){STR("kubernetes.io/hostname"), node.name};
    for (uint32_t i = 0; i < options->label_count; i++) {
        labels[i + 1] =
            (struct label){arena_str(arena, options->labels[i].key),
                           arena_str(arena, options->labels[i].value)};
    }
    qsort(labels, options->label_count + 1, sizeof(*labels), compare_labels);
    int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    struct resource_list total = {amounts, 0};
    (void)!resource_list_add(&total, STR("cpu"),
                             options->cpu_milli > 0 ? options->cpu_milli
                                                    : count_cpus() * 1000);
    (void)!resource_list_add(&total, STR("ephemeral-storage"),
                             (options->storage_bytes > 0
                                  ? options->storage_bytes
                                  : PROCESS_STORAGE_BYTES) *
                                 1000);
    (void)!resource_list_add(
        &total, STR("memory"),
        (options->memory_bytes > 0 ? options->memory_bytes : memory) * 1000);
    process_devices_find(options->device_dir ? options->device_dir : "",
                         &process->devices);
    add_others(process, &total);
    node.pool = arena_str(arena, options->pool);
    node.node_type = arena_str(arena, options->node_type);
    node.labels = labels;
    node.label_count = options->label_count + 1;
    node.taints = options->taints;
    node.taint_count = options->taint_count;
    node.total = total;
    process->node_name = arena_strdup(&process->arena, node.name);
    process->nodes = node_set_create();
    node_set_put(process->nodes, &node);
}

bool process_has_devices(struct runtime *runtime)
{
    return process_of(runtime)->devices.count > 0;
}
