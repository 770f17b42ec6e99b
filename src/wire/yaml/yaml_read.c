#include <yaml.h>

#include "base/vec.h"
#include "wire/text/utf8.h"
#include "wire/text/yaml_scalar.h"
#include "wire/yaml/yaml.h"

/* A value with a name, for aliases. */
struct anchor {
    char *name;         /* owned */
    json_t *value;      /* owned; NULL while it is being read */
    size_t value_count; /* it and all below it, aliases expanded */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one in hand */
    bool has_event;
    VEC(struct anchor) anchors;
    size_t value_count; /* so far, in all documents */
    size_t depth;
    int code; /* of the error, once there is one */
    struct err *err;
};

/* Read the value that the event in hand begins; NULL after an error. */
static json_t *read_node(struct reader *reader);

static size_t line_of(const struct reader *reader)
{
    return reader->event.start_mark.line + 1;
}

static json_t *refuse_as(struct reader *reader, int code, const char *what)
{
    reader->code =
        err_set(reader->err, code, "line %zu: %s", line_of(reader), what);
    return NULL;
}

static json_t *refuse(struct reader *reader, const char *what)
{
    return refuse_as(reader, -ERR_INVALID, what);
}

static bool next_event(struct reader *reader)
{
    if (reader->has_event) {
        yaml_event_delete(&reader->event);
        reader->has_event = false;
    }
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        const yaml_parser_t *parser = &reader->parser;
        reader->code = err_set(
            reader->err, -ERR_INVALID, "line %zu: %s%s%s",
            parser->problem_mark.line + 1,
            parser->context ? parser->context : "", parser->context ? ": " : "",
            parser->problem ? parser->problem : "does not parse");
        return false;
    }
    reader->has_event = true;
    return true;
}

static bool count_values(struct reader *reader, size_t count)
{
    reader->value_count += count;
    if (reader->value_count > WIRE_YAML_VALUES_MAX) {
        (void)refuse_as(reader, -ERR_LIMIT, "too many values");
        return false;
    }
    return true;
}

/* Anchors and aliases. */

static void forget_anchors(struct reader *reader)
{
    for (size_t i = 0; i < reader->anchors.count; i++) {
        mem_free(reader->anchors.items[i].name);
        json_decref(reader->anchors.items[i].value);
    }
    VEC_FREE(&reader->anchors);
}

static struct anchor *find_anchor(struct reader *reader, const char *name)
{
    for (size_t i = reader->anchors.count; i > 0; i--) {
        if (strcmp(reader->anchors.items[i - 1].name, name) == 0) {
            return &reader->anchors.items[i - 1];
        }
    }
    return NULL;
}

/* Remember that a value called `name` begins; its index, or -1. */
static int begin_anchor(struct reader *reader, const yaml_char_t *name)
{
    if (reader->anchors.count == WIRE_YAML_ANCHORS_MAX) {
        (void)refuse_as(reader, -ERR_LIMIT, "too many anchors");
        return -1;
    }
    VEC_PUSH(&reader->anchors,
             (struct anchor){.name = mem_strdup((const char *)name)});
    return (int)reader->anchors.count - 1;
}

static json_t *read_alias(struct reader *reader)
{
    struct anchor *anchor =
        find_anchor(reader, (const char *)reader->event.data.alias.anchor);

    if (!anchor) {
        return refuse(reader, "an alias to nothing");
    }
    if (!anchor->value) {
        return refuse(reader, "an alias to a value that contains it");
    }
    return count_values(reader, anchor->value_count)
               ? json_incref(anchor->value)
               : NULL;
}

/* Scalars. */

static struct str scalar_text(const struct reader *reader)
{
    return str_make(reader->event.data.scalar.value,
                    reader->event.data.scalar.length);
}

static bool is_tag(const yaml_char_t *tag, const char *name)
{
    return tag && strcmp((const char *)tag, name) == 0;
}

static json_t *read_scalar(struct reader *reader)
{
    const yaml_char_t *tag = reader->event.data.scalar.tag;
    struct str text = scalar_text(reader);
    json_t *value;

    if (reader->event.data.scalar.plain_implicit || is_tag(tag, YAML_INT_TAG) ||
        is_tag(tag, YAML_FLOAT_TAG) || is_tag(tag, YAML_BOOL_TAG) ||
        is_tag(tag, YAML_NULL_TAG)) {
        value = yaml_scalar_value(text);
    } else if (!tag || is_tag(tag, YAML_STR_TAG)) {
        value =
            utf8_is_text(text) ? json_stringn(text.p, text.byte_count) : NULL;
    } else {
        return refuse(reader, "an unknown tag");
    }
    return value ? value : refuse(reader, "a text with a NUL");
}

/* Collections. */

static json_t *read_list(struct reader *reader)
{
    json_t *list = json_array();

    for (;;) {
        if (!next_event(reader)) {
            break;
        }
        if (reader->event.type == YAML_SEQUENCE_END_EVENT) {
            return list;
        }
        json_t *item = read_node(reader);
        if (!item) {
            break;
        }
        json_array_append_new(list, item);
    }
    json_decref(list);
    return NULL;
}

/* Put what `from` has and `map` has not into `map`; false if it is no map. */
static bool merge(json_t *map, json_t *from)
{
    if (!json_is_array(from)) {
        return json_is_object(from) &&
               json_object_update_missing(map, from) == 0;
    }
    size_t index;
    json_t *item;
    json_array_foreach(from, index, item)
    {
        if (!json_is_object(item) ||
            json_object_update_missing(map, item) != 0) {
            return false;
        }
    }
    return true;
}

