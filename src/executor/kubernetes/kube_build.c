#include "executor/kubernetes/kube_build.h"

#include "executor/kubernetes/kube_attached.h"
#include "executor/kubernetes/kube_pod.h"
#include "executor/kubernetes/kube_refs.h"
#include "executor/port/job_folders.h"
#include "k8s/core.pb-c.h"
#include "kube/api/envelope.h"
#include "wire/kube/entries.h"
#include "wire/kube/kube_name.h"
#include "wire/message/message.h"

typedef K8s__Io__Api__Core__V1__Container container_message;
typedef K8s__Io__Api__Core__V1__PodSpec spec_message;
typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta_message;

enum { ENVS_MAX = 16, POD_BYTES_MAX = 4 << 20 };

static const char hostname_label[] = "kubernetes.io/hostname";

/* Labels and annotations. */

/* Lists of pairs, as they are merged: the last of a key counts. */
struct pairs {
    struct label *items; /* in the arena */
    size_t count;
};

static void add_pair(struct pairs *pairs, struct str key, struct str value)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (str_equal(pairs->items[i].key, key)) {
            pairs->items[i].value = value;
            return;
        }
    }
    pairs->items[pairs->count++] = (struct label){key, value};
}

static struct pairs copy_pairs(const struct label *items, uint32_t count,
                               size_t more, struct arena *arena)
{
    struct pairs pairs = {
        arena_alloc_array(arena, count + more, sizeof(*pairs.items)), count};

    if (count > 0) {
        memcpy(pairs.items, items, count * sizeof(*items));
    }
    return pairs;
}

static void set_labels(const struct runtime_run *run, struct str executor_id,
                       struct arena *arena, meta_message *meta)
{
    const Armadaevents__ObjectMeta *from = run->submit->objectmeta;
    char *job = arena_alloc(arena, ID_TEXT_BYTES_MAX);
    char *id = arena_alloc(arena, ID_TEXT_BYTES_MAX);
    uint32_t count = 0;
    const struct label *own =
        from ? entries_labels(from->labels, from->n_labels, arena, &count)
             : NULL;
    struct pairs labels = copy_pairs(own, count, 6, arena);

    add_pair(&labels, STR(KUBE_JOB_LABEL),
             str_of(job_id_format(run->job, job)));
    add_pair(&labels, STR(KUBE_RUN_LABEL), str_of(run_id_format(run->run, id)));
    add_pair(&labels, STR(KUBE_QUEUE_LABEL), run->queue);
    add_pair(&labels, STR("armada_pod_number"), STR("0"));
    add_pair(&labels, STR("armada_pod_count"), STR("1"));
    add_pair(&labels, STR(KUBE_EXECUTOR_LABEL), executor_id);
    meta->n_labels = labels.count;
    meta->labels = entries_make_labels(
        labels.items, labels.count,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__labels_entry__descriptor,
        arena);
}

/* What only the executor writes. */
static void drop_pair(struct pairs *pairs, struct str key)
{
    size_t kept = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        if (!str_equal(pairs->items[i].key, key)) {
            pairs->items[kept++] = pairs->items[i];
        }
    }
    pairs->count = kept;
}

static int set_annotations(const struct runtime_run *run, struct arena *arena,
                           meta_message *meta, struct err *err)
{
    const Armadaevents__ObjectMeta *from = run->submit->objectmeta;
    uint32_t count = 0;
    const struct label *own =
        from ? entries_labels(from->annotations, from->n_annotations, arena,
                              &count)
             : NULL;
    struct pairs all = copy_pairs(own, count, 3, arena);
    struct str objects;

    /* With secrets it is kept, too. */
    int rc = kube_attached_pack(run->submit, false, arena, &objects, err);
    if (rc == 0) {
        rc = kube_attached_pack(run->submit, true, arena, &objects, err);
    }
    if (rc < 0) {
        return rc;
    }
    drop_pair(&all, STR(KUBE_OBJECTS_ANNOTATION));
    if (objects.byte_count > 0) {
        add_pair(&all, STR(KUBE_OBJECTS_ANNOTATION), objects);
    }
    add_pair(&all, STR(KUBE_JOB_SET_ANNOTATION), run->job_set);
    add_pair(&all, STR("armada_owner"), run->user);
    meta->n_annotations = all.count;
    meta->annotations = entries_make_labels(
        all.items, all.count,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__annotations_entry__descriptor,
        arena);
    return 0;
}

/* Variables. */

