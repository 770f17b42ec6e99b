/* Pools as YAML: what is a pool is one still when it comes back. */
#include "fuzz.h"
#include "wire/json/json.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"
#include "wire/yaml/yaml.h"

static void come_back(const Berth__Api__Pool *pool, struct arena *arena)
{
    struct str bytes = wire_encode_arena(&pool->base, arena);
    struct pool_record record;
    Berth__Api__Pool *again;
    struct err err;

    int rc = pool_decode(bytes, arena, &record, &err);
    ASSERT(rc == 0);
    again = pool_message_of(&record, arena);
    rc = pool_check(again, &err);
    ASSERT(rc == 0);
    auto_json_t *resource = pool_resource_write(again);
    rc = pool_resource_read(resource, arena, &again, &err);
    ASSERT(rc == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_json_t *document = NULL;
    auto_arena arena = {0};
    Berth__Api__Pool *pool;
    struct err err = {{0}};

    if (wire_yaml_read_first(str_make(bytes, byte_count), &document, &err) <
        0) {
        return 0;
    }
    if (pool_resource_read(document, &arena, &pool, &err) < 0 ||
        pool_check(pool, &err) < 0) {
        ASSERT(err.text[0]);
        return 0;
    }
    come_back(pool, &arena);
    return 0;
}
