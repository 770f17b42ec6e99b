#include <yaml.h>

#include "model/quantity.h"
#include "wire/settings/settings.h"

/* Where the reader stands: a path of keys, for messages. */
struct place {
    const struct settings_reader *reader;
    yaml_document_t *document;
    struct strbuf path;
};

static struct str scalar_text(const yaml_node_t *node)
{
    return str_make(node->data.scalar.value, node->data.scalar.length);
}

/* Say where and what. */
static int fail(const struct place *place, const yaml_node_t *node,
                struct err *err, const char *what)
{
    return err_set(err, -ERR_INVALID, "%s:%zu: %s%s%s",
                   place->reader->file_name, node->start_mark.line + 1,
                   strbuf_text(&place->path),
                   place->path.byte_count > 0 ? ": " : "", what);
}

/* Step into `key`; the length to go back to. */
static size_t enter(struct place *place, struct str key)
{
    size_t before = place->path.byte_count;

    if (before > 0) {
        strbuf_add_char(&place->path, '.');
    }
    strbuf_add_str(&place->path, key);
    return before;
}

static size_t enter_item(struct place *place, size_t index)
{
    size_t before = place->path.byte_count;

    strbuf_addf(&place->path, "[%zu]", index);
    return before;
}

static void leave(struct place *place, size_t before)
{
    struct str path = strbuf_str(&place->path);
    auto_strbuf rest = {0};

    strbuf_add(&rest, path.p, before);
    strbuf_clear(&place->path);
    strbuf_add_str(&place->path, strbuf_str(&rest));
}

/* Note what is wrong, where the caller wants to hear of everything, and go on
 * as if it had not been written; otherwise it is the end. */
static int note(const struct place *place, int rc, const struct err *err)
{
    const struct settings_reader *reader = place->reader;

    if (rc < 0 && reader->errors) {
        setting_texts_add(reader->errors, SETTING_ERRORS_MAX, reader->arena,
                          str_of(err->text));
        return 0;
    }
    return rc;
}

static bool is_null(const yaml_node_t *node)
{
    struct str text;

    if (node->type != YAML_SCALAR_NODE ||
        node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        return false;
    }
    text = scalar_text(node);
    return text.byte_count == 0 || str_equal(text, STR("null")) ||
           str_equal(text, STR("~"));
}

static yaml_node_t *node_at(const struct place *place, int index)
{
    return yaml_document_get_node(place->document, index);
}

static size_t item_count(const yaml_node_t *node)
{
    return (size_t)(node->data.sequence.items.top -
                    node->data.sequence.items.start);
}

static size_t pair_count(const yaml_node_t *node)
{
    return (size_t)(node->data.mapping.pairs.top -
                    node->data.mapping.pairs.start);
}

static int read_texts(struct place *place, const yaml_node_t *node,
                      struct setting_texts *ret_texts, struct err *err)
{
    if (node->type != YAML_SEQUENCE_NODE) {
        return fail(place, node, err, "must be a list: [a, b]");
    }
    size_t count = item_count(node);
    if (count > SETTING_TEXTS_MAX) {
        return fail(place, node, err, "more than 4096 items");
    }
    struct str *items =
        arena_alloc_array(place->reader->arena, count, sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item = node_at(place, node->data.sequence.items.start[i]);
        if (item->type != YAML_SCALAR_NODE ||
            item->data.scalar.length > SETTING_TEXT_BYTES_MAX) {
            return fail(place, item, err,
                        "each item must be a text of at most 4096 bytes");
        }
        items[i] = arena_str(place->reader->arena, scalar_text(item));
    }
    *ret_texts = (struct setting_texts){items, (uint32_t)count};
    return 0;
}

/* Read the pair `index` of a map of texts. */
static int read_pair(struct place *place, const yaml_node_t *node, size_t index,
                     struct str *ret_key, struct str *ret_value,
                     struct err *err)
{
    yaml_node_pair_t pair = node->data.mapping.pairs.start[index];
    yaml_node_t *key = node_at(place, pair.key);
    yaml_node_t *value = node_at(place, pair.value);

    if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE) {
        return fail(place, key, err, "must be a map of simple values");
    }
    *ret_key = scalar_text(key);
    *ret_value = scalar_text(value);
    return 0;
}

static int bad_pair(struct place *place, const yaml_node_t *node, size_t index,
                    struct err *err, const char *wanted)
{
    yaml_node_pair_t pair = node->data.mapping.pairs.start[index];
    yaml_node_t *value = node_at(place, pair.value);
    auto_strbuf what = {0};