struct variables {
    struct label items[ENVS_MAX];
    size_t count;
};

static void add_gang(const struct runtime_run *run, struct variables *variables)
{
    static const struct {
        const char *annotation, *names[2];
    } all[] = {
        {"armadaproject.io/gangId", {"ARMADA_GANG_ID", "BERTH_GANG_ID"}},
        {"armadaproject.io/gangCardinality",
         {"ARMADA_GANG_CARDINALITY", "BERTH_GANG_CARDINALITY"}},
        {"armadaproject.io/gangNodeUniformityLabel",
         {"ARMADA_GANG_NODE_UNIFORMITY_LABEL_NAME",
          "BERTH_GANG_NODE_UNIFORMITY_LABEL_NAME"}},
        {"armadaproject.io/gangNodeUniformityLabelValue",
         {"ARMADA_GANG_NODE_UNIFORMITY_LABEL_VALUE",
          "BERTH_GANG_NODE_UNIFORMITY_LABEL_VALUE"}},
    };
    const Armadaevents__ObjectMeta *meta = run->submit->objectmeta;

    for (size_t a = 0; a < ARRAY_COUNT(all); a++) {
        for (size_t i = 0; meta && i < meta->n_annotations; i++) {
            if (strcmp(meta->annotations[i]->key, all[a].annotation) == 0) {
                struct str value = str_of(meta->annotations[i]->value);
                for (size_t n = 0; n < ARRAY_COUNT(all[a].names); n++) {
                    variables->items[variables->count++] =
                        (struct label){str_of(all[a].names[n]), value};
                }
                break;
            }
        }
    }
}

/* What every container is told. */
static void fill_variables(const struct runtime_run *run, struct arena *arena,
                           struct variables *variables)
{
    char *job = arena_alloc(arena, ID_TEXT_BYTES_MAX);
    char *id = arena_alloc(arena, ID_TEXT_BYTES_MAX);
    struct str job_text = str_of(job_id_format(run->job, job));
    const struct label all[] = {
        {STR("ARMADA_JOB_ID"), job_text},
        {STR("ARMADA_QUEUE"), run->queue},
        {STR("ARMADA_JOB_SET_ID"), run->job_set},
        {STR("BERTH_JOB_ID"), job_text},
        {STR("BERTH_RUN_ID"), str_of(run_id_format(run->run, id))},
        {STR("BERTH_QUEUE"), run->queue},
        {STR("BERTH_JOB_SET"), run->job_set},
        {STR("BERTH_NODE"), run->node_name},
    };

    memcpy(variables->items, all, sizeof(all));
    variables->count = ARRAY_COUNT(all);
    add_gang(run, variables);
    ASSERT(variables->count <= ENVS_MAX);
}

/* A container with them before its own, which so may refer to them; what it
 * sets itself comes later, and counts. */
static container_message *with_variables(const container_message *from,
                                         const struct variables *variables,
                                         struct arena *arena)
{
    container_message *container = arena_alloc(arena, sizeof(*container));

    *container = *from;
    container->n_env = variables->count + from->n_env;
    container->env =
        arena_alloc_array(arena, container->n_env, sizeof(*container->env));
    for (size_t i = 0; i < variables->count; i++) {
        K8s__Io__Api__Core__V1__EnvVar *env =
            wire_new(&k8s__io__api__core__v1__env_var__descriptor, arena);
        env->name = arena_strdup(arena, variables->items[i].key);
        env->value = arena_strdup(arena, variables->items[i].value);
        container->env[i] = env;
    }
    if (from->n_env > 0) {
        memcpy(container->env + variables->count, from->env,
               from->n_env * sizeof(*from->env));
    }
    return container;
}

static container_message **all_with_variables(container_message **from,
                                              size_t count,
                                              const struct variables *variables,
                                              struct arena *arena)
{
    container_message **all = arena_alloc_array(arena, count, sizeof(*all));

    for (size_t i = 0; i < count; i++) {
        all[i] = with_variables(from[i], variables, arena);
    }
    return all;
}

/* The spec. */

static void drop_node_label(spec_message *spec, struct arena *arena)
{
    size_t count = 0;
    K8s__Io__Api__Core__V1__PodSpec__NodeSelectorEntry **kept =
        arena_alloc_array(arena, spec->n_nodeselector, sizeof(*kept));

    for (size_t i = 0; i < spec->n_nodeselector; i++) {
        if (!str_equal(str_of(spec->nodeselector[i]->key),
                       str_of(hostname_label))) {
            kept[count++] = spec->nodeselector[i];
        }
    }
    spec->nodeselector = kept;
    spec->n_nodeselector = count;
}

