/*
 * The JSON Schema of a message (src/wire/json/json.h): the keys and kinds of
 * what wire_json_write() makes of it.
 */
#include "armada/retry.pb-c.h"
#include "berth/api.pb-c.h"
#include "k8s/core.pb-c.h"
#include "unit.h"
#include "wire/json/json.h"

/* The definition of a message among those that its schema needs. */
static json_t *definition(const ProtobufCMessageDescriptor *type, json_t *defs)
{
    auto_json_t *schema = wire_json_schema(type, defs);
    const char *at = json_string_value(json_object_get(schema, "$ref"));

    assert_non_null(at);
    assert_int_equal(strncmp(at, "#/$defs/", 8), 0);
    json_t *made = json_object_get(defs, at + 8);
    assert_non_null(made);
    return json_object_get(made, "properties");
}

static void assert_is(json_t *properties, const char *key, const char *wanted)
{
    auto_json_t *json = json_loads(wanted, JSON_DECODE_ANY, NULL);

    assert_non_null(json);
    assert_true(json_equal(json_object_get(properties, key), json));
}

static void fields_are_called_and_typed_as_written(void **state)
{
    auto_json_t *defs = json_object();
    json_t *job = definition(&berth__api__job_summary__descriptor, defs);
    (void)state;

    assert_is(job, "jobId", "{\"type\": \"string\"}");
    assert_is(job, "runCount", "{\"type\": \"integer\", \"minimum\": 0}");
    assert_is(job, "submitted",
              "{\"type\": \"string\", \"format\": \"date-time\"}");
    assert_is(job, "admitted", "{\"type\": \"boolean\"}");
    assert_is(job, "array", "{\"$ref\": \"#/$defs/berth.api.JobCounts\"}");
    assert_non_null(json_object_get(defs, "berth.api.JobCounts"));
}

static void enums_are_the_names_that_are_written(void **state)
{
    auto_json_t *defs = json_object();
    json_t *rule = definition(&api__retry_rule__descriptor, defs);
    (void)state;

    json_t *names = json_object_get(
        json_array_get(
            json_object_get(json_object_get(rule, "action"), "anyOf"), 0),
        "enum");
    assert_true(json_array_size(names) > 0);
    assert_null(strstr(json_string_value(json_array_get(names, 0)), "RETRY_"));
}

/* Maps, quantities, and what Kubernetes inlines. */
static void kubernetes_types_are_as_kubernetes_has_them(void **state)
{
    auto_json_t *defs = json_object();
    json_t *need = definition(
        &k8s__io__api__core__v1__resource_requirements__descriptor, defs);
    json_t *volume =
        definition(&k8s__io__api__core__v1__volume__descriptor, defs);
    (void)state;

    assert_is(need, "limits",
              "{\"type\": \"object\","
              " \"additionalProperties\": {\"type\": \"string\"}}");
    assert_non_null(json_object_get(volume, "emptyDir"));
    assert_null(json_object_get(volume, "volumeSource"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_called_and_typed_as_written),
        cmocka_unit_test(enums_are_the_names_that_are_written),
        cmocka_unit_test(kubernetes_types_are_as_kubernetes_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
