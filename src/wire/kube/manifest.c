#include "wire/kube/manifest.h"

#include <jansson.h>

#include "wire/json/json.h"
#include "wire/kube/kube_name.h"

static struct str text_of(const json_t *json)
{
    return json_is_string(json)
               ? str_make(json_string_value(json), json_string_length(json))
               : STR("");
}

bool manifest_is_secret(struct str api_version, struct str kind)
{
    return str_equal(api_version, STR("v1")) &&
           str_equal(kind, STR(MANIFEST_SECRET));
}

static bool is_claim(struct str api_version, struct str kind)
{
    return str_equal(api_version, STR("v1")) &&
           str_equal(kind, STR(MANIFEST_CLAIM));
}

static bool is_among(struct str text, const char *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(text, str_of(items[i]))) {
            return true;
        }
    }
    return false;
}

/* Each key is one of these; `what` they belong to. */
static int check_keys(json_t *object, const char *what,
                      const char *const *allowed, size_t count, struct err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (!is_among(str_of(key), allowed, count)) {
            return err_set(err, -ERR_INVALID,
                           "%s.%.100s is not allowed for objects of jobs", what,
                           key);
        }
    }
    return 0;
}

/* The rest. */

/* The others are filled by Kubernetes, with what lets one act as somebody, or
 * let machines join the cluster. */
static int check_secret(const json_t *rest, struct err *err)
{
    static const char *const types[] = {
        "",
        "Opaque",
        "kubernetes.io/basic-auth",
        "kubernetes.io/dockercfg",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
    };
    const json_t *type = json_object_get(rest, "type");

    if (type && (!json_is_string(type) ||
                 !is_among(text_of(type), types, ARRAY_COUNT(types)))) {
        return err_set(err, -ERR_INVALID,
                       "type: secrets of jobs are Opaque, or of type "
                       "kubernetes.io/basic-auth, dockercfg, "
                       "dockerconfigjson, ssh-auth or tls");
    }
    return 0;
}

static int check_claim(const json_t *rest, struct err *err)
{
    static const char *const allowed[] = {"accessModes", "resources",
                                          "storageClassName", "volumeMode"};
    json_t *spec = json_object_get(rest, "spec");

    return json_is_object(spec)
               ? check_keys(spec, "spec", allowed, ARRAY_COUNT(allowed), err)
               : err_set(err, -ERR_INVALID, "spec must be an object");
}

