#include "executor/kubernetes/kube_allowed.h"

#include "base/strbuf.h"
#include "executor/kubernetes/kube_pod.h"
#include "wire/kube/manifest.h"

static bool is_match(struct str pattern, struct str key)
{
    size_t count = pattern.byte_count;

    return count > 0 && pattern.p[count - 1] == '*'
               ? str_starts_with(key, (struct str){pattern.p, count - 1})
               : str_equal(pattern, key);
}

static bool is_allowed(const struct kube_allowed *allowed, struct str key)
{
    /* What the server writes on each object. */
    bool is_ok = str_equal(key, STR(KUBE_JOB_SET_ANNOTATION)) ||
                 str_equal(key, STR("armada_owner"));

    for (uint32_t i = 0; !is_ok && i < allowed->count; i++) {
        is_ok = is_match(allowed->keys[i], key);
    }
    return is_ok;
}

/* The kind of what a job brings itself; false: the server made it. */
static bool kind_of(const Armadaevents__KubernetesObject *object,
                    struct str *ret_api_version, struct str *ret_kind)
{
    switch (object->object_case) {
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP:
        *ret_api_version = STR("v1");
        *ret_kind = STR(MANIFEST_CONFIG_MAP);
        return true;
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST:
        *ret_api_version = str_of(object->manifest->api_version);
        *ret_kind = str_of(object->manifest->kind);
        return true;
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT__NOT_SET:
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_POD_SPEC:
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS:
    case ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE:
    case _ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT__CASE_IS_INT_SIZE:
        break;
    }
    return false;
}

bool kube_allowed_is_kind(struct str text)
{
    const char *slash =
        text.byte_count > 0 ? memrchr(text.p, '/', text.byte_count) : NULL;
    size_t at = slash ? (size_t)(slash - text.p) : 0;

    return slash &&
           manifest_is_kind(str_make(text.p, at),
                            str_make(slash + 1, text.byte_count - at - 1));
}

static int check_kind(const Armadaevents__KubernetesObject *object,
                      const struct kube_allowed *allowed, struct err *err)
{
    auto_strbuf text = strbuf_make(0);
    struct str api_version, kind;

    if (!kind_of(object, &api_version, &kind)) {
        return 0;
    }
    strbuf_addf(&text, "%.*s/%.*s", STR_ARG(api_version), STR_ARG(kind));
    for (uint32_t i = 0; i < allowed->kind_count; i++) {
        if (str_equal(allowed->kinds[i], strbuf_str(&text))) {
            return manifest_is_kind(api_version, kind)
                       ? 0
                       : err_set(err, -ERR_INVALID, "%s is no kind",
                                 strbuf_text(&text));
        }
    }
    return err_set(err, -ERR_INVALID,
                   "objects of kind %s are not made here: leave them out, or "
                   "have the executor's operator add the kind to "
                   "executor.kubernetes.objectKinds",
                   strbuf_text(&text));
}

static int refuse_key(const char *what, const char *key,
                      const Armadaevents__ObjectMeta *meta, struct err *err)
{
    return err_set(err, -ERR_INVALID,
                   "%s %s of %s is not allowed here: leave it out, or have the "
                   "executor's operator add it to "
                   "executor.kubernetes.ingressAnnotations",
                   what, key, meta->name);
}

static int check_keys(const Armadaevents__ObjectMeta *meta,
                      const struct kube_allowed *allowed, struct err *err)
{
    for (size_t i = 0; i < meta->n_annotations; i++) {
        if (!is_allowed(allowed, str_of(meta->annotations[i]->key))) {
            return refuse_key("annotation", meta->annotations[i]->key, meta,
                              err);
        }
    }
    for (size_t i = 0; i < meta->n_labels; i++) {
        if (strchr(meta->labels[i]->key, '/') &&
            !is_allowed(allowed, str_of(meta->labels[i]->key))) {
            return refuse_key("label", meta->labels[i]->key, meta, err);
        }
    }
    return 0;
}

int kube_allowed_check(const Armadaevents__SubmitJob *submit,
                       const struct kube_allowed *allowed, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < submit->n_objects && rc == 0; i++) {
        const Armadaevents__ObjectMeta *meta = submit->objects[i]->objectmeta;
        rc = check_kind(submit->objects[i], allowed, err);
        if (rc == 0 && meta) {
            rc = check_keys(meta, allowed, err);
        }
    }
    return rc;
}
