#include "wire/kube/pool_codec.h"

#include <stdlib.h>

#include "wire/json/json.h"
#include "wire/kube/entries.h"
#include "wire/message/message.h"

static const char *const operator_words[] = {
    [AFFINITY_IN] = "In",
    [AFFINITY_NOT_IN] = "NotIn",
    [AFFINITY_EXISTS] = "Exists",
    [AFFINITY_DOES_NOT_EXIST] = "DoesNotExist",
};

int pool_operator(struct str word, enum affinity_operator *ret_operator)
{
    for (uint32_t i = AFFINITY_IN; i < ARRAY_COUNT(operator_words); i++) {
        if (str_equal(word, str_of(operator_words[i]))) {
            *ret_operator = (enum affinity_operator)i;
            return 0;
        }
    }
    return -ERR_INVALID;
}

int pool_order(struct str word, enum preemption_order *ret_order)
{
    if (!word.byte_count || str_equal(word, STR("preempt-first"))) {
        *ret_order = PREEMPT_FIRST;
        return 0;
    }
    *ret_order = BORROW_FIRST;
    return str_equal(word, STR("borrow-first")) ? 0 : -ERR_INVALID;
}

/* Records. */

static int read_expressions(const Berth__Api__LabelSelector *selector,
                            struct arena *arena, struct pool_record *record,
                            struct err *err)
{
    size_t count = selector->n_match_expressions;
    struct affinity_expression *items =
        arena_alloc_array(arena, count, sizeof(*items));

    for (size_t i = 0; i < count; i++) {
        const Berth__Api__LabelExpression *from =
            selector->match_expressions[i];
        items[i] = (struct affinity_expression){
            .key = str_of(from->key),
            .values = entries_names(from->values, from->n_values, arena),
            .value_count = (uint32_t)from->n_values,
        };
        if (pool_operator(str_of(from->operator_), &items[i].op) < 0) {
            return err_set(err, -ERR_INVALID, "pool %s: an unknown operator",
                           record->name.p);
        }
    }
    record->expressions = items;
    record->expression_count = (uint32_t)count;
    return 0;
}

int pool_record_of(const Berth__Api__Pool *pool, struct arena *arena,
                   struct pool_record *ret_record, struct err *err)
{
    const Berth__Api__LabelSelector *selector = pool->node_selector;
    struct pool_record record = {
        .name = str_of(pool->name),
        .has_selector = selector != NULL,
        .is_preemption_off = pool->disable_preemption,
        .is_borrowing_off = pool->disable_borrowing,
        .is_sharing_off = pool->disable_sharing,
        .lenders = entries_names(pool->borrowing_pools, pool->n_borrowing_pools,
                                 arena),
        .lender_count = (uint32_t)pool->n_borrowing_pools,
    };
    int rc = 0;

    if (selector) {
        record.labels =
            entries_labels(selector->match_labels, selector->n_match_labels,
                           arena, &record.label_count);
        rc = read_expressions(selector, arena, &record, err);
    }
    if (rc == 0 && pool_order(str_of(pool->preemption_order),
                              &record.preemption_order) < 0) {
        rc = err_set(err, -ERR_INVALID, "pool %s: an unknown preemptionOrder",
                     pool->name);
    }
    if (rc == 0) {
        *ret_record = record;
    }
    return rc;
}

int pool_decode(struct str encoded, struct arena *arena,
                struct pool_record *ret_record, struct err *err)
{
    ProtobufCMessage *message;

    int rc = wire_decode(&berth__api__pool__descriptor, encoded,
                         &wire_request_limits, arena, &message, err);
    return rc < 0 ? rc
                  : pool_record_of((Berth__Api__Pool *)(void *)message, arena,
                                   ret_record, err);
}

static char **texts_of(const struct str *items, uint32_t count,
                       struct arena *arena)
{
    char **texts = arena_alloc_array(arena, count, sizeof(*texts));

    for (uint32_t i = 0; i < count; i++) {
        texts[i] = arena_strdup(arena, items[i]);
    }
    return texts;
}

static Berth__Api__LabelExpression *
expression_message(const struct affinity_expression *from, struct arena *arena)
{
    Berth__Api__LabelExpression *to =
        wire_new(&berth__api__label_expression__descriptor, arena);

    ASSERT(from->op < ARRAY_COUNT(operator_words) && operator_words[from->op]);
    to->key = arena_strdup(arena, from->key);
    to->operator_ = arena_strdup(arena, str_of(operator_words[from->op]));
    to->values = texts_of(from->values, from->value_count, arena);
    to->n_values = from->value_count;
    return to;
}

static Berth__Api__LabelSelector *
selector_message(const struct pool_record *record, struct arena *arena)
{
    Berth__Api__LabelSelector *selector =
        wire_new(&berth__api__label_selector__descriptor, arena);

    selector->n_match_labels = record->label_count;
    selector->match_labels = entries_make_labels(
        record->labels, record->label_count,
        &berth__api__label_selector__match_labels_entry__descriptor, arena);
    selector->n_match_expressions = record->expression_count;
    selector->match_expressions = arena_alloc_array(
        arena, record->expression_count, sizeof(*selector->match_expressions));
    for (uint32_t i = 0; i < record->expression_count; i++) {
        selector->match_expressions[i] =
            expression_message(&record->expressions[i], arena);
    }
    return selector;
}

