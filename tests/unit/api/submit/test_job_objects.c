/*
 * Objects that an item brings beside its pod.
 */
#include "api/submit/job_objects.h"
#include "sample.h"
#include "unit.h"
#include "wire/kube/manifest.h"
#include "wire/message/message.h"

static const struct object_owner owner = {"01j", "q", "s", "amy"};

static void add(struct arena *arena, Berth__Submission__Item *item,
                const char *json)
{
    K8s__Io__Apimachinery__Pkg__Runtime__RawExtension *raw = wire_new(
        &k8s__io__apimachinery__pkg__runtime__raw_extension__descriptor, arena);

    if (!item->objects) {
        item->objects =
            arena_alloc_array(arena, MANIFESTS_MAX + 1, sizeof(*item->objects));
    }
    raw->has_raw = true;
    raw->raw.data = (uint8_t *)arena_strdup(arena, str_of(json));
    raw->raw.len = strlen(json);
    item->objects[item->n_objects++] = raw;
}

#define CONFIG_MAP                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," \
    "\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"v\"}}"
#define SECRET                                                \
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\","             \
    "\"metadata\":{\"name\":\"c\",\"labels\":{\"l\":\"1\"}}," \
    "\"data\":{\"k\":\"dg==\"}}"

static void objects_come_with_whose_they_are(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    struct refusal refusal;
    uint32_t count;

    (void)state;
    add(&arena, item, CONFIG_MAP);
    add(&arena, item, SECRET);
    assert_int_equal(job_objects_check(item, &refusal), 0);
    Armadaevents__KubernetesObject **objects =
        job_objects_make(item, &owner, &arena, &count);
    assert_int_equal(count, 2);
    assert_int_equal(objects[0]->object_case,
                     ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP);
    assert_string_equal(objects[0]->configmap->data[0]->value, "v");
    assert_string_equal(objects[1]->manifest->kind, "Secret");
    assert_string_equal(objects[1]->manifest->json,
                        "{\"data\":{\"k\":\"dg==\"}}");
    assert_string_equal(objects[1]->objectmeta->name, "c");
    assert_int_equal(objects[1]->objectmeta->n_labels, 3);
    assert_string_equal(objects[1]->objectmeta->labels[1]->key,
                        "armada_job_id");
    assert_string_equal(objects[1]->objectmeta->labels[1]->value, "01j");
}

static void assert_refused(Berth__Submission__Item *item, const char *words)
{
    struct refusal refusal;

    assert_int_equal(job_objects_check(item, &refusal), -ERR_INVALID);
    assert_non_null(strstr(refusal.text, words));
}

static void what_is_no_object_is_refused(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    add(&arena, item, SECRET);
    add(&arena, item, "[]");
    assert_refused(item, "objects[1]: ");
    item->n_objects = 1;
    add(&arena, item, SECRET);
    assert_refused(item, "objects[1]: there is another Secret c");
    item->n_objects = 0;
    add(&arena, item,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
        "\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":1}}");
    assert_refused(item, "objects[0]: data");
    item->n_objects = 0;
    for (int i = 0; i <= MANIFESTS_MAX; i++) {
        add(&arena, item, SECRET);
    }
    assert_refused(item, "more than the 32 allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_come_with_whose_they_are),
        cmocka_unit_test(what_is_no_object_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