static spec_message make_spec(const struct runtime_run *run,
                              const spec_message *from, struct arena *arena)
{
    struct variables variables;
    spec_message spec = *from;

    fill_variables(run, arena, &variables);
    spec.nodename = arena_strdup(arena, run->node_name);
    spec.restartpolicy = arena_strdup(arena, STR("Never"));
    drop_node_label(&spec, arena);
    spec.containers = all_with_variables(from->containers, from->n_containers,
                                         &variables, arena);
    spec.initcontainers = all_with_variables(
        from->initcontainers, from->n_initcontainers, &variables, arena);
    return spec;
}

static const spec_message *spec_of(const struct runtime_run *run)
{
    const Armadaevents__KubernetesMainObject *main =
        run->submit ? run->submit->mainobject : NULL;

    return main && main->object_case ==
                       ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC
               ? main->pod_spec->pod_spec
               : NULL;
}

static int check(const struct runtime_run *run, struct err *err)
{
    if (!spec_of(run) || spec_of(run)->n_containers == 0) {
        return err_set(err, -ERR_INVALID, "the job has no pod spec");
    }
    if (output_path_of(run)) {
        return err_set(err, -ERR_INVALID,
                       "outputPath is not supported by the runtime kubernetes: "
                       "let the job write to a persistent volume");
    }
    if (input_files_of(run)) {
        return err_set(err, -ERR_INVALID,
                       "inputFiles are not supported by the runtime "
                       "kubernetes: put them into the image or a volume");
    }
    if (run->node_name.byte_count == 0) {
        return err_set(err, -ERR_INVALID, "the lease names no node");
    }
    if (!kube_is_label_value(run->queue)) {
        return err_set(err, -ERR_INVALID,
                       "queue \"%.*s\" cannot be the value of a label, which "
                       "Kubernetes takes of at most %d letters, digits, '-', "
                       "'_' and '.'; use a queue of another name",
                       STR_ARG(run->queue), KUBE_LABEL_BYTES_MAX);
    }
    return 0;
}

int kube_build_pod(const struct runtime_run *run, struct str executor_id,
                   struct str priority_class, struct arena *arena,
                   struct strbuf *body, struct err *err)
{
    meta_message meta;
    K8s__Io__Api__Core__V1__Pod pod;
    auto_strbuf object = strbuf_make(POD_BYTES_MAX);

    int rc = check(run, err);
    if (rc < 0) {
        return rc;
    }
    spec_message spec = make_spec(
        run, kube_refs_put(spec_of(run), run->submit, run->pod_name, arena),
        arena);
    if (priority_class.byte_count > 0) {
        spec.priorityclassname = arena_strdup(arena, priority_class);
        spec.has_priority = false;
    }
    k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__init(&meta);
    k8s__io__api__core__v1__pod__init(&pod);
    meta.name = arena_strdup(arena, run->pod_name);
    meta.namespace_ = arena_strdup(arena, run->namespace_);
    set_labels(run, executor_id, arena, &meta);
    rc = set_annotations(run, arena, &meta, err);
    if (rc < 0) {
        return rc;
    }
    pod.metadata = &meta;
    pod.spec = &spec;
    wire_encode(&pod.base, &object);
    if (object.is_over) {
        return err_set(err, -ERR_INVALID, "the pod is larger than %d MiB",
                       POD_BYTES_MAX >> 20);
    }
    envelope_write(STR("v1"), STR("Pod"), strbuf_str(&object), body);
    return 0;
}

void kube_build_delete(struct str uid, int64_t grace_s, struct strbuf *body)
{
    auto_arena arena = {0};
    auto_strbuf object = strbuf_make(0);
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__DeleteOptions options;
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__Preconditions conditions;

    k8s__io__apimachinery__pkg__apis__meta__v1__delete_options__init(&options);
    k8s__io__apimachinery__pkg__apis__meta__v1__preconditions__init(
        &conditions);
    conditions.uid = arena_strdup(&arena, uid);
    options.preconditions = uid.byte_count > 0 ? &conditions : NULL;
    options.has_graceperiodseconds = grace_s >= 0;
    options.graceperiodseconds = grace_s;
    wire_encode(&options.base, &object);
    envelope_write(STR("v1"), STR("DeleteOptions"), strbuf_str(&object), body);
}