/* Read one key and its value into the map, or into `merges` if it is `<<`. */
static bool read_pair(struct reader *reader, json_t *map, json_t *merges)
{
    if (reader->event.type != YAML_SCALAR_EVENT) {
        (void)refuse(reader, "a key must be a text");
        return false;
    }
    struct str text = scalar_text(reader);
    if (!utf8_is_text(text)) {
        (void)refuse(reader, "a key with a NUL");
        return false;
    }
    bool is_merge =
        reader->event.data.scalar.plain_implicit && str_equal(text, STR("<<"));
    auto_mem char *key = str_dup(text);
    if (!is_merge && json_object_get(map, key)) {
        reader->code = err_set(reader->err, -ERR_INVALID,
                               "line %zu: key \"%.100s\" is given twice",
                               line_of(reader), key);
        return false;
    }
    json_t *value = next_event(reader) ? read_node(reader) : NULL;
    if (!value) {
        return false;
    }
    return is_merge ? json_array_append_new(merges, value) == 0
                    : json_object_set_new(map, key, value) == 0;
}

static json_t *read_map(struct reader *reader)
{
    json_t *map = json_object(), *merges = json_array();
    bool is_good = true;

    for (;;) {
        is_good = next_event(reader);
        if (!is_good || reader->event.type == YAML_MAPPING_END_EVENT) {
            break;
        }
        is_good = read_pair(reader, map, merges);
        if (!is_good) {
            break;
        }
    }
    for (size_t i = 0; is_good && i < json_array_size(merges); i++) {
        is_good = merge(map, json_array_get(merges, i));
        if (!is_good) {
            (void)refuse(reader, "<< can only merge maps");
        }
    }
    json_decref(merges);
    if (!is_good) {
        json_decref(map);
        return NULL;
    }
    return map;
}

static json_t *read_by_type(struct reader *reader)
{
    if (reader->event.type == YAML_SCALAR_EVENT) {
        return read_scalar(reader);
    }
    if (reader->depth == WIRE_YAML_DEPTH_MAX) {
        return refuse_as(reader, -ERR_LIMIT, "nested too deep");
    }
    reader->depth++;
    json_t *value = reader->event.type == YAML_SEQUENCE_START_EVENT
                        ? read_list(reader)
                        : read_map(reader);
    reader->depth--;
    return value;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
           : event->type == YAML_SEQUENCE_START_EVENT
               ? event->data.sequence_start.anchor
               : event->data.mapping_start.anchor;
}

static json_t *read_node(struct reader *reader)
{
    int anchor = -1;
    size_t count_before = reader->value_count;

    if (reader->event.type == YAML_ALIAS_EVENT) {
        return read_alias(reader);
    }
    ASSERT(reader->event.type == YAML_SCALAR_EVENT ||
           reader->event.type == YAML_SEQUENCE_START_EVENT ||
           reader->event.type == YAML_MAPPING_START_EVENT);
    const yaml_char_t *name = anchor_of(&reader->event);
    if (name) {
        anchor = begin_anchor(reader, name);
        if (anchor < 0) {
            return NULL;
        }
    }
    json_t *value = count_values(reader, 1) ? read_by_type(reader) : NULL;
    if (value && anchor >= 0) {
        reader->anchors.items[anchor].value = json_incref(value);
        reader->anchors.items[anchor].value_count =
            reader->value_count - count_before;
    }
    return value;
}

/* Documents. */

/* Read up to `document_max` documents into `documents`. */
static bool read_stream(struct reader *reader, json_t *documents,
                        size_t document_max)
{
    while (json_array_size(documents) < document_max) {
        if (!next_event(reader)) {
            return false;
        }
        if (reader->event.type == YAML_STREAM_END_EVENT) {
            return true;
        }
        if (reader->event.type != YAML_DOCUMENT_START_EVENT) {
            continue; /* the stream's start, a document's end */
        }
        json_t *document = next_event(reader) ? read_node(reader) : NULL;
        if (!document) {
            return false;
        }
        json_array_append_new(documents, document);
        forget_anchors(reader);
    }
    return true;
}

static int read_documents(struct str text, size_t document_max,
                          json_t **ret_documents, struct err *err)
{
    struct reader reader = {.err = err};
    json_t *documents = json_array();

    if (text.byte_count > WIRE_YAML_BYTES_MAX) {
        json_decref(documents);
        return err_set(err, -ERR_LIMIT, "line 1: more than %d bytes",
                       WIRE_YAML_BYTES_MAX);
    }
    if (!yaml_parser_initialize(&reader.parser)) {
        json_decref(documents);
        return err_set(err, -ERR_INVALID, "line 1: no memory");
    }
    yaml_parser_set_input_string(
        &reader.parser, (const unsigned char *)(text.byte_count ? text.p : ""),
        text.byte_count);
    bool is_good = read_stream(&reader, documents, document_max);
    if (reader.has_event) {
        yaml_event_delete(&reader.event);
    }
    forget_anchors(&reader);
    yaml_parser_delete(&reader.parser);
    if (!is_good) {
        json_decref(documents);
        return reader.code;
    }
    *ret_documents = documents;
    return 0;
}

int wire_yaml_read(struct str text, json_t **ret_documents, struct err *err)
{
    return read_documents(text, SIZE_MAX, ret_documents, err);
}

int wire_yaml_read_first(struct str text, json_t **ret_document,
                         struct err *err)
{
    json_t *documents;
    int rc = read_documents(text, 1, &documents, err);

    if (rc < 0) {
        return rc;
    }
    json_t *first = json_array_get(documents, 0);
    *ret_document = first ? json_incref(first) : json_null();
    json_decref(documents);
    return 0;
}
