#include "executor/kubernetes/kube_mapping.h"

#include "executor/kubernetes/kube_object.h"
#include "k8s/discovery.pb-c.h"
#include "kube/api/envelope.h"
#include "wire/kube/kube_name.h"
#include "wire/kube/manifest.h"

typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__APIResource
    resource_message;
typedef K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__APIResourceList
    list_message;

void kube_mapping_group(struct str api_version, struct strbuf *path)
{
    bool has_group = memchr(api_version.p, '/', api_version.byte_count) != NULL;

    strbuf_addf(path, "%s/%.*s", has_group ? "/apis" : "/api",
                STR_ARG(api_version));
}

struct str kube_mapping_known(struct str api_version, struct str kind)
{
    static const struct {
        const char *kind, *plural;
    } all[] = {
        {MANIFEST_CLAIM, "persistentvolumeclaims"},
        {MANIFEST_CONFIG_MAP, "configmaps"},
        {MANIFEST_SECRET, "secrets"},
    };

    for (size_t i = 0;
         str_equal(api_version, STR("v1")) && i < ARRAY_COUNT(all); i++) {
        if (str_equal(kind, str_of(all[i].kind))) {
            return str_of(all[i].plural);
        }
    }
    return STR("");
}

static const resource_message *find(const list_message *list, struct str kind)
{
    for (size_t i = 0; i < list->n_resources; i++) {
        /* With a slash it is a part of another, such as its status. */
        if (str_equal(str_of(list->resources[i]->kind), kind) &&
            kube_is_dns_label(str_of(list->resources[i]->name))) {
            return list->resources[i];
        }
    }
    return NULL;
}

int kube_mapping_read(struct str answer, struct str api_version,
                      struct str kind, struct arena *arena,
                      struct str *ret_plural, struct err *err)
{
    struct envelope envelope;
    ProtobufCMessage *base;

    if (envelope_read(answer, &envelope) < 0 ||
        kube_object_decode(
            &k8s__io__apimachinery__pkg__apis__meta__v1__apiresource_list__descriptor,
            envelope.object, arena, &base, err) < 0) {
        return err_set(err, -ERR_CORRUPT, "what %.*s has does not read",
                       STR_ARG(api_version));
    }
    const resource_message *found = find((const list_message *)base, kind);
    if (!found) {
        return err_set(err, -ERR_NOT_FOUND,
                       "the cluster has no kind %.*s in %.*s", STR_ARG(kind),
                       STR_ARG(api_version));
    }
    if (!found->namespaced) {
        return err_set(err, -ERR_INVALID,
                       "objects of kind %.*s are in no namespace, and not for "
                       "jobs",
                       STR_ARG(kind));
    }
    *ret_plural = str_of(found->name);
    return 0;
}