static uint32_t depth_of(const json_t *json, uint32_t depth_max)
{
    uint32_t deepest = 0;
    const char *key;
    json_t *value;
    size_t i;

    if (depth_max == 0) {
        return 1;
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        uint32_t depth = depth_of(value, depth_max - 1);
        deepest = depth > deepest ? depth : deepest;
    }
    json_array_foreach(json, i, value)
    {
        uint32_t depth = depth_of(value, depth_max - 1);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static int check_rest(struct str api_version, struct str kind,
                      const json_t *rest, struct err *err)
{
    static const char *const others[] = {"apiVersion", "kind", "metadata",
                                         "status"};

    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        if (json_object_get(rest, others[i])) {
            return err_set(err, -ERR_INVALID,
                           "%s is not allowed for objects of jobs", others[i]);
        }
    }
    if (depth_of(rest, MANIFEST_DEPTH_MAX) > MANIFEST_DEPTH_MAX) {
        return err_set(err, -ERR_INVALID, "more than %d levels",
                       MANIFEST_DEPTH_MAX);
    }
    return manifest_is_secret(api_version, kind) ? check_secret(rest, err)
           : is_claim(api_version, kind)         ? check_claim(rest, err)
                                                 : 0;
}

static int load(struct str text, json_t **ret_json, struct err *err)
{
    json_error_t error;
    json_t *json =
        json_loadb(text.p, text.byte_count, JSON_REJECT_DUPLICATES, &error);

    if (!json_is_object(json)) {
        json_decref(json);
        return err_set(err, -ERR_INVALID,
                       "it is no JSON object of which each key is there once");
    }
    *ret_json = json;
    return 0;
}

int manifest_check_rest(struct str api_version, struct str kind,
                        struct str json, struct err *err)
{
    auto_json_t *rest = NULL;

    int rc = load(json, &rest, err);
    return rc < 0 ? rc : check_rest(api_version, kind, rest, err);
}

/* Metadata. */

static int read_pairs(const json_t *object, const char *what,
                      struct arena *arena, struct label **ret_items,
                      uint32_t *ret_count, struct err *err)
{
    json_t *pairs = json_object_get(object, what), *value;
    const char *key;

    *ret_count = 0;
    *ret_items = arena_alloc_array(arena, json_object_size(pairs) + 1,
                                   sizeof(**ret_items));
    if (pairs && !json_is_null(pairs) && !json_is_object(pairs)) {
        return err_set(err, -ERR_INVALID, "metadata.%s must be an object",
                       what);
    }
    if (json_object_size(pairs) > MANIFEST_LABELS_MAX) {
        return err_set(err, -ERR_INVALID, "metadata.%s has more than %d keys",
                       what, MANIFEST_LABELS_MAX);
    }
    json_object_foreach(pairs, key, value)
    {
        if (!kube_is_label_key(str_of(key)) || !json_is_string(value)) {
            return err_set(err, -ERR_INVALID,
                           "metadata.%s: \"%.100s\" is no key with a text",
                           what, key);
        }
        (*ret_items)[(*ret_count)++] = (struct label){
            arena_str(arena, str_of(key)), arena_str(arena, text_of(value))};
    }
    return 0;
}

static int check_labels(const struct manifest *manifest, struct err *err)
{
    for (uint32_t i = 0; i < manifest->label_count; i++) {
        if (!kube_is_label_value(manifest->labels[i].value)) {
            return err_set(err, -ERR_INVALID,
                           "metadata.labels: the value of %.*s is no label's",
                           STR_ARG(manifest->labels[i].key));
        }
    }
    return 0;
}

static int read_metadata(json_t *metadata, struct arena *arena,
                         struct manifest *manifest, struct err *err)
{
    static const char *const allowed[] = {"name", "labels", "annotations"};

    int rc =
        check_keys(metadata, "metadata", allowed, ARRAY_COUNT(allowed), err);
    manifest->name =
        arena_str(arena, text_of(json_object_get(metadata, "name")));
    if (rc == 0 && !kube_is_dns_label(manifest->name)) {
        rc = err_set(err, -ERR_INVALID,
                     "metadata.name must be 1 to %d small letters, digits and, "
                     "inside, dashes",
                     MANIFEST_NAME_BYTES_MAX);
    }
    if (rc == 0) {
        rc = read_pairs(metadata, "labels", arena, &manifest->labels,
                        &manifest->label_count, err);
    }
    if (rc == 0) {
        rc = read_pairs(metadata, "annotations", arena, &manifest->annotations,
                        &manifest->annotation_count, err);
    }
    return rc < 0 ? rc : check_labels(manifest, err);
}

/* "v1" or GROUP/VERSION, as they stand in paths. */
static bool is_api_version(struct str text)
{
    const char *slash = memchr(text.p, '/', text.byte_count);
    size_t at = slash ? (size_t)(slash - text.p) : 0;

    return slash ? kube_is_subdomain(str_make(text.p, at)) &&
                       kube_is_dns_label(
                           str_make(slash + 1, text.byte_count - at - 1))
                 : kube_is_dns_label(text);
}

static bool is_kind(struct str text)
{
    bool is_good = text.byte_count > 0 &&
                   text.byte_count <= KUBE_LABEL_BYTES_MAX &&
                   text.p[0] >= 'A' && text.p[0] <= 'Z';

    for (size_t i = 0; is_good && i < text.byte_count; i++) {
        char c = text.p[i];
        is_good = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  (c >= '0' && c <= '9');
    }
    return is_good;
}

bool manifest_is_kind(struct str api_version, struct str kind)
{
    return is_api_version(api_version) && is_kind(kind);
}

int manifest_read(struct str json, struct arena *arena,
                  struct manifest *ret_manifest, struct err *err)
{
    auto_json_t *object = NULL;

    *ret_manifest = (struct manifest){0};
    if (json.byte_count > MANIFEST_BYTES_MAX) {
        return err_set(err, -ERR_INVALID, "more than %d KiB",
                       MANIFEST_BYTES_MAX >> 10);
    }
    int rc = load(json, &object, err);
    if (rc < 0) {
        return rc;
    }
    ret_manifest->api_version =
        arena_str(arena, text_of(json_object_get(object, "apiVersion")));
    ret_manifest->kind =
        arena_str(arena, text_of(json_object_get(object, "kind")));
    if (!manifest_is_kind(ret_manifest->api_version, ret_manifest->kind)) {
        return err_set(err, -ERR_INVALID,
                       "apiVersion (v1, or GROUP/VERSION) and kind are "
                       "required");
    }
    if (!json_is_object(json_object_get(object, "metadata"))) {
        return err_set(err, -ERR_INVALID, "metadata with a name is required");
    }
    rc = read_metadata(json_object_get(object, "metadata"), arena, ret_manifest,
                       err);
    (void)json_object_del(object, "apiVersion");
    (void)json_object_del(object, "kind");
    (void)json_object_del(object, "metadata");
    if (rc == 0) {
        rc = check_rest(ret_manifest->api_version, ret_manifest->kind, object,
                        err);
    }
    if (rc == 0) {
        auto_strbuf text = strbuf_make(0);
        wire_json_text(object, &text);
        ret_manifest->json = arena_str(arena, strbuf_str(&text));
    }
    return rc;
}

struct str manifest_withhold(struct str json, struct arena *arena)
{
    static const char *const told[] = {"data", "stringData"};
    auto_json_t *object = json_loadb(json.p, json.byte_count, 0, NULL);
    auto_strbuf text = strbuf_make(0);

    if (!manifest_is_secret(text_of(json_object_get(object, "apiVersion")),
                            text_of(json_object_get(object, "kind")))) {
        return json;
    }
    for (size_t i = 0; i < ARRAY_COUNT(told); i++) {
        (void)json_object_del(object, told[i]);
    }
    wire_json_text(object, &text);
    return arena_str(arena, strbuf_str(&text));
}
