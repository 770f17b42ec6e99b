#include "wire/message/spec_labels.h"

#include "wire/message/field.h"

/* Field numbers of armadaevents. */
enum {
    SUBMIT_OBJECT_META = 4,
    META_ANNOTATIONS = 5,
    META_LABELS = 6,
    ENTRY_KEY = 1,
    ENTRY_VALUE,
};

static bool tell(struct str entry, spec_label_fn *each, void *ctx)
{
    struct field_cursor cursor = field_cursor_make(entry);
    struct str key = STR(""), value = STR("");
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == ENTRY_KEY) {
            key = field.bytes;
        } else if (field.number == ENTRY_VALUE) {
            value = field.bytes;
        }
    }
    return each(ctx, key, value);
}

/* Of one map of metadata; whether to go on. */
static bool walk_meta(struct str meta, uint32_t map_number, spec_label_fn *each,
                      void *ctx)
{
    struct field_cursor cursor = field_cursor_make(meta);
    struct field field;
    bool goes_on = true;

    while (goes_on && !field_cursor_is_done(&cursor) &&
           field_read(&cursor, &field)) {
        if (field.number == map_number && field.type == FIELD_BYTES) {
            goes_on = tell(field.bytes, each, ctx);
        }
    }
    return goes_on;
}

static void walk(struct str spec, uint32_t map_number, spec_label_fn *each,
                 void *ctx)
{
    struct field_cursor cursor = field_cursor_make(spec);
    struct field field;
    bool goes_on = true;

    while (goes_on && !field_cursor_is_done(&cursor) &&
           field_read(&cursor, &field)) {
        if (field.number == SUBMIT_OBJECT_META && field.type == FIELD_BYTES) {
            goes_on = walk_meta(field.bytes, map_number, each, ctx);
        }
    }
}

void spec_labels(struct str spec, spec_label_fn *each, void *ctx)
{
    walk(spec, META_LABELS, each, ctx);
}

void spec_annotations(struct str spec, spec_label_fn *each, void *ctx)
{
    walk(spec, META_ANNOTATIONS, each, ctx);
}
