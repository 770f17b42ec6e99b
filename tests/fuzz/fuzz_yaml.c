/* YAML files. */
#include "fuzz.h"
#include "wire/json/json.h"
#include "wire/yaml/yaml.h"

static void check(const json_t *document)
{
    auto_strbuf text = {0};
    json_t *again;

    wire_yaml_write(document, &text);
    int rc = wire_yaml_read_first(strbuf_str(&text), &again, NULL);
    /* Aliases are written out, which may pass the bound on values. */
    ASSERT(rc == 0 || rc == -ERR_LIMIT);
    if (rc == 0) {
        ASSERT(json_equal(document, again));
        json_decref(again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    json_t *documents;
    struct err err = {{0}};

    if (wire_yaml_read(str_make(bytes, byte_count), &documents, &err) < 0) {
        ASSERT(err.text[0]);
        return 0;
    }
    for (size_t i = 0; i < json_array_size(documents); i++) {
        check(json_array_get(documents, i));
    }
    json_decref(documents);
    return 0;
}