    size_t before = enter(place, scalar_text(node_at(place, pair.key)));
    strbuf_addf(&what, "\"%.*s\" is not %s", STR_ARG(scalar_text(value)),
                wanted);
    int rc = fail(place, value, err, strbuf_text(&what));
    leave(place, before);
    return rc;
}

static int read_amounts(struct place *place, const yaml_node_t *node,
                        struct resource_list *ret_list, struct err *err)
{
    struct resource_list list = {
        arena_alloc_array(place->reader->arena, RESOURCE_LIST_MAX,
                          sizeof(struct resource_amount)),
        0};

    if (node->type != YAML_MAPPING_NODE) {
        return fail(place, node, err, "must be a map: {cpu: 500m}");
    }
    for (size_t i = 0; i < pair_count(node); i++) {
        struct str key, value;
        int64_t milli = 0;
        int rc = read_pair(place, node, i, &key, &value, err);
        if (rc < 0) {
            return rc;
        }
        if (quantity_parse(value, &milli) < 0 || milli < 0) {
            return bad_pair(place, node, i, err,
                            "a quantity such as 500m or 4Gi");
        }
        key = arena_str(place->reader->arena, key);
        if (resource_list_add(&list, key, milli) < 0) {
            return fail(place, node, err, "more than 64 resources");
        }
    }
    *ret_list = list;
    return 0;
}

static void fractions_add(struct setting_fractions *fractions, struct str name,
                          int64_t ppm)
{
    uint32_t at = fractions->count++;

    for (; at > 0 && str_compare(fractions->items[at - 1].resource, name) > 0;
         at--) {
        fractions->items[at] = fractions->items[at - 1];
    }
    fractions->items[at] = (struct resource_fraction){name, ppm};
}

static int read_fractions(struct place *place, const yaml_node_t *node,
                          struct setting_fractions *ret_fractions,
                          struct err *err)
{
    struct setting_fractions fractions = {.count = 0};

    if (node->type != YAML_MAPPING_NODE) {
        return fail(place, node, err, "must be a map: {cpu: 0.5}");
    }
    if (pair_count(node) > POLICY_FRACTIONS_MAX) {
        return fail(place, node, err, "more than 16 resources");
    }
    for (size_t i = 0; i < pair_count(node); i++) {
        struct str key, value;
        int64_t ppm = 0;
        int rc = read_pair(place, node, i, &key, &value, err);
        if (rc < 0) {
            return rc;
        }
        if (setting_parse_ppm(value, &ppm) < 0 || ppm < 0 ||
            ppm > 1000 * (int64_t)FRACTION_ONE_PPM) {
            return bad_pair(place, node, i, err, "a number from 0 to 1000");
        }
        fractions_add(&fractions, arena_str(place->reader->arena, key), ppm);
    }
    *ret_fractions = fractions;
    return 0;
}

static int read_record(struct place *place, const struct settings *table,
                       const yaml_node_t *node, void *record, struct err *err);

