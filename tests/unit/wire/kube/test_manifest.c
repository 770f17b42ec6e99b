/*
 * manifest: what a job may bring beside its pod, and what it may not.
 */
#include "unit.h"
#include "wire/kube/manifest.h"

static const char *refused(struct arena *arena, const char *json)
{
    struct manifest manifest;
    struct err err;

    assert_int_equal(manifest_read(str_of(json), arena, &manifest, &err),
                     -ERR_INVALID);
    return arena_strdup(arena, str_of(err.text));
}

static void a_manifest_is_parted_from_its_metadata(void **state)
{
    auto_arena arena = {0};
    struct manifest manifest;
    struct err err;

    (void)state;
    int rc = manifest_read(
        STR("{\"spec\":{\"b\":1,\"a\":[]},\"kind\":\"Widget\","
            "\"apiVersion\":\"example.com/v1\",\"metadata\":{\"name\":\"w\","
            "\"labels\":{\"l\":\"1\"},\"annotations\":{\"x/a\":\"two "
            "words\"}}}"),
        &arena, &manifest, &err);
    assert_int_equal(rc, 0);
    assert_true(str_equal(manifest.api_version, STR("example.com/v1")));
    assert_true(str_equal(manifest.kind, STR("Widget")));
    assert_true(str_equal(manifest.name, STR("w")));
    assert_true(str_equal(manifest.json, STR("{\"spec\":{\"a\":[],\"b\":1}}")));
    assert_int_equal(manifest.label_count, 1);
    assert_true(str_equal(manifest.labels[0].value, STR("1")));
    assert_int_equal(manifest.annotation_count, 1);
    assert_true(str_equal(manifest.annotations[0].key, STR("x/a")));
}

#define OBJECT(metadata, rest)                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"metadata\":{" metadata \
    "}" rest "}"

static void what_only_kubernetes_writes_is_refused(void **state)
{
    static const struct {
        const char *json, *word;
    } all[] = {
        {"nonsense", "no JSON object"},
        {"{\"kind\":\"A\",\"kind\":\"B\"}", "no JSON object"},
        {"{\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"}}", "apiVersion"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"../pods\",\"metadata\":{}}",
         "kind"},
        {"{\"apiVersion\":\"a/b/c\",\"kind\":\"K\",\"metadata\":{}}",
         "apiVersion"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Thing\"}", "metadata"},
        {OBJECT("", ""), "metadata.name"},
        {OBJECT("\"name\":\"A\"", ""), "metadata.name"},
        {OBJECT("\"name\":\"../a\"", ""), "metadata.name"},
        {OBJECT("\"name\":\"a\",\"namespace\":\"kube-system\"", ""),
         "metadata.namespace"},
        {OBJECT("\"name\":\"a\",\"finalizers\":[\"x\"]", ""),
         "metadata.finalizers"},
        {OBJECT("\"name\":\"a\",\"ownerReferences\":[]", ""),
         "metadata.ownerReferences"},
        {OBJECT("\"name\":\"a\",\"labels\":{\"l\":\"no label\"}", ""),
         "metadata.labels"},
        {OBJECT("\"name\":\"a\",\"annotations\":{\"k\":1}", ""),
         "metadata.annotations"},
        {OBJECT("\"name\":\"a\"", ",\"status\":{}"), "status"},
    };
    auto_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        assert_non_null(strstr(refused(&arena, all[i].json), all[i].word));
    }
}

static int check(const char *kind, const char *rest)
{
    struct err err;

    return manifest_check_rest(STR("v1"), str_of(kind), str_of(rest), &err);
}

static void secrets_are_none_that_kubernetes_fills(void **state)
{
    (void)state;
    assert_int_equal(check("Secret", "{\"data\":{\"k\":\"dg==\"}}"), 0);
    assert_int_equal(check("Secret", "{\"type\":\"kubernetes.io/tls\"}"), 0);
    assert_int_equal(
        check("Secret", "{\"type\":\"kubernetes.io/service-account-token\"}"),
        -ERR_INVALID);
    assert_int_equal(check("Secret", "{\"type\":\"bootstrap.kubernetes.io/"
                                     "token\"}"),
                     -ERR_INVALID);
    assert_int_equal(check("Secret", "{\"type\":[]}"), -ERR_INVALID);
    assert_int_equal(check("Secret", "{\"metadata\":{}}"), -ERR_INVALID);
    assert_int_equal(check("Secret", "{\"m\\u0065tadata\":{}}"), -ERR_INVALID);
}

static void claims_ask_for_new_room(void **state)
{
    (void)state;
    assert_int_equal(
        check("PersistentVolumeClaim",
              "{\"spec\":{\"accessModes\":[],\"resources\":{},"
              "\"storageClassName\":\"s\",\"volumeMode\":\"Block\"}}"),
        0);
    assert_int_equal(check("PersistentVolumeClaim", "{}"), -ERR_INVALID);
    assert_int_equal(
        check("PersistentVolumeClaim", "{\"spec\":{\"volumeName\":\"v\"}}"),
        -ERR_INVALID);
    assert_int_equal(
        check("PersistentVolumeClaim", "{\"spec\":{\"dataSourceRef\":{}}}"),
        -ERR_INVALID);
}

static void sizes_and_depths_have_bounds(void **state)
{
    auto_arena arena = {0};
    auto_strbuf deep = {0}, wide = {0};

    (void)state;
    strbuf_add_text(&deep, "{\"a\":");
    for (int i = 0; i < MANIFEST_DEPTH_MAX; i++) {
        strbuf_add_char(&deep, '[');
    }
    for (int i = 0; i < MANIFEST_DEPTH_MAX; i++) {
        strbuf_add_char(&deep, ']');
    }
    strbuf_add_char(&deep, '}');
    assert_int_equal(check("Thing", strbuf_text(&deep)), -ERR_INVALID);
    for (int i = 0; i <= MANIFEST_BYTES_MAX; i++) {
        strbuf_add_char(&wide, ' ');
    }
    assert_non_null(strstr(refused(&arena, strbuf_text(&wide)), "64 KiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manifest_is_parted_from_its_metadata),
        cmocka_unit_test(what_only_kubernetes_writes_is_refused),
        cmocka_unit_test(secrets_are_none_that_kubernetes_fills),
        cmocka_unit_test(claims_ask_for_new_room),
        cmocka_unit_test(sizes_and_depths_have_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