Berth__Api__Pool *pool_message_of(const struct pool_record *record,
                                  struct arena *arena)
{
    Berth__Api__Pool *pool = wire_new(&berth__api__pool__descriptor, arena);

    pool->name = arena_strdup(arena, record->name);
    if (record->has_selector) {
        pool->node_selector = selector_message(record, arena);
    }
    pool->disable_preemption = record->is_preemption_off;
    pool->disable_borrowing = record->is_borrowing_off;
    pool->disable_sharing = record->is_sharing_off;
    pool->borrowing_pools =
        texts_of(record->lenders, record->lender_count, arena);
    pool->n_borrowing_pools = record->lender_count;
    if (record->preemption_order == BORROW_FIRST) {
        pool->preemption_order = arena_strdup(arena, STR("borrow-first"));
    }
    return pool;
}

/* Resources. */

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static int check_kind(const json_t *resource, struct err *err)
{
    const char *version = text_at(resource, "apiVersion");

    if (strcmp(version, POOL_API_VERSION) != 0) {
        return err_set(err, -ERR_INVALID,
                       "apiVersion: a pool's is " POOL_API_VERSION
                       ", not \"%.128s\"",
                       version);
    }
    if (strcmp(text_at(resource, "kind"), POOL_KIND) != 0) {
        return err_set(err, -ERR_INVALID,
                       "kind: it is " POOL_KIND ", not \"%.128s\"",
                       text_at(resource, "kind"));
    }
    return 0;
}

static int check_keys(const json_t *resource, struct err *err)
{
    static const char *const known[] = {"apiVersion", "kind", "metadata",
                                        "spec", "status"};
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)resource, key, value)
    {
        bool is_known = false;
        for (size_t i = 0; i < ARRAY_COUNT(known) && !is_known; i++) {
            is_known = strcmp(key, known[i]) == 0;
        }
        if (!is_known) {
            return err_set(err, -ERR_INVALID, "%.128s: unknown key", key);
        }
    }
    return 0;
}

static int read_name(const json_t *resource, struct arena *arena,
                     char **ret_name, struct err *err)
{
    const json_t *metadata = json_object_get(resource, "metadata");
    const json_t *name = json_object_get(metadata, "name");

    if (metadata && !json_is_object(metadata)) {
        return err_set(err, -ERR_INVALID, "metadata: must be a map");
    }
    if (name && !json_is_string(name) && !json_is_null(name)) {
        return err_set(err, -ERR_INVALID,
                       "metadata.name: must be a text: write it in quotes");
    }
    *ret_name = arena_strdup(arena, str_of(text_at(metadata, "name")));
    return 0;
}

int pool_resource_read(const json_t *resource, struct arena *arena,
                       Berth__Api__Pool **ret_pool, struct err *err)
{
    static const char *const unused[] = {"supportResources", "weight", "quota",
                                         "priorities", "priority"};
    const json_t *given = json_object_get(resource, "spec");
    ProtobufCMessage *message;
    struct err inner;
    char *name = NULL;

    int rc = check_kind(resource, err);
    rc = rc < 0 ? rc : check_keys(resource, err);
    rc = rc < 0 ? rc : read_name(resource, arena, &name, err);
    if (rc < 0) {
        return rc;
    }
    if (given && !json_is_object(given) && !json_is_null(given)) {
        return err_set(err, -ERR_INVALID, "spec: must be a map");
    }
    auto_json_t *spec = json_is_object(given)
                            ? json_copy((json_t *)(uintptr_t)given)
                            : json_object();
    for (size_t i = 0; i < ARRAY_COUNT(unused); i++) {
        (void)json_object_del(spec, unused[i]);
    }
    if (json_object_get(spec, "name")) {
        return err_set(err, -ERR_INVALID,
                       "spec.name: a pool's name is metadata.name");
    }
    if (wire_json_read(&berth__api__pool__descriptor, spec, WIRE_JSON_STRICT,
                       arena, &message, &inner) < 0) {
        return err_set(err, -ERR_INVALID, "spec: %.400s", inner.text);
    }
    Berth__Api__Pool *pool = (void *)message;
    pool->name = name;
    *ret_pool = pool;
    return 0;
}

json_t *pool_resource_write(const Berth__Api__Pool *pool)
{
    json_t *spec = wire_json_write(&pool->base, 0);

    (void)json_object_del(spec, "name");
    (void)json_object_set_new(spec, "disablePreemption",
                              json_boolean(pool->disable_preemption));
    (void)json_object_set_new(spec, "disableBorrowing",
                              json_boolean(pool->disable_borrowing));
    (void)json_object_set_new(spec, "disableSharing",
                              json_boolean(pool->disable_sharing));
    return json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", POOL_API_VERSION,
                     "kind", POOL_KIND, "metadata", "name", pool->name, "spec",
                     spec);
}