static int read_records(struct place *place, const struct setting *setting,
                        const yaml_node_t *node, void *record, struct err *err)
{
    const struct settings *table = setting->table;
    void *field = (char *)record + setting->offset;
    char *items = field;
    uint32_t *count =
        (uint32_t *)(void *)((char *)record + setting->count_offset);

    if (node->type != YAML_SEQUENCE_NODE) {
        return fail(place, node, err, "must be a list");
    }
    if (item_count(node) > setting->count_max) {
        auto_strbuf what = {0};
        strbuf_addf(&what, "more than %u items", setting->count_max);
        return fail(place, node, err, strbuf_text(&what));
    }
    *count = (uint32_t)item_count(node);
    if (setting->is_pointer) {
        items = arena_alloc_array(place->reader->arena, *count,
                                  table->record_bytes);
        memcpy(field, &items, sizeof(items));
    }
    for (size_t i = 0; i < *count; i++) {
        void *item = items + i * table->record_bytes;
        size_t before = enter_item(place, i);
        memset(item, 0, table->record_bytes);
        if (table->init) {
            table->init(item);
        }
        int rc = read_record(place, table,
                             node_at(place, node->data.sequence.items.start[i]),
                             item, err);
        rc = note(place, rc, err);
        leave(place, before);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int read_scalar(struct place *place, const struct setting *setting,
                       const yaml_node_t *node, void *record, struct err *err)
{
    struct err why;

    if (node->type != YAML_SCALAR_NODE) {
        return fail(place, node, err, "must be a single value");
    }
    int rc = setting_read_scalar(setting, scalar_text(node),
                                 place->reader->arena, record, &why);
    return rc < 0 ? fail(place, node, err, why.text) : 0;
}

static int read_value(struct place *place, const struct setting *setting,
                      const yaml_node_t *node, void *record, struct err *err)
{
    void *value = (char *)record + setting->offset;

    switch (setting->type) {
    case SETTING_TEXTS:
        return read_texts(place, node, value, err);
    case SETTING_AMOUNTS:
        return read_amounts(place, node, value, err);
    case SETTING_FRACTIONS:
        return read_fractions(place, node, value, err);
    case SETTING_RECORD:
        return read_record(place, setting->table, node, value, err);
    case SETTING_RECORDS:
        return read_records(place, setting, node, record, err);
    case SETTING_BOOL:
    case SETTING_INT:
    case SETTING_DURATION:
    case SETTING_BYTES:
    case SETTING_PPM:
    case SETTING_MILLI:
    case SETTING_QUANTITY:
    case SETTING_TEXT:
        return read_scalar(place, setting, node, record, err);
    }
    ASSERT(!"a type without a reader");
    return -ERR_INVALID;
}

static bool is_old_name(const struct setting *setting, struct str key)
{
    return setting->old_key && str_equal(str_of(setting->old_key), key);
}

static const struct setting *find(const struct settings *table, struct str key)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct setting *setting = &table->items[i];
        if (str_equal(str_of(setting->key), key) || is_old_name(setting, key)) {
            return setting;
        }
    }
    return NULL;
}

/* How many letters `key` is from the name of `setting`, or from the old one. */
static uint32_t distance_to(const struct setting *setting, struct str key)
{
    uint32_t distance = settings_distance(key, str_of(setting->key));

    if (setting->old_key) {
        uint32_t old = settings_distance(key, str_of(setting->old_key));
        distance = old < distance ? old : distance;
    }
    return distance;
}

/* Refuse a key that is not in the table, naming the nearest that is. */
static int unknown_key(struct place *place, const struct settings *table,
                       const yaml_node_t *key, struct err *err)
{
    const struct setting *nearest = NULL;
    uint32_t least = UINT32_MAX;
    auto_strbuf what = {0};

    for (size_t i = 0; i < table->count; i++) {
        uint32_t distance = distance_to(&table->items[i], scalar_text(key));
        if (distance < least) {
            least = distance;
            nearest = &table->items[i];
        }
    }
    size_t before = enter(place, scalar_text(key));
    strbuf_add_text(&what, "unknown key");
    if (nearest) {
        strbuf_addf(&what, "; did you mean %s?", nearest->key);
    }
    int rc = fail(place, key, err, strbuf_text(&what));
    leave(place, before);
    return rc;
}

/* Refuse a key that the map has before pair `index`, by either name. */
static int check_repeated(struct place *place, const struct setting *setting,
                          const yaml_node_t *node, size_t index,
                          struct err *err)
{
    const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
    const yaml_node_t *key = node_at(place, pairs[index].key);

    for (size_t i = 0; i < index; i++) {
        struct str earlier = scalar_text(node_at(place, pairs[i].key));
        if (str_equal(earlier, scalar_text(key))) {
            return fail(place, key, err, "given twice");
        }
        if (str_equal(earlier, str_of(setting->key)) ||
            is_old_name(setting, earlier)) {
            auto_strbuf what = {0};
            strbuf_addf(&what, "given twice: %s is the old name of %s; keep %s",
                        setting->old_key, setting->key, setting->key);
            return fail(place, key, err, strbuf_text(&what));
        }
    }
    return 0;
}

/* Name the new key to a user who wrote the old one. */
static void warn_of_old_name(const struct place *place,
                             const struct setting *setting,
                             const yaml_node_t *key)
{
    struct setting_texts *warnings = place->reader->warnings;
    auto_strbuf text = {0};

    if (!warnings || !is_old_name(setting, scalar_text(key))) {
        return;
    }
    strbuf_addf(&text,
                "%s:%zu: %s: this key is now called %s; the next release "
                "refuses the old name",
                place->reader->file_name, key->start_mark.line + 1,
                strbuf_text(&place->path), setting->key);
    setting_texts_add(warnings, SETTING_WARNINGS_MAX, place->reader->arena,
                      strbuf_str(&text));
}

