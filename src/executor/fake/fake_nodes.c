#include "executor/fake/fake_nodes.h"

#include <stdio.h>

/* The group's labels and the host name, sorted by key. */
static struct label *add_host(const struct node_record *from, struct str name,
                              struct arena *arena, uint32_t *ret_count)
{
    struct label host = {STR("kubernetes.io/hostname"), name};
    struct label *labels =
        arena_alloc_array(arena, from->label_count + 1, sizeof(*labels));
    uint32_t count = 0;
    bool has_host = false;

    for (uint32_t i = 0; i < from->label_count; i++) {
        int order = str_compare(from->labels[i].key, host.key);
        if (order == 0) {
            continue;
        }
        if (order > 0 && !has_host) {
            labels[count++] = host;
            has_host = true;
        }
        labels[count++] = from->labels[i];
    }
    if (!has_host) {
        labels[count++] = host;
    }
    *ret_count = count;
    return labels;
}

static void add_node(struct node_set *nodes, const struct fake_options *options,
                     const struct fake_group *group, uint32_t index)
{
    struct node_record node = group->node;
    char name[NODE_NAME_BYTES_MAX + 1];
    int n =
        snprintf(name, sizeof(name), "%.*s-%.*s-%u",
                 STR_ARG(options->executor_id), STR_ARG(group->name), index);
    auto_arena scratch = {0};

    node.name = str_make(name, n < NODE_NAME_BYTES_MAX ? (size_t)n
                                                       : NODE_NAME_BYTES_MAX);
    node.labels =
        add_host(&group->node, node.name, &scratch, &node.label_count);
    node_set_put(nodes, &node);
}

struct node_set *fake_nodes_make(const struct fake_options *options)
{
    struct node_set *nodes = node_set_create();

    for (uint32_t g = 0; g < options->group_count; g++) {
        for (uint32_t i = 0; i < options->groups[g].count; i++) {
            add_node(nodes, options, &options->groups[g], i);
        }
    }
    return nodes;
}
