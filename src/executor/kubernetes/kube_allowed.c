#include "executor/kubernetes/kube_allowed.h"

#include "executor/kubernetes/kube_pod.h"

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

int kube_allowed_check(const Armadaevents__SubmitJob *submit,
                       const struct kube_allowed *allowed, struct err *err)
{
    for (size_t o = 0; o < submit->n_objects; o++) {
        const Armadaevents__ObjectMeta *meta = submit->objects[o]->objectmeta;
        for (size_t i = 0; meta && i < meta->n_annotations; i++) {
            struct str key = str_of(meta->annotations[i]->key);
            if (!is_allowed(allowed, key)) {
                return err_set(
                    err, -ERR_INVALID,
                    "annotation %.*s of %s is not allowed here: leave it out, "
                    "or have the executor's operator add it to "
                    "executor.kubernetes.ingressAnnotations",
                    STR_ARG(key), meta->name);
            }
        }
    }
    return 0;
}