static int check_required(struct place *place, const struct settings *table,
                          const yaml_node_t *node, const bool *is_seen,
                          struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < table->count; i++) {
        if (table->items[i].is_required && !is_seen[i]) {
            size_t before = enter(place, str_of(table->items[i].key));
            rc = note(place, fail(place, node, err, "must be given"), err);
            leave(place, before);
        }
    }
    return rc;
}

enum { TABLE_KEYS_MAX = 64 };

static int read_key(struct place *place, const struct settings *table,
                    const yaml_node_t *node, size_t index, void *record,
                    bool *is_seen, struct err *err)
{
    yaml_node_pair_t pair = node->data.mapping.pairs.start[index];
    yaml_node_t *key = node_at(place, pair.key);
    yaml_node_t *value = node_at(place, pair.value);

    if (key->type != YAML_SCALAR_NODE) {
        return fail(place, key, err, "a key must be a text");
    }
    const struct setting *setting = find(table, scalar_text(key));
    if (!setting) {
        return unknown_key(place, table, key, err);
    }
    size_t before = enter(place, scalar_text(key));
    int rc = check_repeated(place, setting, node, index, err);
    if (rc == 0) {
        warn_of_old_name(place, setting, key);
    }
    if (rc == 0 && !is_null(value)) {
        is_seen[setting - table->items] = true;
        rc = read_value(place, setting, value, record, err);
    }
    leave(place, before);
    return rc;
}

static int read_record(struct place *place, const struct settings *table,
                       const yaml_node_t *node, void *record, struct err *err)
{
    bool is_seen[TABLE_KEYS_MAX] = {false};

    ASSERT(table->count <= TABLE_KEYS_MAX);
    if (node->type != YAML_MAPPING_NODE) {
        return fail(place, node, err, "must be a map of keys to values");
    }
    if (pair_count(node) > TABLE_KEYS_MAX) {
        return fail(place, node, err, "too many keys");
    }
    for (size_t i = 0; i < pair_count(node); i++) {
        int rc = read_key(place, table, node, i, record, is_seen, err);
        if (note(place, rc, err) < 0) {
            return rc;
        }
    }
    return check_required(place, table, node, is_seen, err);
}

static int read_document(const struct settings *table, yaml_parser_t *parser,
                         const struct settings_reader *reader, void *record,
                         struct err *err)
{
    yaml_document_t document;

    if (!yaml_parser_load(parser, &document)) {
        return err_set(err, -ERR_INVALID, "%s:%zu: %s", reader->file_name,
                       parser->problem_mark.line + 1,
                       parser->problem ? parser->problem : "not YAML");
    }
    struct place place = {reader, &document, {0}};
    yaml_node_t *root = yaml_document_get_root_node(&document);
    int rc = root && !is_null(root)
                 ? read_record(&place, table, root, record, err)
                 : 0;
    strbuf_fini(&place.path);
    yaml_document_delete(&document);
    return rc;
}

/* Where all that is wrong is noted, an error is the first of it. */
static int first_of(const struct settings_reader *reader, int rc,
                    struct err *err)
{
    if (!reader->errors) {
        return rc;
    }
    if (rc < 0) {
        setting_texts_add(reader->errors, SETTING_ERRORS_MAX, reader->arena,
                          str_of(err->text));
    }
    return reader->errors->count > 0
               ? err_set(err, -ERR_INVALID, "%.*s",
                         STR_ARG(reader->errors->items[0]))
               : 0;
}

int settings_read(const struct settings *table, struct str text,
                  const struct settings_reader *reader, void *record,
                  struct err *err)
{
    yaml_parser_t parser;

    if (text.byte_count > SETTINGS_BYTES_MAX) {
        return first_of(reader,
                        err_set(err, -ERR_INVALID, "%s: longer than 16 MiB",
                                reader->file_name),
                        err);
    }
    if (!yaml_parser_initialize(&parser)) {
        return err_set(err, -ERR_IO, "no memory for a YAML parser");
    }
    yaml_parser_set_input_string(&parser,
                                 (const unsigned char *)(text.p ? text.p : ""),
                                 text.byte_count);
    int rc = read_document(table, &parser, reader, record, err);
    yaml_parser_delete(&parser);
    return first_of(reader, rc, err);
}
