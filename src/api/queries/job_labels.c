#include "api/queries/job_labels.h"

#include "wire/message/spec_labels.h"

/* A label that is looked for. */
struct wanted {
    struct str key, value;
    bool is_found;
};

static bool compare(void *ctx, struct str key, struct str value)
{
    struct wanted *wanted = ctx;

    wanted->is_found =
        str_equal(key, wanted->key) && str_equal(value, wanted->value);
    return !wanted->is_found;
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
        struct wanted wanted = {.key = str_of(request->labels[i]->key),
                                .value = str_of(request->labels[i]->value)};
        spec_labels(spec, compare, &wanted);
        rc = wanted.is_found;
    }
    return rc;
}
