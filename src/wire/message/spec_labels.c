#include "wire/message/spec_labels.h"

#include "wire/message/field.h"

/* Field numbers of armadaevents. */
enum { SUBMIT_OBJECT_META = 4, META_LABELS = 6, ENTRY_KEY = 1, ENTRY_VALUE };

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

/* Of a submission's metadata or, with `number` META_LABELS, of the metadata
 * themselves.  Whether to go on. */
static bool walk(struct str message, uint32_t number, spec_label_fn *each,
                 void *ctx)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct field field;
    bool goes_on = true;

    while (goes_on && !field_cursor_is_done(&cursor) &&
           field_read(&cursor, &field)) {
        if (field.number == number && field.type == FIELD_BYTES) {
            goes_on = number == META_LABELS
                          ? tell(field.bytes, each, ctx)
                          : walk(field.bytes, META_LABELS, each, ctx);
        }
    }
    return goes_on;
}

void spec_labels(struct str spec, spec_label_fn *each, void *ctx)
{
    (void)walk(spec, SUBMIT_OBJECT_META, each, ctx);
}
