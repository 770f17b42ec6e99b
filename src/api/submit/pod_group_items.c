/* The jobs of a PodGroup: the item of each, and what it has of the group. */
#include "api/core/message.h"
#include "api/submit/annotations.h"
#include "api/submit/pod_group.h"

static void put_label(Berth__Submission__Item *item, const char *key,
                      const char *value, struct arena *arena)
{
    Berth__Submission__Item__LabelsEntry *entry =
        message_new(arena, &berth__submission__item__labels_entry__descriptor);

    entry->key = message_text(str_of(key));
    entry->value = (char *)(uintptr_t)value;
    item->labels[item->n_labels++] = entry;
}

static void put_annotation(Berth__Submission__Item *item, const char *key,
                           const char *value, struct arena *arena)
{
    Berth__Submission__Item__AnnotationsEntry *entry = message_new(
        arena, &berth__submission__item__annotations_entry__descriptor);

    entry->key = message_text(str_of(key));
    entry->value = (char *)(uintptr_t)value;
    item->annotations[item->n_annotations++] = entry;
}

/* The entries too are copied: values have the job's id put into them. */
static Berth__Submission__Item *copy_item(const Berth__Submission__Item *item,
                                          size_t more, struct arena *arena)
{
    Berth__Submission__Item *copy = arena_alloc(arena, sizeof(*copy));

    *copy = *item;
    copy->pod_group = NULL;
    copy->labels =
        arena_alloc_array(arena, item->n_labels + more, sizeof(*copy->labels));
    copy->annotations = arena_alloc_array(arena, item->n_annotations + more,
                                          sizeof(*copy->annotations));
    copy->n_labels = copy->n_annotations = 0;
    for (size_t i = 0; i < item->n_labels; i++) {
        put_label(copy, item->labels[i]->key, item->labels[i]->value, arena);
    }
    for (size_t i = 0; i < item->n_annotations; i++) {
        put_annotation(copy, item->annotations[i]->key,
                       item->annotations[i]->value, arena);
    }
    return copy;
}

Berth__Submission__Item *pod_group_item(const Berth__Submission__Item *item,
                                        const struct pod_group *group,
                                        const struct pod_member *member,
                                        struct arena *arena)
{
    enum { MORE = 5 };
    struct str name = group->terms.sub_groups[member->sub_group].name;
    Berth__Submission__Item *copy = copy_item(item, MORE, arena);
    char *gang_id = message_copy(arena, member->gang_id);

    /* Of equal keys the last counts. */
    put_label(copy, LABEL_POD_GROUP, gang_id, arena);
    put_label(copy, LABEL_SUB_GROUP, message_copy(arena, name), arena);
    put_label(copy, LABEL_POD_INDEX, message_format(arena, "%u", member->index),
              arena);
    if (group->labels[member->sub_group].key) {
        put_label(copy, group->labels[member->sub_group].key,
                  group->labels[member->sub_group].value, arena);
    }
    put_annotation(copy, ANNOTATION_GANG_ID, gang_id, arena);
    put_annotation(copy, ANNOTATION_GANG_CARDINALITY,
                   message_format(arena, "%u", pod_group_max(group)), arena);
    if (member->has_gang_label) {
        put_label(copy, ANNOTATION_GANG_ID, gang_id, arena);
    }
    return copy;
}

static K8s__Io__Api__Core__V1__EnvVar *
make_variable(const char *name, const char *path, struct arena *arena)
{
    K8s__Io__Api__Core__V1__EnvVar *variable =
        message_new(arena, &k8s__io__api__core__v1__env_var__descriptor);

    variable->name = message_text(str_of(name));
    variable->valuefrom =
        message_new(arena, &k8s__io__api__core__v1__env_var_source__descriptor);
    variable->valuefrom->fieldref = message_new(
        arena, &k8s__io__api__core__v1__object_field_selector__descriptor);
    variable->valuefrom->fieldref->fieldpath = message_text(str_of(path));
    return variable;
}

void pod_group_environment(struct pod_view *pod, struct arena *arena)
{
    K8s__Io__Api__Core__V1__EnvVar *const variables[] = {
        make_variable("BERTH_POD_GROUP",
                      "metadata.labels['" LABEL_POD_GROUP "']", arena),
        make_variable("BERTH_SUB_GROUP",
                      "metadata.labels['" LABEL_SUB_GROUP "']", arena),
        make_variable("BERTH_POD_INDEX",
                      "metadata.labels['" LABEL_POD_INDEX "']", arena),
    };
    enum { MORE = ARRAY_COUNT(variables) };

    for (uint32_t i = 0; i < pod->container_count; i++) {
        K8s__Io__Api__Core__V1__Container *container =
            pod->containers[i].message;
        K8s__Io__Api__Core__V1__EnvVar **all =
            arena_alloc_array(arena, container->n_env + MORE, sizeof(*all));
        memcpy(all, variables, sizeof(variables));
        if (container->n_env) {
            memcpy(all + MORE, container->env, container->n_env * sizeof(*all));
        }
        container->env = all;
        container->n_env += MORE;
    }
}

void pod_group_digest(const Berth__Submission__Item *item,
                      const struct pod_group *group,
                      const struct pod_member *member, struct str packed,
                      struct job_digest *digest)
{
    digest->gang_id = member->gang_id;
    digest->gang_cardinality = pod_group_max(group);
    digest->gang_minimum = pod_group_min(group);
    digest->gang_uniformity = STR("");
    digest->gang_terms = packed;
    digest->sub_group = member->sub_group;
    if (!annotation_find_own(item, ANNOTATION_ON_PREEMPTION).p) {
        digest->on_preemption = ON_LOSS_REQUEUE;
    }
    if (!annotation_find_own(item, ANNOTATION_ON_EXECUTOR_LOST).p) {
        digest->on_executor_lost = ON_LOSS_REQUEUE;
    }
}
