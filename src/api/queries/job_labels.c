#include "api/queries/job_labels.h"

#include "wire/message/field.h"

/* Field numbers of armadaevents. */
enum { SUBMIT_OBJECT_META = 4, META_LABELS = 6, ENTRY_KEY = 1, ENTRY_VALUE };

static bool is_wanted_pair(struct str entry,
                           const Berth__Api__ListJobsRequest__LabelsEntry *pair)
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
    return str_equal(key, str_of(pair->key)) &&
           str_equal(value, str_of(pair->value));
}

/* Whether a message has the pair, in a submission's metadata or, with `number`
 * META_LABELS, in the metadata themselves. */
static bool has_pair(struct str message, uint32_t number,
                     const Berth__Api__ListJobsRequest__LabelsEntry *pair)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct field field;
    bool is_found = false;

    while (!is_found && !field_cursor_is_done(&cursor) &&
           field_read(&cursor, &field)) {
        if (field.number == number && field.type == FIELD_BYTES) {
            is_found = number == META_LABELS
                           ? is_wanted_pair(field.bytes, pair)
                           : has_pair(field.bytes, META_LABELS, pair);
        }
    }
    return is_found;
}

int job_labels_match(struct store_reader *reader, struct job_id id,
                     const Berth__Api__ListJobsRequest *request,
                     struct err *err)
{
    auto_arena arena = {0};
    struct str spec;

    if (request->n_labels == 0) {
        return 1;
    }
    int rc = store_spec(reader, id, &arena, &spec, err);
    for (size_t i = 0; rc > 0 && i < request->n_labels; i++) {
        rc = has_pair(spec, SUBMIT_OBJECT_META, request->labels[i]);
    }
    return rc;
}
