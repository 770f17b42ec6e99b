#include "executor/kubernetes/kube_refs.h"

#include "base/strbuf.h"
#include "wire/kube/manifest.h"
#include "wire/message/message.h"

typedef K8s__Io__Api__Core__V1__PodSpec spec_message;
typedef K8s__Io__Api__Core__V1__Container container_message;
typedef K8s__Io__Api__Core__V1__LocalObjectReference reference_message;

struct renamer {
    const Armadaevents__SubmitJob *submit;
    struct str pod_name;
    struct arena *arena;
};

struct str kube_refs_name(struct str pod_name, struct str name,
                          struct arena *arena)
{
    auto_strbuf text = strbuf_make(0);

    strbuf_addf(&text, "%.*s-%.*s", STR_ARG(pod_name), STR_ARG(name));
    return arena_str(arena, strbuf_str(&text));
}

/* The core kind of an object; "": another, or none that a job names. */
static struct str kind_of(const Armadaevents__KubernetesObject *object)
{
    if (object->object_case ==
        ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP) {
        return STR(MANIFEST_CONFIG_MAP);
    }
    return object->object_case ==
                       ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST &&
                   strcmp(object->manifest->api_version, "v1") == 0
               ? str_of(object->manifest->kind)
               : STR("");
}

static void rename_text(const struct renamer *renamer, const char *kind,
                        char **name)
{
    for (size_t i = 0; *name && i < renamer->submit->n_objects; i++) {
        const Armadaevents__KubernetesObject *object =
            renamer->submit->objects[i];
        if (object->objectmeta && str_equal(kind_of(object), str_of(kind)) &&
            strcmp(object->objectmeta->name, *name) == 0) {
            *name = arena_strdup(renamer->arena,
                                 kube_refs_name(renamer->pod_name,
                                                str_of(*name), renamer->arena));
            return;
        }
    }
}

static void rename_ref(const struct renamer *renamer, const char *kind,
                       reference_message *reference)
{
    if (reference) {
        rename_text(renamer, kind, &reference->name);
    }
}

static void rename_source(const struct renamer *renamer,
                          K8s__Io__Api__Core__V1__EnvVarSource *source)
{
    if (source && source->configmapkeyref) {
        rename_ref(renamer, MANIFEST_CONFIG_MAP,
                   source->configmapkeyref->localobjectreference);
    }
    if (source && source->secretkeyref) {
        rename_ref(renamer, MANIFEST_SECRET,
                   source->secretkeyref->localobjectreference);
    }
}

static void rename_in_containers(const struct renamer *renamer,
                                 container_message **containers, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < containers[c]->n_env; i++) {
            rename_source(renamer, containers[c]->env[i]->valuefrom);
        }
        for (size_t i = 0; i < containers[c]->n_envfrom; i++) {
            K8s__Io__Api__Core__V1__EnvFromSource *from =
                containers[c]->envfrom[i];
            if (from->configmapref) {
                rename_ref(renamer, MANIFEST_CONFIG_MAP,
                           from->configmapref->localobjectreference);
            }
            if (from->secretref) {
                rename_ref(renamer, MANIFEST_SECRET,
                           from->secretref->localobjectreference);
            }
        }
    }
}

static void rename_projected(const struct renamer *renamer,
                             K8s__Io__Api__Core__V1__ProjectedVolumeSource *all)
{
    for (size_t i = 0; i < all->n_sources; i++) {
        if (all->sources[i]->configmap) {
            rename_ref(renamer, MANIFEST_CONFIG_MAP,
                       all->sources[i]->configmap->localobjectreference);
        }
        if (all->sources[i]->secret) {
            rename_ref(renamer, MANIFEST_SECRET,
                       all->sources[i]->secret->localobjectreference);
        }
    }
}

static void rename_in_volume(const struct renamer *renamer,
                             K8s__Io__Api__Core__V1__VolumeSource *source)
{
    if (source->configmap) {
        rename_ref(renamer, MANIFEST_CONFIG_MAP,
                   source->configmap->localobjectreference);
    }
    if (source->secret) {
        rename_text(renamer, MANIFEST_SECRET, &source->secret->secretname);
    }
    if (source->persistentvolumeclaim) {
        rename_text(renamer, MANIFEST_CLAIM,
                    &source->persistentvolumeclaim->claimname);
    }
    if (source->projected) {
        rename_projected(renamer, source->projected);
    }
}

static bool has_objects(const Armadaevents__SubmitJob *submit)
{
    for (size_t i = 0; i < submit->n_objects; i++) {
        if (kind_of(submit->objects[i]).byte_count > 0) {
            return true;
        }
    }
    return false;
}

/* The lease is not ours to change. */
static spec_message *copy_spec(const spec_message *spec, struct arena *arena)
{
    const struct wire_limits limits = {
        .byte_count_max = SIZE_MAX,
        .field_count_max = SIZE_MAX,
        .memory_bytes_max = SIZE_MAX,
        .depth_max = WIRE_DEPTH_MAX,
    };
    ProtobufCMessage *copy;
    struct err err;
    int rc = wire_decode(spec->base.descriptor,
                         wire_encode_arena(&spec->base, arena), &limits, arena,
                         &copy, &err);

    ASSERT(rc == 0); /* it was decoded before */
    return (spec_message *)copy;
}

const spec_message *kube_refs_put(const spec_message *spec,
                                  const Armadaevents__SubmitJob *submit,
                                  struct str pod_name, struct arena *arena)
{
    const struct renamer renamer = {submit, pod_name, arena};

    if (!has_objects(submit)) {
        return spec;
    }
    spec_message *copy = copy_spec(spec, arena);
    rename_in_containers(&renamer, copy->containers, copy->n_containers);
    rename_in_containers(&renamer, copy->initcontainers,
                         copy->n_initcontainers);
    for (size_t i = 0; i < copy->n_imagepullsecrets; i++) {
        rename_ref(&renamer, MANIFEST_SECRET, copy->imagepullsecrets[i]);
    }
    for (size_t i = 0; i < copy->n_volumes; i++) {
        if (copy->volumes[i]->volumesource) {
            rename_in_volume(&renamer, copy->volumes[i]->volumesource);
        }
    }
    return copy;
}
